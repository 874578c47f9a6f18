#include "pjrt/profile.h"

#include "pjrt/program.h"
#include "pjrt/protobuf.h"

#include <algorithm>
#include <ctime>
#include <map>

using namespace alula::pjrt;

namespace {
std::atomic<unsigned> profilersOn{0};

struct Profilers {
  std::mutex mutex;
  std::vector<Profiler *> on;
};

Profilers &getProfilers() {
  static auto &profilers = *new Profilers;
  return profilers;
}

int64_t readClock(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

struct KernelEvent {
  const char *name;
  int64_t begin, end;
  uint32_t grid[3];
  uint64_t bytes;
};

struct CallRecord {
  std::shared_ptr<Program> program;
  int32_t device;
  int64_t begin, end;
  /// Names live as long as the program.
  std::vector<KernelEvent> events;
};
} // namespace

struct ProfiledCall::Record : CallRecord {};

struct Profiler::Calls {
  std::mutex mutex;
  std::vector<CallRecord> list;
  bool isOn = false;
};

ProfiledCall::ProfiledCall(const std::shared_ptr<Program> &program,
                           const Device &device, alula_call_options &options) {
  if (!profilersOn.load(std::memory_order_relaxed))
    return;
  record.reset(new Record{{program, device.id, 0, 0, {}}});
  options.trace_user = record.get();
  options.trace = [](void *user, const alula_trace_event *event) {
    static_cast<Record *>(user)->events.push_back(
        {event->name,
         int64_t(event->begin_ns),
         int64_t(event->end_ns),
         {event->grid[0], event->grid[1], event->grid[2]},
         event->bytes});
  };
  record->begin = readClock(CLOCK_MONOTONIC);
}

ProfiledCall::~ProfiledCall() {
  if (!record)
    return;
  record->end = readClock(CLOCK_MONOTONIC);
  Profilers &profilers = getProfilers();
  std::lock_guard lock(profilers.mutex);
  for (Profiler *profiler : profilers.on) {
    std::lock_guard callsLock(profiler->calls->mutex);
    profiler->calls->list.push_back(*record);
  }
}

Profiler::Profiler() : calls(new Calls) {}
Profiler::~Profiler() { stop(); }

void Profiler::start() {
  Profilers &profilers = getProfilers();
  std::lock_guard lock(profilers.mutex);
  if (std::exchange(calls->isOn, true))
    return;
  profilers.on.push_back(this);
  ++profilersOn;
}

void Profiler::stop() {
  Profilers &profilers = getProfilers();
  std::lock_guard lock(profilers.mutex);
  if (!std::exchange(calls->isOn, false))
    return;
  std::erase(profilers.on, this);
  --profilersOn;
}

namespace {
/// An entry of one of a plane's tables, from numbers to names.
void writeName(std::string &plane, uint32_t table, uint64_t number,
               std::string_view name) {
  std::string metadata, entry;
  writeProtoNumber(metadata, 1, number);
  writeProtoBytes(metadata, 2, name);
  writeProtoNumber(entry, 1, number);
  writeProtoBytes(entry, 2, metadata);
  writeProtoBytes(plane, table, entry);
}

/// Numbers for the names of statistics and other texts, of which a plane has a
/// table.
class StatNames {
public:
  uint64_t get(const std::string &name) {
    auto [found, isNew] = numbers.emplace(name, numbers.size() + 1);
    return found->second;
  }
  void write(std::string &plane) const {
    for (auto &[name, number] : numbers)
      writeName(plane, 5, number, name);
  }

private:
  std::map<std::string, uint64_t> numbers;
};

/// One XPlane: what a device did.
class Plane {
public:
  explicit Plane(int64_t origin) : origin(origin) {}

  void add(const CallRecord &call) {
    append(modules, call.program->name, call.program.get(), call.begin,
           call.end, [&](std::string &) {});
    for (const KernelEvent &event : call.events)
      append(kernels, event.name, call.program.get(), event.begin, event.end,
             [&](std::string &to) { describe(to, *call.program, event); });
  }

