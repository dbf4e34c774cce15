// std::mutex with Clang's thread-safety annotations, so that "shared, guarded by" is checked by the compiler.
#pragma once

#include <mutex>

#if defined(__clang__)
#define PODIUM_CAPABILITY(x) __attribute__((capability(x)))
#define PODIUM_SCOPED_CAPABILITY __attribute__((scoped_lockable))
#define PODIUM_GUARDED_BY(x) __attribute__((guarded_by(x)))
#define PODIUM_REQUIRES(...) __attribute__((requires_capability(__VA_ARGS__)))
#define PODIUM_ACQUIRE(...) __attribute__((acquire_capability(__VA_ARGS__)))
#define PODIUM_RELEASE(...) __attribute__((release_capability(__VA_ARGS__)))
#else
#define PODIUM_CAPABILITY(x)
#define PODIUM_SCOPED_CAPABILITY
#define PODIUM_GUARDED_BY(x)
#define PODIUM_REQUIRES(...)
#define PODIUM_ACQUIRE(...)
#define PODIUM_RELEASE(...)
#endif

namespace podium {

class PODIUM_CAPABILITY("mutex") Mutex {
 public:
  void lock() PODIUM_ACQUIRE() { mutex_.lock(); }
  void unlock() PODIUM_RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class PODIUM_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) PODIUM_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() PODIUM_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace podium
