// A few threads for work that a reactor may not wait for.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace podium {

// Thread-safe. Its threads run at a lower scheduling priority (nice 10): reactors of the same process come first.
class WorkerPool {
 public:
  // `queue`: tasks that may wait beside those that run.
  WorkerPool(int threads, std::size_t queue);
  ~WorkerPool();  // Stop()
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False: the queue is full, or the pool has stopped. What the task throws is logged and ends nothing.
  [[nodiscard]] bool Submit(std::function<void()> task);
  // Forgets what waits, and waits for what runs.
  void Stop();

 private:
  void Run();

  const std::size_t queue_;
  // std::mutex: a condition variable waits on it.
  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<std::function<void()>> tasks_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace podium
