#include "tools/bench/kernel_timer.h"

namespace alula::bench {

void KernelTimer::record(void *user, const alula_trace_event *event) {
  auto *timer = static_cast<KernelTimer *>(user);
  if (timer->collects)
    timer->names.insert(event->name);
  if (timer->kernel != event->name)
    return;
  timer->nanoseconds += event->end_ns - event->begin_ns;
  ++timer->dispatches;
}

std::string KernelTimer::listNames() const {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text.empty() ? "nothing" : text;
}

} // namespace alula::bench
