// Runs executables: each device does its share in the order of the calls.

#include "alula/compiler.h"
#include "pjrt/execute_context.h"
#include "pjrt/functions.h"
#include "pjrt/interrupts.h"
#include "pjrt/layout.h"
#include "pjrt/profile.h"
#include "pjrt/program.h"
#include "pjrt/short_list.h"
#include "pjrt/strides.h"

#include <algorithm>
#include <chrono>
#include <sched.h>
#include <utility>

using namespace alula::pjrt;

namespace {
/// One device's share of a call.
struct Launch {
  std::shared_ptr<Program> program;
  Device *device = nullptr;
  /// The device's own.
  alula_executable *executable = nullptr;
  ShortList<Buffer *> given;
  ShortList<Ref<Value>> arguments;
  /// For each argument, whether the client gives it away.
  ShortList<uint8_t> donated;
  /// What the client has of a call that may end later.
  Ref<Event> done;
  ShortList<Ref<Value>> results;
  /// Where it meets the others; null if it needs none.
  std::shared_ptr<alula_collectives> collectives;
  uint32_t participant = 0;
  Watched watched;
  /// For handlers that the program calls.
  ffi::CurrentCall current;
  /// No other device runs the program in the same call.
  bool isAlone = false;

  bool isCheap() const {
    if (program->isCheap || !isAlone)
      return program->isCheap;
    // A device of its own computes while the client makes its next calls.
    bool mayTell = program->callsHandlers ||
                   alula_instance_shares_memory(device->instance.get());
    return mayTell && program->wasQuick.load(std::memory_order_relaxed);
  }
  bool isReady() const {
    return std::all_of(arguments.begin(), arguments.end(),
                       [](auto &value) { return value->ready->isDone(); });
  }
  /// The call itself; waits for arguments.
  std::unique_ptr<Error> call(ShortList<alula_buffer *> &out);
  /// The same for those who have `done` and `results`.
  void run();

private:
  std::unique_ptr<Error> waitForArguments() const;
  std::unique_ptr<Error> makeTokens(ShortList<alula_buffer *> &in);
  bool isInResultsMemory(const Value &value) const;
  std::unique_ptr<Error> moveToHost(ShortList<alula_buffer *> &out) const;
};

/// The first error that an argument ended in.
std::unique_ptr<Error> Launch::waitForArguments() const {
  for (auto &value : arguments)
    if (const Error *error = value->ready->wait())
      return std::make_unique<Error>(*error);
  return nullptr;
}

std::unique_ptr<Error> takeError(alula_error *failed, std::string prefix) {
  auto error = std::make_unique<Error>(
      Error{alula_error_get_code(failed),
            std::move(prefix) + alula_error_get_message(failed)});
  alula_error_destroy(failed);
  return error;
}

/// What clients hand over for a token is an empty array or a token: all that
/// counts is that it is ready.
std::unique_ptr<Error> Launch::makeTokens(ShortList<alula_buffer *> &in) {
  for (size_t i = 0; i < in.size(); ++i) {
    if (program->arguments[i].dtype != ALULA_DTYPE_TOKEN)
      continue;
    alula_buffer *token = nullptr;
    if (alula_error *failed = alula_buffer_create(
            device->instance.get(), ALULA_DTYPE_TOKEN, 0, nullptr, &token))
      return takeError(failed, "");
    arguments[i] = make<Value>(device, getReadyEvent());
    arguments[i]->set(token);
    in[i] = token;
  }
  return nullptr;
}

/// What a call may take that another thread is not told of. Two are woken up
/// for one that is, the device's and the client's: 5 microseconds each, 40
/// where a processor of a virtual machine has gone to sleep. With one processor
/// nothing is won by telling, and caches are lost.
std::chrono::microseconds getQuickTime() {
  using std::chrono::microseconds;
  cpu_set_t processors;
  bool isKnown = sched_getaffinity(0, sizeof processors, &processors) == 0;
  return microseconds(isKnown && CPU_COUNT(&processors) == 1 ? 1000 : 50);
}

/// Finds out whether a program is quick: its last call tells.
class Quickness {
public:
  explicit Quickness(Program &program) : program(program) {
    if (program.mayBeQuick)
      begin = Clock::now();
  }
  void note() {
    static const std::chrono::microseconds most = getQuickTime();
    if (program.mayBeQuick)
      program.wasQuick.store(Clock::now() - begin < most,
                             std::memory_order_relaxed);
  }

private:
  using Clock = std::chrono::steady_clock;
  Program &program;
  Clock::time_point begin;
};

std::unique_ptr<Error> Launch::call(ShortList<alula_buffer *> &out) {
  if (auto error = waitForArguments())
    return error;
  ShortList<alula_buffer *> in(arguments.size());
  ShortList<uint8_t> takeOver(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    Value &value = *arguments[i];
    in[i] = value.data;
    // In place only if there is no other reference to the memory, and it is not
    // the host's while results are the device's; else a copy.
    takeOver[i] = donated[i] && program->aliased[i] && !value.isReadOnly &&
                  value.isUnique() && isInResultsMemory(value);
  }
  if (auto error = makeTokens(in))
    return error;
  alula_call_options options = {};
  options.struct_bytes = sizeof options;
  options.donate = takeOver.data();
  options.collectives = collectives.get();
  options.participant = participant;
  options.cancel = watched.getPatientFlag();
  ProfiledCall profiled(program, *device, options);
  ffi::InCall inCall(current);
  Quickness quickness(*program);
  alula_error *failed =
      alula_call(executable, program->function, &options, in.data(), in.size(),
                 out.data(), out.size());
  quickness.note();
  if (failed)
    return takeError(failed, program->name + ": ");
  for (size_t i = 0; i < arguments.size(); ++i)
    if (takeOver[i])
      arguments[i]->forget();
  return moveToHost(out);
}

bool Launch::isInResultsMemory(const Value &value) const {
  return alula_instance_shares_memory(device->instance.get()) ||
         !alula_buffer_get_data(value.data);
}

/// Programs compute results in the device's memory.
std::unique_ptr<Error>
Launch::moveToHost(ShortList<alula_buffer *> &out) const {
  if (alula_instance_shares_memory(device->instance.get()))
    return nullptr;
  for (size_t i = 0; i < out.size(); ++i) {
    alula_buffer *made = out[i], *moved = nullptr;
    if (!isOnHost(device->memories[program->resultMemories[i]]) ||
        alula_buffer_get_dtype(made) == ALULA_DTYPE_TOKEN)
      continue;
    alula_error *failed = createData(
        device, /*isOnHost=*/true, alula_buffer_get_dtype(made),
        alula_buffer_get_rank(made), alula_buffer_get_dims(made), moved);
    if (!failed)
      failed = alula_buffer_copy(moved, 0, made, 0,
                                 alula_buffer_get_bytes(made), nullptr);
    if (failed) {
      alula_buffer_release(moved);
      return takeError(failed, program->name + ": ");
    }
    alula_buffer_release(std::exchange(out[i], moved));
  }
  return nullptr;
}

void Launch::run() {
  ShortList<alula_buffer *> out(results.size());
  std::unique_ptr<Error> error = call(out);
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i])
      results[i]->set(out[i]);
  // It may have failed before it was a call.
  if (error && collectives)
    alula_collectives_abort(
        collectives.get(),
        (device->description + " failed: " + error->message).c_str());
  // Before anybody acts on the event: memory goes, donations become possible.
  arguments.clear();
  results.clear();
  watched = {};
  done->finish(std::move(error));
}

