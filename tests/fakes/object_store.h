// An ObjectSink that keeps what it gets, and never a view that was not complete.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "kube/json_scan.h"
#include "kube/object_sink.h"

namespace podium {

class ObjectStore final : public ObjectSink {
 public:
  using View = std::map<std::string, std::string>;  // name -> JSON

  void BeginList() override {
    const std::lock_guard lock(mutex_);
    if (std::exchange(listing_, true)) ++misuses_;
    next_.clear();
  }
  Status ListItem(std::string_view json) override { return Put(next_, json); }
  void EndList() override {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(listing_, false)) ++misuses_;
    view_.swap(next_);
    changed_.notify_all();
  }
  void AbandonList() override {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(listing_, false)) ++misuses_;
    ++abandoned_;
    next_.clear();
    changed_.notify_all();
  }
  Status Upsert(std::string_view json) override { return Put(view_, json); }
  Status Delete(std::string_view json) override {
    const std::lock_guard lock(mutex_);
    view_.erase(NameOf(json));
    changed_.notify_all();
    return {};
  }
  void Alive() override {
    const std::lock_guard lock(mutex_);
    ++alive_;
    changed_.notify_all();
  }

  // Bounded wait. False: it never became that.
  [[nodiscard]] bool WaitFor(const View& wanted) {
    return Wait([&] { return view_ == wanted; });
  }
  [[nodiscard]] bool WaitForAbandoned(int count) {
    return Wait([&] { return abandoned_ >= count; });
  }
  [[nodiscard]] bool WaitForAlive(int count) {
    return Wait([&] { return alive_ >= count; });
  }
  [[nodiscard]] View view() const {
    const std::lock_guard lock(mutex_);
    return view_;
  }
  [[nodiscard]] int abandoned() const {
    const std::lock_guard lock(mutex_);
    return abandoned_;
  }
  // Calls that came in no order a sink need understand.
  [[nodiscard]] int misuses() const {
    const std::lock_guard lock(mutex_);
    return misuses_;
  }

 private:
  static std::string NameOf(std::string_view json) {
    return MemberText(MemberOf(json, "metadata").value_or(""), "name");
  }

  template <typename Condition>
  bool Wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), condition);
  }

  Status Put(View& view, std::string_view json) {
    const std::string name = NameOf(json);
    if (name.empty()) return Error{ErrorKind::kInvalidInput, "an object without a name"};
    const std::lock_guard lock(mutex_);
    if ((&view == &next_) != listing_) ++misuses_;
    view[name] = json;
    changed_.notify_all();
    return {};
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  View view_;
  View next_;
  bool listing_ = false;
  int abandoned_ = 0;
  int alive_ = 0;
  int misuses_ = 0;
};

}  // namespace podium
