// Fork-join parallelism: workers of one task at a time, which spin, then sleep.

#pragma once

#include "alula/runtime.h"
#include "runtime/threads/placement.h"
#include "runtime/threads/sleep.h"

#include <atomic>
#include <cstdint>

namespace alula::runtime {

/// Own threads or the embedder's. If the workers are busy with another caller's
/// task, the caller runs its own alone: concurrent calls never oversubscribe
/// the machine.
class Pool {
public:
  static constexpr uint32_t maxWorkers = 128;

  /// `workerCount` counts the calling thread; 0 asks the system.
  explicit Pool(uint32_t workerCount);
  explicit Pool(const alula_thread_pool &hooks);
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;
  ~Pool();

  uint32_t getWorkerCount() const { return workerCount; }

  /// Calls task(context, w) for w = 0 and, from other threads, for any of w =
  /// 1 … count - 1 that come before worker 0 has ended; so worker 0 must be
  /// able to do all the work, and nobody waits for a thread that the system
  /// doesn't run. Returns when all that came have ended. Worker 0 is the
  /// calling thread; `count`, at most `wanted` and the number of workers, is
  /// told by `counted`, once and before.
  void run(uint32_t wanted, alula_task task, void *context,
           void (*counted)(void *context, uint32_t count));

private:
  struct alignas(64) Worker {
    Pool *pool;
    uint32_t number;
    pthread_t thread;
    Sleep sleep;
    Placement placement;
  };
  static void *runWorker(void *argument);
  void work(Worker &worker);
  uint64_t waitForTicket(Worker &worker, uint64_t last);
  bool enter(uint64_t round);
  /// Wakes workers as a binary tree: each wakes two more, up to `count`.
  void wakeNext(uint32_t number, uint32_t count);
  /// Publishes a round, takes part in it, and joins.
  void share(uint32_t count, alula_task task, void *context);
  /// Starts the threads that are missing; false if none could be started.
  bool start();

  alula_thread_pool hooks = {};
  uint32_t workerCount = 1;
  std::atomic<bool> busy{false};

  /// Round << 16 | number of workers that may take part; all bits: stop.
  alignas(64) std::atomic<uint64_t> ticket{0};
  /// Round << 16 | 1 << 15 if nobody may enter any more | workers inside.
  alignas(64) std::atomic<uint64_t> gate{0};
  alula_task task = nullptr;
  void *context = nullptr;

  std::atomic<uint32_t> sleepers{0};
  std::atomic<int> callerCpu{-1};
  Worker *workers = nullptr;
  uint32_t started = 1;
  bool refused = false;
};

} // namespace alula::runtime
