#include "tools/run/trace.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace alula::run {
namespace {

/// Tracks; those of threads follow.
enum { CallTrack = 1, QueueTrack = 2, FirstThreadTrack = 3 };
constexpr size_t mostRows = 20;

uint64_t readClock() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
}

std::string quote(const std::string &text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    quoted += uint8_t(c) < 32 ? ' ' : c;
  }
  return quoted + "\"";
}

template <typename... Values>
std::string format(const char *form, Values... values) {
  char text[160];
  snprintf(text, sizeof text, form, values...);
  return text;
}

/// "12.3 G" of a number; nothing of one that is not known.
std::string scale(double value) {
  if (value < 0)
    return "";
  const char *unit = "";
  for (const char *next : {"k", "M", "G", "T"}) {
    if (value < 1000)
      break;
    value /= 1000;
    unit = next;
  }
  return format("%.3g%s%s", value, *unit ? " " : "", unit);
}

std::string printTime(double ns) {
  for (auto [size, unit] :
       {std::pair(1e9, "s"), std::pair(1e6, "ms"), std::pair(1e3, "us")})
    if (ns >= size)
      return format("%.3g %s", ns / size, unit);
  return format("%.3g ns", ns);
}

/// The name of a track and its place among the others.
std::string nameTrack(unsigned track, const std::string &name) {
  return format("{\"ph\": \"M\", \"pid\": 1, \"tid\": %u, \"name\": "
                "\"thread_name\", \"args\": {\"name\": ",
                track) +
         quote(name) + "}},\n" +
         format("{\"ph\": \"M\", \"pid\": 1, \"tid\": %u, \"name\": "
                "\"thread_sort_index\", \"args\": {\"sort_index\": %u}}",
                track, track);
}