  std::string print(int32_t device, int64_t unixOrigin) {
    std::string plane;
    writeProtoNumber(plane, 1, uint64_t(device) + 1);
    writeProtoBytes(plane, 2, "/device:CUSTOM:alula:" + std::to_string(device));
    writeLine(plane, 1, "XLA Modules", unixOrigin, modules);
    writeLine(plane, 2, "XLA Ops", unixOrigin, kernels);
    writeMetadata(plane);
    statNames.write(plane);
    return plane;
  }

private:
  struct Line {
    std::vector<std::pair<int64_t, std::string>> events;
  };
  using Key = std::pair<Program *, std::string>;

  template <typename Describe>
  void append(Line &line, const std::string &name, Program *program,
              int64_t begin, int64_t end, Describe describe) {
    bool isKernel = &line == &kernels;
    auto &table = isKernel ? kernelNumbers : moduleNumbers;
    auto [found, isNew] = table.emplace(Key(program, name), nextNumber);
    nextNumber += isNew;
    std::string event;
    writeProtoNumber(event, 1, found->second);
    writeProtoNumber(event, 2, uint64_t(begin - origin) * 1000);
    writeProtoNumber(event, 3, uint64_t(end - begin) * 1000);
    describe(event);
    line.events.emplace_back(begin, std::move(event));
  }

  /// Texts stand among the names: many events have the same.
  void addText(std::string &event, const char *name, const std::string &text) {
    std::string stat;
    writeProtoNumber(stat, 1, statNames.get(name));
    writeProtoNumber(stat, 7, statNames.get(text));
    writeProtoBytes(event, 4, stat);
  }
  void addNumber(std::string &event, const char *name, double value) {
    std::string stat;
    writeProtoNumber(stat, 1, statNames.get(name));
    writeProtoDouble(stat, 2, value);
    writeProtoBytes(event, 4, stat);
  }

  void describe(std::string &to, Program &program, const KernelEvent &event) {
    addText(to, "hlo_module", program.name);
    addText(to, "hlo_op", event.name);
    // Of a copy, a fill or a custom call.
    if (!event.grid[0])
      return addNumber(to, "bytes_accessed", double(event.bytes));
    addText(to, "grid",
            std::to_string(event.grid[0]) + "x" +
                std::to_string(event.grid[1]) + "x" +
                std::to_string(event.grid[2]));
    const Kernel *kernel = getKernels(program).find(event.name);
    if (!kernel)
      return;
    addText(to, "tf_op", kernel->sourceName);
    addText(to, "source", kernel->source);
    addText(to, "operations", kernel->operations);
    addNumber(to, "flops", kernel->flops);
    addNumber(to, "transcendentals", kernel->transcendentals);
    addNumber(to, "bytes_accessed", kernel->bytes);
  }

  void writeMetadata(std::string &plane) {
    for (auto *table : {&moduleNumbers, &kernelNumbers})
      for (auto &[key, number] : *table)
        writeName(plane, 4, number, key.second);
  }

  void writeLine(std::string &plane, uint64_t id, std::string_view name,
                 int64_t unixOrigin, Line &line) {
    std::stable_sort(
        line.events.begin(), line.events.end(),
        [](auto &one, auto &other) { return one.first < other.first; });
    std::string text;
    writeProtoNumber(text, 1, id);
    writeProtoBytes(text, 2, name);
    writeProtoNumber(text, 3, uint64_t(unixOrigin));
    for (auto &[begin, event] : line.events)
      writeProtoBytes(text, 4, event);
    writeProtoBytes(plane, 3, text);
  }

  const int64_t origin;
  StatNames statNames;
  std::map<Key, uint64_t> moduleNumbers, kernelNumbers;
  uint64_t nextNumber = 1;
  Line modules, kernels;
};
} // namespace

const std::string &Profiler::print() {
  std::lock_guard lock(calls->mutex);
  // Clients want times since 1970.
  int64_t origin = calls->list.empty() ? 0 : calls->list.front().begin;
  for (const CallRecord &call : calls->list)
    origin = std::min(origin, call.begin);
  int64_t unixOrigin =
      origin + readClock(CLOCK_REALTIME) - readClock(CLOCK_MONOTONIC);
  std::map<int32_t, Plane> planes;
  for (const CallRecord &call : calls->list)
    planes.try_emplace(call.device, origin).first->second.add(call);
  text.clear();
  for (auto &[device, plane] : planes)
    writeProtoBytes(text, 1, plane.print(device, unixOrigin));
  calls->list.clear();
  return text;
}
