#include "serving/worker_pool.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <utility>

#include "serving/log_limit.h"

namespace podium {
namespace {

void RunTask(const std::function<void()>& task) {
  static LogLimit limit;
  try {
    task();
  } catch (const std::exception& failure) {
    if (limit.Due()) spdlog::error("a worker caught: {} (said at most once in 10 s)", failure.what());
  } catch (...) {
    if (limit.Due()) spdlog::error("a worker caught an unknown exception (said at most once in 10 s)");
  }
}

// Of this thread: on Linux a "process" is a thread here. A failure leaves it as it was.
void LowerPriority() {
  constexpr int kNice = 10;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
}

}  // namespace

WorkerPool::WorkerPool(int threads, std::size_t queue) : queue_(queue) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals belong to the main thread; its threads inherit the mask
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

WorkerPool::~WorkerPool() { Stop(); }

bool WorkerPool::Submit(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || tasks_.size() >= queue_) return false;
    tasks_.push_back(std::move(task));
  }
  work_.notify_one();
  return true;
}

void WorkerPool::Run() {
  LowerPriority();
  while (true) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [this] { return stopped_ || !tasks_.empty(); });
      if (stopped_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    RunTask(task);
  }
}

void WorkerPool::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    tasks_.clear();
  }
  work_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

}  // namespace podium
