#include "runtime/threads/pool.h"

#include <cstdlib>
#include <sched.h>
#include <unistd.h>

namespace alula::runtime {
namespace {

/// About 20 µs: longer than the gap between two commands of one call.
constexpr int spins = 1000;
constexpr uint64_t stop = UINT64_MAX;
constexpr size_t stackBytes = size_t(1) << 20;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

uint32_t countCpus() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return uint32_t(CPU_COUNT(&set));
#endif
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? uint32_t(count) : 1;
}

uint32_t clamp(uint32_t count) {
  if (count == 0)
    return 1;
  return count < Pool::maxWorkers ? count : Pool::maxWorkers;
}

} // namespace

Pool::Pool(uint32_t count) : workerCount(clamp(count ? count : countCpus())) {}

Pool::Pool(const alula_thread_pool &hooks)
    : hooks(hooks), workerCount(clamp(hooks.worker_count)) {}

Pool::~Pool() {
  if (started > 1) {
    {
      Lock lock(mutex);
      ticket.store(stop);
      wakeUp.notifyAll();
    }
    for (uint32_t i = 1; i < started; ++i)
      pthread_join(workers[i].thread, nullptr);
  }
  free(workers);
}

bool Pool::start() {
  if (!workers)
    workers = static_cast<Worker *>(calloc(workerCount, sizeof(Worker)));
  if (!workers)
    return false;
  // Kernels need ALULA_KERNEL_STACK_BYTES; the system's own choice can be less.
  pthread_attr_t attributes;
  bool hasAttributes = pthread_attr_init(&attributes) == 0;
  if (hasAttributes)
    pthread_attr_setstacksize(&attributes, stackBytes);
  // A machine that gives fewer threads still computes the same.
  while (started < workerCount && !refused) {
    Worker &worker = workers[started];
    worker.pool = this;
    worker.number = started;
    refused =
        pthread_create(&worker.thread, hasAttributes ? &attributes : nullptr,
                       runWorker, &worker) != 0;
    started += !refused;
  }
  if (hasAttributes)
    pthread_attr_destroy(&attributes);
  return started > 1;
}

void *Pool::runWorker(void *argument) {
  auto *worker = static_cast<Worker *>(argument);
  worker->pool->work(worker->number);
  return nullptr;
}

void Pool::work(uint32_t number) {
  // Work can be handed out before this thread has come so far; rounds start
  // at 1, so it sees the first one as new.
  uint64_t last = 0;
  while (true) {
    uint64_t now = ticket.load(std::memory_order_acquire);
    for (int i = 0; now == last && i < spins; ++i) {
      pause();
      now = ticket.load(std::memory_order_acquire);
    }
    if (now == last) {
      Lock lock(mutex);
      sleeping.fetch_add(1);
      // Sequentially consistent with run(): either it sees us sleeping, or we
      // see its ticket.
      while ((now = ticket.load()) == last)
        wakeUp.wait(mutex);
      sleeping.fetch_sub(1);
    }
    if (now == stop)
      return;
    last = now;
    if (number < (now & 0xFFFF)) {
      task(context, number);
      remaining.fetch_sub(1, std::memory_order_release);
    }
  }
}

void Pool::run(uint32_t wanted, alula_task newTask, void *newContext,
               void (*counted)(void *context, uint32_t count)) {
  bool alone = wanted <= 1 || workerCount <= 1 ||
               busy.exchange(true, std::memory_order_acquire);
  if (alone) {
    counted(newContext, 1);
    newTask(newContext, 0);
    return;
  }
  if (hooks.run) {
    uint32_t count = wanted < workerCount ? wanted : workerCount;
    counted(newContext, count);
    hooks.run(hooks.user, count, newTask, newContext);
  } else if (!start()) {
    counted(newContext, 1);
    newTask(newContext, 0);
  } else {
    uint32_t count = wanted < started ? wanted : started;
    counted(newContext, count);
    task = newTask;
    context = newContext;
    remaining.store(count - 1, std::memory_order_relaxed);
    uint64_t round = (ticket.load(std::memory_order_relaxed) >> 16) + 1;
    ticket.store(round << 16 | count);
    if (sleeping.load() != 0) {
      Lock lock(mutex);
      wakeUp.notifyAll();
    }
    newTask(newContext, 0);
    for (int i = 0; remaining.load(std::memory_order_acquire) != 0; ++i) {
      if (i < spins)
        pause();
      else
        sched_yield();
    }
  }
  busy.store(false, std::memory_order_release);
}

} // namespace alula::runtime