/// "f32[2,3]".
std::string printShape(alula_dtype dtype, const std::vector<int64_t> &dims) {
  std::string text = alula_dtype_get_name(dtype);
  text += '[';
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? "," : "") + std::to_string(dims[i]);
  return text + ']';
}

/// What an argument should be and what it is, layouts only if they differ.
std::string compareShapes(const ValueType &type, const Buffer &buffer) {
  std::string taken = printShape(type.dtype, type.dims);
  std::string had = printShape(buffer.dtype, buffer.dims);
  if (type.layout != buffer.layout) {
    taken += printLayout(type.layout, type.dims.size());
    had += printLayout(buffer.layout, buffer.dims.size());
  }
  return "the program takes " + taken + ", the buffer has " + had;
}

bool agree(const ValueType &type, const Buffer &buffer) {
  if (type.dtype == ALULA_DTYPE_TOKEN)
    return true;
  if (type.dtype != buffer.dtype || type.dims.size() != buffer.dims.size())
    return false;
  for (size_t i = 0; i < type.dims.size(); ++i)
    if (type.dims[i] >= 0 && type.dims[i] != buffer.dims[i])
      return false;
  return type.layout == buffer.layout;
}

/// Takes a use of each argument; nothing changes yet.
void *takeArguments(Launch &launch, size_t replica) {
  const Program &program = *launch.program;
  auto refuse = [&](size_t argument, const std::string &why) {
    return invalid("Invalid buffer passed to Execute() as argument " +
                   std::to_string(argument) + " to replica " +
                   std::to_string(replica) + ": INVALID_ARGUMENT: " + why);
  };
  for (size_t i = 0; i < launch.given.size(); ++i) {
    Buffer *buffer = launch.given[i];
    if (!buffer)
      return refuse(i, "it is null");
    if (buffer->device != launch.device)
      return refuse(i, "it is on " + buffer->device->description +
                           ", the program runs on " +
                           launch.device->description);
    if (!agree(program.arguments[i], *buffer))
      return refuse(i, compareShapes(program.arguments[i], *buffer));
    launch.arguments[i] = buffer->acquireForCall();
    if (!launch.arguments[i])
      return refuse(i, "Buffer has been deleted or donated.");
  }
  return nullptr;
}

