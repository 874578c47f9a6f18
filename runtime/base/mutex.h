// Locks straight on pthreads: the C++ library's would need it at run time.

#pragma once

#include <cstdint>
#include <ctime>
#include <pthread.h>

namespace alula::runtime {

class Mutex {
public:
  Mutex() = default;
  Mutex(const Mutex &) = delete;
  Mutex &operator=(const Mutex &) = delete;
  ~Mutex() { pthread_mutex_destroy(&handle); }
  void lock() { pthread_mutex_lock(&handle); }
  void unlock() { pthread_mutex_unlock(&handle); }

private:
  friend class Condition;
  pthread_mutex_t handle = PTHREAD_MUTEX_INITIALIZER;
};

class Lock {
public:
  explicit Lock(Mutex &mutex) : mutex(mutex) { mutex.lock(); }
  Lock(const Lock &) = delete;
  Lock &operator=(const Lock &) = delete;
  ~Lock() { mutex.unlock(); }

private:
  Mutex &mutex;
};

class Condition {
public:
  Condition() = default;
  Condition(const Condition &) = delete;
  Condition &operator=(const Condition &) = delete;
  ~Condition() { pthread_cond_destroy(&handle); }
  void wait(Mutex &mutex) { pthread_cond_wait(&handle, &mutex.handle); }
  /// At most so many nanoseconds, about: the clock may be set meanwhile.
  void waitFor(Mutex &mutex, uint64_t nanoseconds) {
    timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    uint64_t sum = uint64_t(end.tv_nsec) + nanoseconds;
    end.tv_sec += time_t(sum / 1000000000);
    end.tv_nsec = long(sum % 1000000000);
    pthread_cond_timedwait(&handle, &mutex.handle, &end);
  }
  void notifyAll() { pthread_cond_broadcast(&handle); }

private:
  pthread_cond_t handle = PTHREAD_COND_INITIALIZER;
};

class ReadWriteLock {
public:
  ReadWriteLock() = default;
  ReadWriteLock(const ReadWriteLock &) = delete;
  ReadWriteLock &operator=(const ReadWriteLock &) = delete;
  ~ReadWriteLock() { pthread_rwlock_destroy(&handle); }
  void lockShared() { pthread_rwlock_rdlock(&handle); }
  [[nodiscard]] bool tryLockShared() {
    return pthread_rwlock_tryrdlock(&handle) == 0;
  }
  [[nodiscard]] bool tryLock() {
    return pthread_rwlock_trywrlock(&handle) == 0;
  }
  void lock() { pthread_rwlock_wrlock(&handle); }
  void unlock() { pthread_rwlock_unlock(&handle); }

private:
  pthread_rwlock_t handle = PTHREAD_RWLOCK_INITIALIZER;
};

} // namespace alula::runtime
