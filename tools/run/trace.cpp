#include "tools/run/trace.h"

#include <cinttypes>
#include <cstdio>

namespace alula::run {

void Trace::record(void *user, const alula_trace_event *event) {
  auto *trace = static_cast<Trace *>(user);
  if (!trace->start)
    trace->start = event->begin_ns;
  std::string name;
  for (const char *c = event->name; *c; ++c) {
    if (*c == '"' || *c == '\\')
      name += '\\';
    name += uint8_t(*c) < 32 ? ' ' : *c;
  }
  char text[256];
  snprintf(
      text, sizeof text,
      "\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"ts\": %.3f, \"dur\": %.3f, "
      "\"args\": {\"grid\": \"%ux%ux%u\", \"bytes\": %" PRIu64 "}}",
      double(event->begin_ns - trace->start) / 1000,
      double(event->end_ns - event->begin_ns) / 1000, event->grid[0],
      event->grid[1], event->grid[2], event->bytes);
  trace->events += trace->events.empty() ? "" : ",\n";
  trace->events += "{\"name\": \"" + name + "\", " + text;
}

std::string Trace::print() const {
  return "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n" + events +
         "\n]}\n";
}

} // namespace alula::run