/// No donated buffer may come twice, not even once as another argument.
void *checkDonations(const Launch &launch) {
  if (std::find(launch.donated.begin(), launch.donated.end(), 1) ==
      launch.donated.end())
    return nullptr;
  std::vector<std::pair<Buffer *, size_t>> sorted;
  for (size_t i = 0; i < launch.given.size(); ++i)
    sorted.emplace_back(launch.given[i], i);
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 1; i < sorted.size(); ++i) {
    auto [buffer, second] = sorted[i];
    auto [before, first] = sorted[i - 1];
    if (buffer != before)
      continue;
    bool isFirst = launch.donated[first], isSecond = launch.donated[second];
    if (!isFirst && !isSecond)
      continue;
    std::string what =
        isFirst && isSecond
            ? "Attempt to donate the same buffer twice in Execute()"
        : isFirst ? "Attempt to use a buffer that was previously donated "
                    "in the same call to Execute()"
                  : "Attempt to donate a buffer which is also used by the "
                    "same call to Execute()";
    return invalid(what + " (arguments " + std::to_string(first) + " and " +
                   std::to_string(second) + ": f(donate(a), a))");
  }
  return nullptr;
}

/// Marks what is donated as deleted; all or nothing.
void *takeDonations(std::vector<Launch> &launches) {
  std::vector<std::pair<Buffer *, Value *>> taken;
  for (Launch &launch : launches)
    for (size_t i = 0; i < launch.given.size(); ++i) {
      if (!launch.donated[i])
        continue;
      Value *value = launch.arguments[i].get();
      if (launch.given[i]->takeAway(value)) {
        taken.emplace_back(launch.given[i], value);
        continue;
      }
      for (auto &[buffer, old] : taken)
        buffer->giveBack(share(old));
      return deletedError();
    }
  return nullptr;
}

/// What the client gives away: what the program takes, but for what the options
/// say must be kept.
ShortList<uint8_t> findDonated(const Program &program, void *given) {
  ShortList<uint8_t> donated(program.donated.size());
  std::copy(program.donated.begin(), program.donated.end(), donated.begin());
  if (!given)
    return donated;
  auto *options = as<PJRT_ExecuteOptions>(given);
  using Options = PJRT_ExecuteOptions;
  auto *kept = static_cast<const int64_t *>(
      take(options, &Options::non_donatable_input_indices));
  size_t count = take(options, &Options::num_non_donatable_input_indices);
  for (size_t i = 0; kept && i < count; ++i)
    if (kept[i] >= 0 && static_cast<size_t>(kept[i]) < donated.size())
      donated[static_cast<size_t>(kept[i])] = 0;
  return donated;
}

void *makeResult(const Program &program, Device *device, size_t number,
                 std::vector<int64_t> dims, Ref<Value> value) {
  auto *buffer =
      new Buffer(device, program.results[number].dtype, std::move(dims),
                 program.results[number].layout, std::move(value));
  buffer->memory = &device->memories[program.resultMemories[number]];
  return buffer;
}

/// The same, of sizes that the arguments say.
void *makeResult(const Launch &launch, size_t number, Ref<Value> value) {
  const Program &program = *launch.program;
  std::vector<int64_t> dims = program.results[number].dims;
  for (auto &[dim, from] : program.resultSizes[number])
    dims[dim] = launch.given[from.argument]->dims[from.dim];
  return makeResult(program, launch.device, number, std::move(dims),
                    std::move(value));
}

