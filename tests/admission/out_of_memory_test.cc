// Decide with every single allocation failing once: it must come back with a decision each time.
#include <gmock/gmock.h>

#include <cstdlib>
#include <new>

#include "admission/decide.h"
#include "builders/policies.h"
#include "builders/requests.h"

namespace {

// Allocations that still succeed on this thread; negative: all of them. One fails, then all succeed again.
thread_local long allocations_left = -1;
thread_local bool all_fail = false;

void* Allocate(std::size_t size) {
  if (allocations_left == 0 && !all_fail)
    allocations_left = -1;
  else if (allocations_left != 0) {
    if (allocations_left > 0) --allocations_left;
    if (void* memory = std::malloc(size)) return memory;
  }
  throw std::bad_alloc();
}

}  // namespace

// Not inline: GCC 12 would see malloc meet delete at -O1 and warn of it.
[[gnu::noinline]] void* operator new(std::size_t size) { return Allocate(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return Allocate(size); }
// simdjson uses these; left alone, they would be another allocator's, and AddressSanitizer tells.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace podium {
namespace {

using builders::CreateDeployment;
using builders::MakeTemplate;
using builders::ThreeTiers;

// Refused with a long message, so that every part of the way is walked.
AdmissionRequest Refused() {
  return CreateDeployment("asr", MakeTemplate().Type("batch").Gpus("decode", 1).Gpus("align", 1));
}

Decision DecideAfter(long successes, const AdmissionRequest& request, const Policy& policy) {
  allocations_left = successes;
  Decision decision = Decide(request, policy, nullptr, {}, TimePoint());
  allocations_left = -1;
  return decision;
}

void ExpectADecisionEachTime(Posture posture) {
  Policy policy = ThreeTiers();
  policy.on_internal_error = posture;
  const AdmissionRequest request = Refused();
  const Decision undisturbed = DecideAfter(-1, request, policy);
  const Verdict disturbed = posture == Posture::kRefuse ? Verdict::kRefuse : Verdict::kAllow;
  long failed = 0;
  for (;; ++failed) {
    const Decision decision = DecideAfter(failed, request, policy);
    if (!decision.internal_error) {
      EXPECT_EQ(decision, undisturbed);
      break;
    }
    ASSERT_EQ(decision.verdict, disturbed) << failed;
    ASSERT_EQ(decision.code, posture == Posture::kRefuse ? 500 : 200) << failed;
    ASSERT_EQ(*decision.internal_error, "out of memory") << failed;
    ASSERT_EQ(decision.request_uid, request.uid) << failed;
  }
  EXPECT_GT(failed, 20) << "the failing allocator was not in use";
}

TEST(DecideOutOfMemory, IsDecidedByThePosture) {
  ExpectADecisionEachTime(Posture::kAllow);
  ExpectADecisionEachTime(Posture::kRefuse);
}

TEST(DecideOutOfMemory, EvenWhenNothingIsLeftAtAll) {
  Policy policy = ThreeTiers();
  policy.on_internal_error = Posture::kRefuse;
  const AdmissionRequest request = Refused();
  all_fail = true;
  const Decision decision = DecideAfter(0, request, policy);
  all_fail = false;
  EXPECT_EQ(decision.verdict, Verdict::kRefuse);
  EXPECT_EQ(decision.code, 500);
  EXPECT_TRUE(decision.internal_error.has_value());
}

}  // namespace
}  // namespace podium
