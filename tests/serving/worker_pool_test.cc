#include "serving/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

namespace podium {
namespace {

// A task that runs until it is let go.
struct Gate {
  std::promise<void> began;
  std::promise<void> open;
  std::function<void()> Task() {
    return [this] {
      began.set_value();
      open.get_future().wait();
    };
  }
};

TEST(WorkerPool, TakesWhatItsQueueHoldsAndNoMore) {
  WorkerPool pool(1, 2);
  Gate gate;
  ASSERT_TRUE(pool.Submit(gate.Task()));
  gate.began.get_future().wait();  // out of the queue
  std::promise<void> last;
  EXPECT_TRUE(pool.Submit([] {}));
  EXPECT_TRUE(pool.Submit([&] { last.set_value(); }));
  EXPECT_FALSE(pool.Submit([] {}));
  gate.open.set_value();
  last.get_future().wait();
}

TEST(WorkerPool, LivesOnAfterATaskThatThrows) {
  WorkerPool pool(1, 2);
  ASSERT_TRUE(pool.Submit([] { throw std::runtime_error("oops"); }));
  std::promise<void> next;
  ASSERT_TRUE(pool.Submit([&] { next.set_value(); }));
  next.get_future().wait();
}

TEST(WorkerPool, StoppingForgetsWhatWaitsAndWaitsForWhatRuns) {
  WorkerPool pool(1, 1'000'000);
  Gate gate;
  std::atomic<bool> ran = false;
  ASSERT_TRUE(pool.Submit(gate.Task()));
  gate.began.get_future().wait();
  ASSERT_TRUE(pool.Submit([&] { ran = true; }));
  auto stopped = std::async(std::launch::async, [&] { pool.Stop(); });
  while (pool.Submit([&] { ran = true; })) std::this_thread::yield();  // until it has begun to stop
  gate.open.set_value();
  stopped.get();
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace podium