void makeResults(Launch &launch, void **outputs) {
  const Program &program = *launch.program;
  launch.results = ShortList<Ref<Value>>(program.results.size());
  for (size_t i = 0; i < program.results.size(); ++i) {
    launch.results[i] = make<Value>(launch.device, launch.done);
    if (!program.hasComputedSizes)
      outputs[i] = makeResult(launch, i, launch.results[i]);
  }
}

/// A call that ends before its results are made: they are ready, and nobody has
/// to be told.
struct CallAtOnce {
  Launch &launch;
  ShortList<alula_buffer *> out;
  std::unique_ptr<Error> error = nullptr;

  explicit CallAtOnce(Launch &launch)
      : launch(launch), out(launch.program->results.size()) {}

  /// False if others are before it, or it takes longer than telling a thread.
  bool tryRun() {
    Queue &queue = launch.device->queue;
    if (launch.program->hasComputedSizes || !launch.isCheap() ||
        !launch.isReady() || queue.isInTask() ||
        !queue.tryRun([this] { error = launch.call(out); }))
      return false;
    // Memory goes before anybody acts on the results.
    launch.arguments.clear();
    return true;
  }
  /// Its event.
  Ref<Event> finish(void **outputs) {
    Ref<Event> ready = getReadyEvent();
    if (error) {
      ready = make<Event>();
      ready->finish(std::move(error));
    }
    for (size_t i = 0; i < out.size(); ++i) {
      auto value = make<Value>(launch.device, ready);
      if (out[i])
        value->set(out[i]);
      outputs[i] = makeResult(launch, i, std::move(value));
    }
    return ready;
  }
};

/// Results of a call with sizes that nothing but these say: they are made when
/// it has ended. After an error such sizes are 0.
struct LateResults {
  std::shared_ptr<Program> program;
  Device *device;
  Ref<Event> done;
  ShortList<Ref<Value>> values;
  void **outputs;

  void make() {
    done->wait();
    for (size_t i = 0; i < values.size(); ++i) {
      std::vector<int64_t> dims = program->results[i].dims;
      if (const alula_buffer *data = values[i]->data)
        dims = getDimsOfProgram(alula_buffer_get_dims(data), dims.size(),
                                program->results[i].layout);
      for (int64_t &size : dims)
        size = std::max<int64_t>(size, 0);
      outputs[i] = makeResult(*program, device, i, std::move(dims),
                              std::move(values[i]));
    }
  }
};

/// Where the devices of one call meet.
void *makeCollectives(const LoadedExecutable &executable,
                      std::shared_ptr<alula_collectives> &made) {
  alula_collectives_options options = {};
  options.struct_bytes = sizeof options;
  options.participant_count =
      static_cast<uint32_t>(executable.deviceIds.size());
  Client &client = *as<Device>(executable.devices.front())->client;
  options.devices = client.deviceCollectives;
  if (!executable.processOf.empty()) {
    Processes &processes = client.processes;
    if (void *error = processes.connect(options.processes))
      return error;
    options.process_of = executable.processOf.data();
    options.name = executable.name.c_str();
    options.timeout_ms = processes.timeout;
  }
  alula_collectives *collectives = nullptr;
  if (alula_error *error = alula_collectives_create(&options, &collectives))
    return makeError(error);
  made = {collectives, alula_collectives_destroy};
  return nullptr;
}

/// What handlers of a launch may ask.
ffi::CurrentCall describeCall(void *options) {
  static std::atomic<int64_t> runs{0};
  ffi::CurrentCall call;
  call.run = ++runs;
  if (options)
    if (auto *context = as<ExecuteContext>(take(
            as<PJRT_ExecuteOptions>(options), &PJRT_ExecuteOptions::context)))
      call.data = context->data;
  return call;
}

void start(Launch &launch) {
  Queue &queue = launch.device->queue;
  // A callback of this device's own program would wait for itself.
  if (queue.isInTask())
    return launch.run();
  if (launch.isCheap() && launch.isReady() &&
      queue.tryRun([&launch] { launch.run(); }))
    return;
  queue.push([shared = std::make_shared<Launch>(std::move(launch))] {
    shared->run();
  });
}
} // namespace

