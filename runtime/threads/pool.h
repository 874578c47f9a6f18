// Threads that share one piece of work at a time: spin a while, then sleep.

#pragma once

#include "alula/runtime.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"

#include <atomic>
#include <cstdint>

namespace alula::runtime {

/// Own threads or the embedder's. If the threads are busy with another
/// caller's work, the caller does its own alone: many concurrent calls need no
/// more threads than they bring.
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

  /// Calls task(context, w) for w = 0 … count - 1, with count at most
  /// `wanted` and the number of workers; returns when all have ended. Worker 0
  /// is the calling thread. Tells `count` to the task through `counted`,
  /// which is called once before.
  void run(uint32_t wanted, alula_task task, void *context,
           void (*counted)(void *context, uint32_t count));

private:
  struct Worker {
    Pool *pool;
    uint32_t number;
    pthread_t thread;
  };
  static void *runWorker(void *argument);
  void work(uint32_t number);
  /// Starts the threads that are missing; false if none could be started.
  bool start();

  alula_thread_pool hooks = {};
  uint32_t workerCount = 1;
  std::atomic<bool> busy{false};

  /// Round << 16 | number of workers that take part; all bits: stop.
  alignas(64) std::atomic<uint64_t> ticket{0};
  alignas(64) std::atomic<uint32_t> remaining{0};
  alula_task task = nullptr;
  void *context = nullptr;

  Mutex mutex;
  Condition wakeUp;
  std::atomic<uint32_t> sleeping{0};
  Worker *workers = nullptr;
  uint32_t started = 1;
  bool refused = false;
};

} // namespace alula::runtime