/// Columns as wide as they must be; `isNumber` ones end at the same place.
std::string alignColumns(const std::vector<std::vector<std::string>> &rows,
                         const std::vector<bool> &isNumber) {
  std::vector<size_t> widths(isNumber.size());
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      // A column that knows nothing but its name.
      if (widths[i] == rows[0][i].size() &&
          std::all_of(rows.begin() + 1, rows.end(),
                      [&](const auto &other) { return other[i].empty(); }))
        continue;
      std::string space(widths[i] - row[i].size(), ' ');
      line += (line.empty() ? "" : "  ") +
              (isNumber[i] ? space + row[i] : row[i] + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

} // namespace

Trace::Trace(const alula_executable *executable) {
  const char *key, *value;
  for (uint32_t i = 0; alula_executable_get_fact(executable, i, &key, &value);
       ++i) {
    if (strncmp(key, "kernel.", 7) != 0)
      continue;
    Kernel kernel;
    kernel.name = key + 7;
    for (std::string rest = value; !rest.empty();) {
      size_t end = std::min(rest.find('\n'), rest.size());
      std::string line = rest.substr(0, end);
      rest.erase(0, end + 1);
      size_t space = std::min(line.find(' '), line.size());
      std::string word = line.substr(0, space);
      std::string text = line.substr(std::min(space + 1, line.size()));
      // Not a number, or one that is too large, is not known.
      double number = strtod(text.c_str(), nullptr);
      if (!(number >= 0 && number < 1e300))
        number = -1;
      if (word == "flops")
        kernel.flops = number;
      else if (word == "transcendentals")
        kernel.transcendentals = number;
      else if (word == "bytes")
        kernel.bytes = number;
      else if (word == "operations")
        kernel.operations = text;
      else if (word == "name")
        kernel.sourceName = text;
      else if (word == "source")
        kernel.source = text;
    }
    kernels.push_back(std::move(kernel));
  }
}

const Trace::Kernel *Trace::findKernel(const std::string &name) const {
  for (const Kernel &kernel : kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

void Trace::record(void *user, const alula_trace_event *event) {
  Command command = {event->name,
                     {event->begin_ns, event->end_ns},
                     {event->grid[0], event->grid[1], event->grid[2]},
                     event->bytes,
                     {},
                     event->computed_by ? event->computed_by : "",
                     event->is_beside != 0};
  if (event->thread_count)
    command.threads.assign(event->threads,
                           event->threads + event->thread_count);
  static_cast<Trace *>(user)->commands.push_back(std::move(command));
}

void Trace::beginCall() { calls.push_back({readClock(), 0}); }

void Trace::endCall() { calls.back().end = readClock(); }

std::string Trace::printSpan(const Span &span, unsigned track) const {
  uint64_t start = calls.empty() ? 0 : calls[0].begin;
  return format("\"ph\": \"X\", \"pid\": 1, \"tid\": %u, \"ts\": %.3f, "
                "\"dur\": %.3f, \"args\": {",
                track, double(span.begin - start) / 1000,
                double(span.end - span.begin) / 1000);
}

std::string Trace::printCommand(const Command &command) const {
  const uint32_t *grid = command.grid;
  bool isKernel = grid[0] > 0;
  std::string text = "{\"name\": " + quote(command.name) + ", \"cat\": " +
                     (isKernel ? "\"kernel\", " : "\"command\", ") +
                     printSpan(command.span, QueueTrack);
  if (isKernel)
    text += format("\"grid\": \"%ux%ux%u\", ", grid[0], grid[1], grid[2]);
  text += format("\"bytes\": %" PRIu64, command.bytes);
  if (command.isBeside)
    text += ", \"beside\": true";
  if (!command.computedBy.empty())
    text += ", \"computed by\": " + quote(command.computedBy);
  if (const Kernel *kernel = isKernel ? findKernel(command.name) : nullptr) {
    for (auto [word, value] :
         {std::pair("flops", kernel->flops),
          std::pair("transcendentals", kernel->transcendentals),
          std::pair("bytes moved", kernel->bytes)})
      if (value >= 0)
        text += format(", \"%s\": %.0f", word, value);
    for (auto [word, value] : {std::pair("operations", &kernel->operations),
                               std::pair("name", &kernel->sourceName),
                               std::pair("source", &kernel->source)})
      if (!value->empty())
        text += format(", \"%s\": ", word) + quote(*value);
  }
  text += "}}";
  for (size_t i = 0; i < command.threads.size(); ++i) {
    const alula_trace_thread &thread = command.threads[i];
    if (thread.end_ns)
      text += ",\n{\"name\": " + quote(command.name) +
              ", \"cat\": \"thread\", " +
              printSpan({thread.begin_ns, thread.end_ns},
                        unsigned(FirstThreadTrack + i)) +
              format("\"workgroups\": %" PRIu64 "}}", thread.workgroups);
  }
  return text;
}

std::string Trace::print(const std::string &process,
                         const std::string &function) const {
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
                     "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", "
                     "\"args\": {\"name\": " +
                     quote(process) + "}},\n" + nameTrack(CallTrack, "calls") +
                     ",\n" + nameTrack(QueueTrack, "queue 0");
  size_t threads = 0;
  for (const Command &command : commands)
    threads = std::max(threads, command.threads.size());
  for (size_t i = 0; i < threads; ++i)
    text += ",\n" + nameTrack(unsigned(FirstThreadTrack + i),
                              "thread " + std::to_string(i) +
                                  (i ? "" : ", the caller"));
  for (size_t i = 0; i < calls.size(); ++i)
    text += ",\n{\"name\": " + quote(function) + ", \"cat\": \"call\", " +
            printSpan(calls[i], CallTrack) + "\"call\": " + std::to_string(i) +
            "}}";
  for (const Command &command : commands)
    text += ",\n" + printCommand(command);
  return text + "\n]}\n";
}

std::string Trace::summarize() const {
  struct Row {
    std::string name;
    uint64_t runs = 0, time = 0, bytes = 0;
    bool isKernel = false;
  };
  std::vector<Row> sums;
  uint64_t all = 0, inCalls = 0;
  for (const Command &command : commands) {
    auto row = std::find_if(sums.begin(), sums.end(), [&](const Row &known) {
      return known.name == command.name;
    });
    if (row == sums.end())
      row = sums.insert(row, {command.name, 0, 0, 0, command.grid[0] > 0});
    uint64_t time = command.span.end - command.span.begin;
    ++row->runs;
    row->time += time;
    row->bytes += command.bytes;
    all += time;
  }
  for (const Span &call : calls)
    inCalls += call.end - call.begin;
  // By hand: the library's sort is a fiftieth of the tool.
  for (size_t i = 1; i < sums.size(); ++i)
    for (size_t k = i; k > 0 && sums[k].time > sums[k - 1].time; --k)
      std::swap(sums[k], sums[k - 1]);
  std::vector<std::vector<std::string>> rows = {
      {"command", "runs", "time", "share", "each", "flop/s", "B/s", "what"}};
  auto share = [&](uint64_t time) {
    return inCalls ? format("%.1f %%", 100 * double(time) / double(inCalls))
                   : std::string();
  };
  uint64_t left = all;
  for (size_t i = 0; i < sums.size() && i < mostRows; ++i) {
    const Row &row = sums[i];
    const Kernel *kernel = row.isKernel ? findKernel(row.name) : nullptr;
    auto runs = double(row.runs), time = double(row.time);
    bool hasFlops = kernel && kernel->flops >= 0;
    double moved =
        kernel && kernel->bytes >= 0 ? kernel->bytes * runs : double(row.bytes);
    std::string what;
    if (kernel) {
      what = kernel->operations;
      if (what.size() > 40)
        what = what.substr(0, what.rfind(' ', 37)) + " ...";
      if (!kernel->source.empty())
        what += (what.empty() ? "" : ", ") + kernel->source;
    }
    left -= row.time;
    rows.push_back(
        {row.name, std::to_string(row.runs), printTime(time), share(row.time),
         printTime(time / runs),
         hasFlops && row.time ? scale(kernel->flops * runs * 1e9 / time) : "",
         row.time && moved > 0 ? scale(moved * 1e9 / time) : "", what});
  }
  if (sums.size() > mostRows)
    rows.push_back({std::to_string(sums.size() - mostRows) + " more", "",
                    printTime(double(left)), share(left), "", "", "", ""});
  rows.push_back(
      {"in calls", std::to_string(calls.size()), printTime(double(inCalls)), "",
       calls.empty() ? "" : printTime(double(inCalls) / double(calls.size())),
       "", "", ""});
  return alignColumns(rows, {false, true, true, true, true, true, true, false});
}

} // namespace alula::run
