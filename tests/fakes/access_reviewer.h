// Who has which token and which rights, in memory; may be told to fail or to wait.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "podium/ports.h"

namespace podium::fakes {

// Thread-safe.
class MemoryReviewer final : public AccessReviewer {
 public:
  void Admit(const std::string& token, Caller caller) {
    const std::lock_guard lock(mutex_);
    callers_[token] = std::move(caller);
  }
  void Withdraw(const std::string& token) {
    const std::lock_guard lock(mutex_);
    callers_.erase(token);
  }
  // `namespace_name` empty: everywhere.
  void Allow(const std::string& user, const std::string& verb, const std::string& namespace_name) {
    const std::lock_guard lock(mutex_);
    rights_.insert(user + ' ' + verb + " pods " + namespace_name);
  }
  void Forbid(const std::string& user, const std::string& verb, const std::string& namespace_name) {
    const std::lock_guard lock(mutex_);
    rights_.erase(user + ' ' + verb + " pods " + namespace_name);
  }
  // From now on every question ends so; {}: as usual.
  void FailWith(std::optional<Error> failure) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
  }
  // Called for each question, outside of the lock: a test may wait in it.
  void OnQuestion(std::function<void()> hook) {
    const std::lock_guard lock(mutex_);
    hook_ = std::move(hook);
  }
  // "who is good-token", "alice create pods ml"
  [[nodiscard]] std::vector<std::string> Asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  Result<std::optional<Caller>> WhoIs(std::string_view token) override {
    Enter("who is " + std::string(token));
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
    const auto found = callers_.find(std::string(token));
    return found == callers_.end() ? std::optional<Caller>() : std::optional(found->second);
  }

  Result<bool> May(const Caller& caller, const AccessQuestion& question) override {
    const std::string right = caller.user + ' ' + question.verb + ' ' + question.resource + ' ';
    Enter(right + question.namespace_name);
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
    return rights_.contains(right) || rights_.contains(right + question.namespace_name);
  }

 private:
  void Enter(std::string question) {
    std::function<void()> hook;
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(std::move(question));
      hook = hook_;
    }
    if (hook) hook();
  }

  mutable std::mutex mutex_;
  std::map<std::string, Caller> callers_;
  std::set<std::string> rights_;
  std::optional<Error> failure_;
  std::function<void()> hook_;
  std::vector<std::string> asked_;
};

}  // namespace podium::fakes
