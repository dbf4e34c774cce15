// A value that many hold and nobody changes.
#pragma once

#include <memory>
#include <utility>

namespace podium {

// Never null: a default one holds the empty value. Copying costs a reference count. Equal means equal values; that two
// hold the same object only makes it quicker. Thread-safe as a const shared_ptr is.
template <typename T>
class Interned {
 public:
  Interned() : value_(Empty()) {}
  Interned(T value) : value_(std::make_shared<const T>(std::move(value))) {}  // NOLINT(google-explicit-constructor)
  explicit Interned(std::shared_ptr<const T> value) : value_(std::move(value)) {}

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  [[nodiscard]] const std::shared_ptr<const T>& pointer() const { return value_; }

  friend bool operator==(const Interned& a, const Interned& b) { return a.value_ == b.value_ || *a == *b; }

 private:
  static const std::shared_ptr<const T>& Empty() {
    static const std::shared_ptr<const T> empty = std::make_shared<const T>();
    return empty;
  }

  std::shared_ptr<const T> value_;
};

}  // namespace podium
