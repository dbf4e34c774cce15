// Cell<T>: one immutable value that is replaced as a whole while others read it.
#pragma once

#include <memory>
#include <utility>

#include "core/mutex.h"

namespace podium {

// Thread-safe. Readers keep the version they loaded for as long as they hold the pointer; a Store never waits for them.
// A mutex and not std::atomic<std::shared_ptr>: libstdc++ 12 implements that one with a lock bit that ThreadSanitizer
// cannot see, and the lock is held only for the copy of a pointer.
template <typename T>
class Cell {
 public:
  explicit Cell(std::shared_ptr<const T> value = nullptr) : value_(std::move(value)) {}

  [[nodiscard]] std::shared_ptr<const T> Load() const {
    const MutexLock lock(mutex_);
    return value_;
  }

  void Store(std::shared_ptr<const T> value) {
    const MutexLock lock(mutex_);
    value_.swap(value);
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const T> value_ PODIUM_GUARDED_BY(mutex_);
};

}  // namespace podium
