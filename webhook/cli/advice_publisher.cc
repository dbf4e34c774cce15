#include "cli/advice_publisher.h"

#include <chrono>
#include <exception>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "admission/advise.h"
#include "cli/live_version.h"

namespace podium {
namespace {

constexpr std::size_t kLinesPerMinute = 10;  // of disagreements

}  // namespace

std::shared_ptr<const Advisor> AdvisorOn(std::shared_ptr<const ClusterSnapshot> snapshot, const Policy& policy,
                                         std::optional<SchedulerVersion> version) {
  if (snapshot == nullptr || !AsksForAdvice(policy)) return nullptr;
  return std::make_shared<const Advisor>(std::move(snapshot),
                                         EvaluateOptions{.version = version.value_or(SchedulerVersion{})});
}

struct AdvicePublisher::Impl {
  explicit Impl(AdviceInput the_input) : input(std::move(the_input)), version(input.api, input.say) {
    thread = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }

  void Run(const std::stop_token& stop) {
    std::uint64_t seen = 0;
    while (Turn(seen, stop)) {
    }
  }

  // False: the end was asked for. A failure (no memory) is no advice until the next picture.
  bool Turn(std::uint64_t& seen, const std::stop_token& stop) {
    try {
      auto snapshot = input.next(seen, stop);
      if (snapshot == nullptr) return false;
      seen = snapshot->generation;
      Publish(std::move(snapshot));
      failed = false;
    } catch (const std::exception& failure) {
      GiveUp(failure.what());
    } catch (...) {
      GiveUp("an unknown exception");
    }
    return !stop.stop_requested();
  }

  void GiveUp(std::string_view why) {
    advisors.Store(nullptr);
    if (!std::exchange(failed, true)) input.say(LogLevel::kError, "no advice for now: " + std::string(why));
  }

  void Publish(std::shared_ptr<const ClusterSnapshot> snapshot) {
    const auto policy = input.policy.Load();
    if (policy == nullptr || !AsksForAdvice(*policy)) return advisors.Store(nullptr);
    options.version = input.version ? *input.version : version.Get();
    const auto advisor = std::make_shared<const Advisor>(std::move(snapshot), options, advisors.Load().get());
    advisors.Store(advisor);
    Tell(ledger.Look(advisor, input.clock.Now()));
  }

  void Tell(const std::vector<std::string>& disagreements) {
    const TimePoint now = input.clock.Now();
    if (now - minute_began >= std::chrono::minutes(1)) {
      if (untold > 0)
        input.say(LogLevel::kWarning, std::to_string(untold) + " more disagreements; podium accuracy has the numbers");
      minute_began = now;
      told = untold = 0;
    }
    for (const std::string& line : disagreements) {
      if (told == kLinesPerMinute) {
        ++untold;
        continue;
      }
      ++told;
      input.say(LogLevel::kWarning, "disagreement: " + line);
    }
  }

  const AdviceInput input;
  Cell<Advisor> advisors;
  AccuracyLedger ledger;
  // Of the thread.
  EvaluateOptions options;
  LiveVersion version;
  bool failed = false;  // the last picture could not be prepared
  TimePoint minute_began{};
  std::size_t told = 0;
  std::size_t untold = 0;
  std::jthread thread;  // uses all of it
};

AdvicePublisher::AdvicePublisher(AdviceInput input) : impl_(std::make_unique<Impl>(std::move(input))) {}

AdvicePublisher::~AdvicePublisher() { Stop(); }

const Cell<Advisor>& AdvicePublisher::advisors() const { return impl_->advisors; }

AccuracyLedger& AdvicePublisher::ledger() { return impl_->ledger; }

const AccuracyLedger& AdvicePublisher::ledger() const { return impl_->ledger; }

void AdvicePublisher::Stop() {
  impl_->thread.request_stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

}  // namespace podium
