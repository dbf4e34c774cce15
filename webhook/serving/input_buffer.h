// The unread bytes of one connection, contiguous, so that a head or a body is one string_view and never copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace podium {

// Owns its memory; empty after Release(), which is what an idle connection holds. Not thread-safe.
class InputBuffer {
 public:
  [[nodiscard]] std::string_view data() const { return {bytes_.get() + begin_, end_ - begin_}; }
  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  // Free room behind the data. Empty when it is full: call Grow.
  [[nodiscard]] std::span<char> room() { return {bytes_.get() + end_, capacity_ - end_}; }
  // `count` bytes of room() have been written.
  void Commit(std::size_t count) { end_ += count; }
  // The first `count` bytes have been used; views into them die.
  void Consume(std::size_t count) {
    begin_ += count;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  // Moves the data to the front of a buffer of `capacity` bytes (or only to the front, when it has that already); views
  // die. Requires: capacity >= size(). The memory is not touched before it is used: a peer that announces 7 MiB and
  // sends nothing costs nothing.
  void Grow(std::size_t capacity) {
    if (capacity <= capacity_) {
      std::memmove(bytes_.get(), bytes_.get() + begin_, size());
    } else {
      auto larger = std::make_unique_for_overwrite<char[]>(capacity);
      if (size() > 0) std::memcpy(larger.get(), bytes_.get() + begin_, size());
      bytes_ = std::move(larger);
      capacity_ = capacity;
    }
    end_ -= begin_;
    begin_ = 0;
  }

  // Requires: size() == 0.
  void Release() {
    bytes_.reset();
    begin_ = end_ = capacity_ = 0;
  }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace podium
