#include "runtime/threads/placement.h"

namespace alula::runtime {

#ifdef __linux__

int getCpu() { return sched_getcpu(); }

void Placement::keepOff(pthread_t thread, int cpu) {
  if (cpu == excluded || cpu < 0 || cpu >= CPU_SETSIZE)
    return;
  excluded = cpu;
  cpu_set_t now;
  if (pthread_getaffinity_np(thread, sizeof now, &now) != 0)
    return;
  // Somebody else has chosen since.
  if (!CPU_EQUAL(&now, &ours))
    allowed = now;
  ours = allowed;
  CPU_CLR(cpu, &ours);
  if (CPU_COUNT(&ours) == 0)
    ours = allowed;
  if (pthread_setaffinity_np(thread, sizeof ours, &ours) != 0)
    ours = now;
}

#else

int getCpu() { return -1; }

void Placement::keepOff(pthread_t, int) {}

#endif

} // namespace alula::runtime