void *alula::pjrt::LoadedExecutable_Execute(
    PJRT_LoadedExecutable_Execute_Args *args) {
  ALULA_TAKE(LoadedExecutable, executable);
  if (executable->deleted)
    return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                     "alula: the executable has been deleted");
  const Program &program = *executable->program;
  auto *alone = as<Device>(take(args, &ALULA_ARGS::execute_device));
  size_t deviceCount = alone ? 1 : executable->devices.size();
  size_t argumentCount = take(args, &ALULA_ARGS::num_args);
  if (take(args, &ALULA_ARGS::num_devices) != deviceCount)
    return invalid("alula: the program runs on " + std::to_string(deviceCount) +
                   " devices, arguments for " +
                   std::to_string(take(args, &ALULA_ARGS::num_devices)) +
                   " are given");
  // It runs in other processes.
  if (!deviceCount)
    return nullptr;
  if (argumentCount != program.arguments.size())
    return invalid("alula: the program takes " +
                   std::to_string(program.arguments.size()) + " arguments, " +
                   std::to_string(argumentCount) + " are given");
  auto ***lists =
      static_cast<void ***>(take(args, &ALULA_ARGS::argument_lists));
  auto ***outputs =
      static_cast<void ***>(take(args, &ALULA_ARGS::output_lists));
  if (argumentCount && !lists)
    return missing("argument_lists");
  if (!program.results.empty() && !outputs)
    return missing("output_lists");
  ffi::CurrentCall current = describeCall(take(args, &ALULA_ARGS::options));
  std::vector<Launch> launches(deviceCount);
  std::shared_ptr<alula_collectives> collectives;
  bool isTogether = !alone && executable->deviceIds.size() > 1;
  // Programs with collectives must meet in one order on all devices, and in all
  // processes.
  std::unique_lock<std::mutex> order;
  if (isTogether) {
    // Not in this order: a task may launch something together, too.
    for (void *device : executable->devices)
      as<Device>(device)->queue.waitForRoom();
    order = std::unique_lock(
        as<Device>(executable->devices.front())->client->launchOrder);
  }
  if (isTogether && (program.flags & ALULA_PROGRAM_COLLECTIVE))
    if (void *error = makeCollectives(*executable, collectives))
      return error;
  for (size_t i = 0; i < deviceCount; ++i) {
    Launch &launch = launches[i];
    launch.program = executable->program;
    launch.collectives = collectives;
    launch.current = current;
    launch.isAlone = deviceCount == 1;
    launch.participant = alone ? 0 : executable->participants[i];
    launch.device = alone ? alone : as<Device>(executable->devices[i]);
    if (void *error =
            launch.program->loads.get(*launch.device, launch.executable))
      return error;
    launch.donated = findDonated(program, take(args, &ALULA_ARGS::options));
    if (!program.isCheap)
      launch.watched = Watched::begin();
    if (argumentCount && !lists[i])
      return missing("argument_lists");
    if (!program.results.empty() && !outputs[i])
      return missing("output_lists");
    launch.given = ShortList<Buffer *>(argumentCount);
    launch.arguments = ShortList<Ref<Value>>(argumentCount);
    for (size_t j = 0; j < argumentCount; ++j)
      launch.given[j] = as<Buffer>(lists[i][j]);
    if (void *error = takeArguments(launch, i))
      return error;
    if (void *error = checkDonations(launch))
      return error;
  }
  if (void *error = takeDonations(launches))
    return error;

  auto **events =
      static_cast<void **>(take(args, &ALULA_ARGS::device_complete_events));
  if (deviceCount == 1 && !collectives) {
    CallAtOnce call(launches.front());
    if (call.tryRun()) {
      Ref<Event> done = call.finish(outputs ? outputs[0] : nullptr);
      if (events)
        events[0] = done.leak();
      return nullptr;
    }
  }
  if (!isTogether)
    launches.front().device->queue.waitForRoom();
  std::vector<LateResults> late;
  for (size_t i = 0; i < deviceCount; ++i) {
    Launch &launch = launches[i];
    launch.done = make<Event>();
    if (!program.results.empty())
      makeResults(launch, outputs[i]);
    if (program.hasComputedSizes)
      late.push_back({launch.program, launch.device, launch.done,
                      launch.results, outputs[i]});
    launch.given.clear();
    if (events)
      events[i] = Ref<Event>(launch.done).leak();
  }
  // The share that runs here, in a callback of its device, may wait for the
  // others: it comes last.
  for (bool isHere : {false, true})
    for (Launch &launch : launches)
      if (launch.device->queue.isInTask() == isHere)
        start(launch);
  if (order.owns_lock())
    order.unlock();
  for (LateResults &results : late)
    results.make();
  return nullptr;
}
