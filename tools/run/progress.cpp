#include "tools/run/progress.h"

namespace alula::run {

void Progress::record(void *user, const alula_trace_event *event) {
  auto *progress = static_cast<Progress *>(user);
  progress->done.fetch_add(1, std::memory_order_relaxed);
  progress->name.store(event->name, std::memory_order_relaxed);
  if (progress->next)
    progress->next(progress->nextUser, event);
}

void Progress::beginCall() {
  ++call;
  total = done.exchange(0);
}

std::string Progress::describe() const {
  std::string text =
      "call " + std::to_string(call) + " of " + std::to_string(calls) + ": ";
  text += std::to_string(done);
  if (total)
    text += " of " + std::to_string(total);
  text += " commands";
  if (const char *last = name; *last)
    text += ", " + std::string(last).substr(0, 50);
  return text;
}

} // namespace alula::run
