#include "runtime/threads/pool.h"

#include "runtime/base/clock.h"
#include "runtime/base/memory.h"

#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace alula::runtime {
namespace {

/// How long a thread waits awake for more: longer than the gap between two
/// commands of one call, and about what it costs to wake one up.
constexpr uint64_t awakeNanoseconds = 50000;
constexpr int spinsBetweenLooks = 64;
constexpr uint64_t stop = UINT64_MAX;
constexpr uint64_t closed = 1 << 15, inside = closed - 1;
constexpr size_t stackBytes = size_t(1) << 20;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// What the system lets this process use: more threads than that would be
/// stopped while others wait for them.
uint32_t countCpus() {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    count = CPU_COUNT(&set);
  // A container's share: microseconds in each period, or "max".
  char text[64] = "";
  int file = open("/sys/fs/cgroup/cpu.max", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    if (read(file, text, sizeof text - 1) < 0)
      text[0] = 0;
    close(file);
  }
  char *end;
  long quota = strtol(text, &end, 10), period = strtol(end, nullptr, 10);
  if (quota > 0 && period > 0 && (quota + period - 1) / period < count)
    count = (quota + period - 1) / period;
#endif
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
  ticket.store(stop);
  for (uint32_t i = 1; i < started; ++i) {
    workers[i].sleep.wake();
    pthread_join(workers[i].thread, nullptr);
    workers[i].~Worker();
  }
  free(workers);
}

bool Pool::start() {
  if (!workers)
    workers = static_cast<Worker *>(
        aligned_alloc(alignof(Worker), workerCount * sizeof(Worker)));
  if (!workers)
    return false;
  // Kernels need ALULA_KERNEL_STACK_BYTES; the system's own choice can be less.
  pthread_attr_t attributes;
  bool hasAttributes = pthread_attr_init(&attributes) == 0;
  if (hasAttributes)
    pthread_attr_setstacksize(&attributes, stackBytes);
  // A machine that gives fewer threads still computes the same.
  while (started < workerCount && !refused) {
    Worker &worker = *new (&workers[started]) Worker();
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
  worker->pool->work(*worker);
  return nullptr;
}

uint64_t Pool::waitForTicket(Worker &worker, uint64_t last) {
  uint64_t now, deadline = readClock() + awakeNanoseconds;
  int cpu;
  do {
    for (int i = 0; i < spinsBetweenLooks; ++i) {
      now = ticket.load(std::memory_order_acquire);
      if (now != last)
        return now;
      pause();
    }
    // On a busy machine the system puts this thread where the caller runs.
    cpu = getCpu();
    if (cpu >= 0 && cpu == callerCpu.load(std::memory_order_relaxed))
      break;
  } while (readClock() < deadline);
  sleepers.fetch_add(1);
  worker.sleep.announce();
  now = ticket.load();
  if (now == last)
    worker.sleep.sleep();
  else
    worker.sleep.withdraw();
  sleepers.fetch_sub(1);
  return ticket.load();
}

void Pool::wakeNext(uint32_t number, uint32_t count) {
  if (sleepers.load() == 0)
    return;
  int cpu = callerCpu.load(std::memory_order_relaxed);
  for (uint32_t i = 2 * number + 1; i <= 2 * number + 2 && i < count; ++i) {
    Worker &worker = workers[i];
    if (!worker.sleep.isAnnounced())
      continue;
    worker.placement.keepOff(worker.thread, cpu);
    worker.sleep.wake();
  }
}

bool Pool::enter(uint64_t round) {
  uint64_t now = gate.load(std::memory_order_acquire);
  while (now >> 16 == round && !(now & closed))
    if (gate.compare_exchange_weak(now, now + 1, std::memory_order_acquire))
      return true;
  return false;
}

void Pool::work(Worker &worker) {
  // Work can be handed out before this thread has come so far; rounds start
  // at 1, so it sees the first one as new.
  uint64_t last = 0;
  while (true) {
    uint64_t now = waitForTicket(worker, last);
    if (now == stop)
      return;
    // Woken late, for a round that it has been through.
    if (now == last)
      continue;
    last = now;
    auto count = uint32_t(last & 0xFFFF);
    if (worker.number >= count)
      continue;
    wakeNext(worker.number, count);
    if (enter(last >> 16)) {
      task(context, worker.number);
      gate.fetch_sub(1, std::memory_order_release);
    }
  }
}

void Pool::share(uint32_t count, alula_task newTask, void *newContext) {
  task = newTask;
  context = newContext;
  uint64_t round = (ticket.load(std::memory_order_relaxed) >> 16) + 1;
  callerCpu.store(getCpu(), std::memory_order_relaxed);
  gate.store(round << 16, std::memory_order_release);
  ticket.store(round << 16 | count);
  wakeNext(0, count);
  newTask(newContext, 0);
  gate.fetch_or(closed, std::memory_order_acq_rel);
  for (uint64_t spins = 0; (gate.load(std::memory_order_acquire) & inside) != 0;
       ++spins) {
    if (spins % 1024 != 1023)
      pause();
    else
      sched_yield();
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
    share(count, newTask, newContext);
  }
  busy.store(false, std::memory_order_release);
}

} // namespace alula::runtime
