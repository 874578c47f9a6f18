// Which processors a worker may run on.

#pragma once

#include <pthread.h>
#include <sched.h>

namespace alula::runtime {

/// The processor that this thread runs on; -1 if the system doesn't tell.
int getCpu();

/// Keeps a worker off the processor of who calls it. A thread that is woken
/// waits where the system puts it, and on virtual machines, whose idle
/// processors count as taken away, that can be the waker's own: the worker is
/// then ready to run and does not until the caller has done all the work.
class Placement {
public:
  /// Before `thread`, which sleeps, is woken. Its other processors stay those
  /// that it was given, by whomever; if it has no other, nothing changes.
  void keepOff(pthread_t thread, int cpu);

private:
  int excluded = -1;
#ifdef __linux__
  cpu_set_t allowed = {}, ours = {};
#endif
};

} // namespace alula::runtime
