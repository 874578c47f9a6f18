// A thread that sleeps until it is woken: a futex, or a lock and a condition.

#pragma once

#include "runtime/base/mutex.h"

#include <atomic>
#include <cstdint>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace alula::runtime {

/// The sleeper calls announce(), checks its condition, then sleep() or
/// withdraw(); any other thread calls wake(). All of it is sequentially
/// consistent, so no wakeup is lost: either the waker sees the announcement, or
/// the sleeper sees the changed condition.
class Sleep {
public:
  bool isAnnounced() const { return state.load() != 0; }
  void announce() { state.store(1); }
  void withdraw() { state.store(0); }

  void sleep() {
#ifdef __linux__
    while (state.load() == 1)
      syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr, 0);
#else
    Lock lock(mutex);
    while (state.load() == 1)
      condition.wait(mutex);
#endif
  }

  void wake() {
    if (state.load() == 0 || state.exchange(0) == 0)
      return;
#ifdef __linux__
    syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
#else
    Lock lock(mutex);
    condition.notifyAll();
#endif
  }

private:
  std::atomic<uint32_t> state{0};
#ifndef __linux__
  Mutex mutex;
  Condition condition;
#endif
};

} // namespace alula::runtime
