// Compiling a program, and what the compiled program says of itself.

#include "pjrt/program.h"
#include "pjrt/dump.h"
#include "pjrt/ffi/registry.h"
#include "pjrt/interrupts.h"
#include "pjrt/layout.h"
#include "pjrt/layouts_extension.h"
#include "pjrt/op_sharding.h"
#include "pjrt/python_callbacks.h"

#include "alula/artifact.h"
#include "alula/compiler.h"

using namespace alula::pjrt;

AlignedBytes::AlignedBytes(std::string_view bytes) : size(bytes.size()) {
  size_t room = (size + ALULA_ALIGNMENT) / ALULA_ALIGNMENT * ALULA_ALIGNMENT;
  data.reset(static_cast<char *>(aligned_alloc(ALULA_ALIGNMENT, room)));
  if (data)
    memcpy(data.get(), bytes.data(), size);
  else
    size = 0;
}

AlignedBytes::AlignedBytes(void *compiled, size_t size)
    : data(static_cast<char *>(compiled), alula_compile_free), size(size) {}

void Shardings::describe() {
  for (const std::string &message : messages) {
    pointers.push_back(message.data());
    sizes.push_back(message.size());
  }
}

namespace {
/// The configurations of the custom calls that go to Python.
std::vector<std::string> readPythonConfigs(const Program &program) {
  std::vector<std::string> configs;
  alula_custom_call_info info = {};
  info.struct_bytes = sizeof info;
  for (uint32_t i = 0;
       alula_executable_get_custom_call(program.loads.getAny(), i, &info); ++i)
    if (std::string_view(info.name) == pythonCallName && info.config)
      configs.emplace_back(static_cast<const char *>(info.config),
                           info.config_bytes);
  return configs;
}

void readSizes(Program &program) {
  alula_memory_info info = {};
  info.struct_bytes = sizeof info;
  alula_executable_get_memory(program.loads.getAny(), program.function, &info);
  program.codeBytes = static_cast<int64_t>(info.code_bytes);
  program.temporaryBytes = static_cast<int64_t>(info.temporary_bytes);
}

int64_t getBytes(const ValueType &type) {
  int64_t bytes = alula_dtype_get_bytes(type.dtype);
  for (int64_t dim : type.dims)
    bytes *= dim < 0 ? 0 : dim;
  return static_cast<int64_t>(
      alula_dtype_get_packed_bytes(type.dtype, static_cast<uint64_t>(bytes)));
}

/// The artifact has arrays as they lie in memory.
void *readType(const alula_value_info &info, std::string_view layoutText,
               ValueType &type) {
  Layout layout = parseLayout(layoutText);
  // Also what comes from a file must be a permutation.
  if (!layout.empty() && (layout.size() != info.rank ||
                          getStrides(info.dims, info.rank, 1, layout).empty()))
    return invalid("alula: the layout " + std::string(layoutText) +
                   " is not one of an array of rank " +
                   std::to_string(info.rank));
  type = {info.dtype, getDimsOfProgram(info.dims, info.rank, layout),
          std::move(layout)};
  return nullptr;
}

void *findLayoutObject(const ValueType &type) {
  return getLayoutObject(printLayout(type.layout, type.dims.size()));
}

void *describeArguments(Program &program) {
  const alula_executable *executable = program.loads.getAny();
  uint32_t count =
      alula_executable_get_argument_count(executable, program.function);
  program.donated.resize(count);
  program.argumentLayouts.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    alula_value_info info = {};
    info.struct_bytes = sizeof info;
    alula_executable_get_argument(executable, program.function, i, &info);
    ValueType type;
    if (void *error = readType(info, program.argumentLayouts[i], type))
      return error;
    program.argumentLayoutObjects.push_back(findLayoutObject(type));
    int64_t bytes = getBytes(type);
    program.arguments.push_back(std::move(type));
    program.argumentBytes += bytes;
    program.aliased.push_back(info.alias >= 0);
    // Memory that is taken over serves twice.
    if (info.alias >= 0 && program.donated[i])
      program.aliasBytes += bytes;
  }
  return nullptr;
}

void *describeResults(Program &program) {
  const alula_executable *executable = program.loads.getAny();
  uint32_t count =
      alula_executable_get_result_count(executable, program.function);
  program.resultLayouts.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    alula_value_info info = {};
    info.struct_bytes = sizeof info;
    alula_executable_get_result(executable, program.function, i, &info);
    ValueType type;
    if (void *error = readType(info, program.resultLayouts[i], type))
      return error;
    program.resultBytes += getBytes(type);
    program.resultTypeCodes.push_back(alula_dtype_get_pjrt(type.dtype));
    program.resultDims.insert(program.resultDims.end(), type.dims.begin(),
                              type.dims.end());
    program.resultRanks.push_back(type.dims.size());
    program.resultLayoutObjects.push_back(findLayoutObject(type));
    program.results.push_back(std::move(type));
  }
  return nullptr;
}

/// Symbols -> where arguments have what they stand for.
std::map<std::string, ArgumentDim> findSymbols(const Program &program) {
  std::map<std::string, ArgumentDim> symbols;
  for (size_t i = 0; i < program.arguments.size(); ++i) {
    const ValueType &type = program.arguments[i];
    for (size_t dim = 0; type.layout.empty() && dim < type.dims.size(); ++dim) {
      alula_dim_info info = {};
      info.struct_bytes = sizeof info;
      if (alula_executable_get_argument_dim(
              program.loads.getAny(), program.function,
              static_cast<uint32_t>(i), static_cast<uint32_t>(dim), &info) &&
          *info.symbol)
        symbols.try_emplace(info.symbol, ArgumentDim{i, dim});
    }
  }
  return symbols;
}

void findResultSizes(Program &program) {
  std::map<std::string, ArgumentDim> symbols = findSymbols(program);
  program.resultSizes.resize(program.results.size());
  for (size_t i = 0; i < program.results.size(); ++i) {
    const ValueType &type = program.results[i];
    for (size_t dim = 0; dim < type.dims.size(); ++dim) {
      if (type.dims[dim] >= 0)
        continue;
      alula_dim_info info = {};
      info.struct_bytes = sizeof info;
      bool isKnown =
          type.layout.empty() &&
          alula_executable_get_result_dim(
              program.loads.getAny(), program.function,
              static_cast<uint32_t>(i), static_cast<uint32_t>(dim), &info) &&
          *info.symbol;
      auto found = isKnown ? symbols.find(info.symbol) : symbols.end();
      if (found == symbols.end())
        program.hasComputedSizes = true;
      else
        program.resultSizes[i].emplace(dim, found->second);
    }
  }
}

/// The kinds as the API wants them; what is not known is the default.
void describeMemories(size_t count, std::vector<uint8_t> &memories,
                      std::vector<const char *> &kinds,
                      std::vector<size_t> &sizes) {
  memories.resize(count);
  for (uint8_t &memory : memories) {
    if (memory >= std::size(memoryKinds))
      memory = 0;
    kinds.push_back(memoryKinds[memory].data());
    sizes.push_back(memoryKinds[memory].size());
  }
}

double getCost(const Program &program, std::string_view name) {
  for (const Cost &cost : program.costs)
    if (cost.name == name)
      return cost.value;
  return 0;
}

void describeCosts(Program &program) {
  for (const Cost &cost : program.costs) {
    PJRT_NamedValue value = {};
    value.struct_size = sizeof value;
    value.name = const_cast<char *>(cost.name.data());
    value.name_size = cost.name.size();
    value.type = 3; // A float.
    value._anon5.float_value = static_cast<float>(cost.value);
    value.value_size = 1;
    program.costValues.push_back(value);
  }
  // Certainly less than what waking a thread up costs: a microsecond for loops,
  // some 30 for whatever else. Programs of more are timed.
  constexpr double leastWork = 100'000;
  double work = getCost(program, "flops") + getCost(program, "bytes accessed") +
                20 * getCost(program, "transcendentals");
  bool mayBeCheap =
      work < leastWork && !(program.flags & ALULA_PROGRAM_COLLECTIVE);
  bool callsBack = program.flags & ALULA_PROGRAM_CALLS_BACK;
  program.isCheap =
      mayBeCheap && !callsBack && !(program.flags & ALULA_PROGRAM_UNKNOWN_COST);
  program.callsHandlers = callsBack && !program.handlerCalls.isEmpty() &&
                          readPythonConfigs(program).empty();
  program.mayBeQuick = !program.isCheap &&
                       !(program.flags & ALULA_PROGRAM_COLLECTIVE) &&
                       (program.callsHandlers ? mayBeCheap : !callsBack);
}
} // namespace

Loads::~Loads() {
  for (auto &executable : byDevice)
    alula_executable_destroy(executable);
}

void Loads::start(alula_executable *loaded, const Place &place) {
  first = loaded;
  byDevice = std::vector<std::atomic<alula_executable *>>(place.deviceCount);
  byDevice[place.device] = loaded;
}

void *Loads::add(const Device &device, alula_executable *&executable) {
  std::lock_guard lock(mutex);
  auto &mine = byDevice[static_cast<size_t>(device.id)];
  executable = mine;
  if (executable)
    return nullptr;
  if (void *error = device.handlers->update())
    return error;
  if (alula_error *error =
          alula_executable_share(first, device.instance.get(), &executable))
    return makeError(error);
  mine.store(executable, std::memory_order_release);
  return nullptr;
}

Program::~Program() {
  if (python)
    python->unload(pythonConfigs);
}

namespace {
/// A program that was compiled elsewhere may call what nobody has registered
/// here.
void *makeLoadError(alula_error *failed) {
  auto *error = as<Error>(makeError(failed));
  if (error->code == ALULA_STATUS_NOT_FOUND)
    error->message += "; handlers are registered by "
                      "jax.ffi.register_ffi_target with platform='alula' or "
                      "platform='cpu'";
  return error;
}
} // namespace

void *alula::pjrt::loadProgram(const Place &place, Program &program) {
  std::string_view artifact = program.artifact.get();
  if (artifact.empty())
    return makeError(ALULA_STATUS_RESOURCE_EXHAUSTED,
                     "alula: no memory for the compiled program");
  alula_load_options options = {};
  options.struct_bytes = sizeof options;
  options.flags = ALULA_LOAD_BORROW | ALULA_LOAD_SKIP_DATA_HASH;
  alula_executable *executable = nullptr;
  if (void *error = place.handlers->update())
    return error;
  if (alula_error *error =
          alula_executable_load_memory(place.instance, artifact.data(),
                                       artifact.size(), &options, &executable))
    return makeLoadError(error);
  program.target = place.target;
  program.loads.start(executable, place);
  if (alula_error *error =
          alula_executable_find_function(executable, "main", &program.function))
    return makeError(error);
  if (void *error = program.handlerCalls.load(executable))
    return error;
  program.fingerprint = std::to_string(alula_executable_get_hash(executable));
  if (void *problem = describeArguments(program))
    return problem;
  if (void *problem = describeResults(program))
    return problem;
  describeMemories(program.arguments.size(), program.argumentMemories,
                   program.argumentKinds, program.argumentKindSizes);
  describeMemories(program.results.size(), program.resultMemories,
                   program.resultKinds, program.resultKindSizes);
  program.argumentShardings.describe();
  program.resultShardings.describe();
  describeCosts(program);
  readSizes(program);
  program.pythonConfigs = readPythonConfigs(program);
  if (!program.pythonConfigs.empty()) {
    program.python = place.python;
    place.python->load(program.pythonConfigs);
  }
  findResultSizes(program);
  return nullptr;
}

namespace {
/// A name as a number; unknown ones are the default memory.
uint8_t findMemory(std::string_view kind) {
  auto *found = std::find(std::begin(memoryKinds), std::end(memoryKinds), kind);
  return found == std::end(memoryKinds)
             ? uint8_t(0)
             : static_cast<uint8_t>(found - std::begin(memoryKinds));
}

void readInfo(const alula_program_info *info, Program &program) {
  program.name = alula_program_info_get_name(info);
  program.flags = alula_program_info_get_flags(info);
  const char *name;
  double value;
  for (uint32_t i = 0; alula_program_info_get_cost(info, i, &name, &value); ++i)
    program.costs.push_back({name, value});
  for (uint32_t i = 0; i < alula_program_info_get_argument_count(info); ++i)
    program.donated.push_back(alula_program_info_is_donated(info, i) != 0);
  for (uint32_t i = 0; i < alula_program_info_get_argument_count(info); ++i)
    program.argumentMemories.push_back(
        findMemory(alula_program_info_get_argument_memory(info, i)));
  for (uint32_t i = 0; i < alula_program_info_get_result_count(info); ++i)
    program.resultMemories.push_back(
        findMemory(alula_program_info_get_result_memory(info, i)));
  for (uint32_t i = 0; i < alula_program_info_get_argument_count(info); ++i)
    program.argumentLayouts.push_back(
        alula_program_info_get_argument_layout(info, i));
  for (uint32_t i = 0; i < alula_program_info_get_result_count(info); ++i)
    program.resultLayouts.push_back(
        alula_program_info_get_result_layout(info, i));
  for (uint32_t i = 0;
       const char *text = alula_program_info_get_argument_sharding(info, i);
       ++i)
    program.argumentShardings.messages.push_back(writeOpSharding(text));
  for (uint32_t i = 0;
       const char *text = alula_program_info_get_result_sharding(info, i); ++i)
    program.resultShardings.messages.push_back(writeOpSharding(text));
}

void readShownShardings(const alula_program_info *info, Program &program) {
  const void *request;
  size_t bytes;
  const char *text;
  for (uint32_t i = 0;
       alula_program_info_get_shown_sharding(info, i, &request, &bytes, &text);
       ++i)
    program.shownShardings.push_back(
        {{static_cast<const char *>(request), bytes}, writeOpSharding(text)});
}
} // namespace

namespace {
/// The first error: what is wrong, then where, which may take many lines.
struct FirstError {
  std::string text;

  static void hear(void *user, const alula_compile_diagnostic *said) {
    auto *self = static_cast<FirstError *>(user);
    if (!said->is_error || !self->text.empty())
      return;
    self->text = said->message;
    if (*said->location)
      self->text += std::string("\nat ") + said->location;
  }
  /// The function that a program calls and nobody has registered, or nothing.
  std::string getMissing() const {
    std::string_view mark = "nobody has announced: '";
    size_t begin = text.find(mark);
    if (begin == std::string::npos)
      return {};
    begin += mark.size();
    return text.substr(begin, text.find('\'', begin) - begin);
  }
  /// What the compiler has no code for is not the client's mistake.
  alula_status_code getCode(alula_status_code given) const {
    bool lacks = text.find("no native code") != std::string::npos;
    return lacks && given == ALULA_STATUS_INVALID_ARGUMENT
               ? ALULA_STATUS_UNIMPLEMENTED
               : given;
  }
};
} // namespace

namespace {
/// One run of the compiler.
struct Compilation {
  Compilation(const CompileOptions &options, const char *target,
              const char *until, const UnderWay &underWay)
      : takesHandlers(!target) {
    for (const std::string &asked : options.targets)
      targets.push_back(asked.c_str());
    if (targets.empty() && target)
      targets.push_back(target);
    given.struct_bytes = sizeof given;
    given.targets = targets.data();
    given.target_count = targets.size();
    for (const std::string &word : options.accuracy)
      accuracy.push_back(word.c_str());
    given.accuracy = accuracy.data();
    given.accuracy_count = accuracy.size();
    given.info = &info;
    given.until = until;
    given.on_diagnostic = FirstError::hear;
    given.user = &first;
    customCalls.push_back(pythonCallName);
    // Others' memory is not for handlers of the host.
    if (takesHandlers)
      handlerNames = ffi::Registry::get().getNames(0);
    for (const std::string &name : handlerNames)
      customCalls.push_back(name.c_str());
    given.custom_calls = customCalls.data();
    given.custom_call_count = customCalls.size();
    given.replica_count = static_cast<uint32_t>(options.replicas);
    given.partition_count = static_cast<uint32_t>(options.partitions);
    given.physical_layouts = 1;
    given.cancel = underWay.getFlag();
  }
  Compilation(const Compilation &) = delete;
  Compilation &operator=(const Compilation &) = delete;
  ~Compilation() {
    alula_program_info_destroy(info);
    alula_compile_free(result);
  }

  void *run(std::string_view source) {
    char *message = nullptr;
    alula_status_code code = alula_compile(source.data(), source.size(), &given,
                                           &result, &resultBytes, &message);
    void *error = nullptr;
    if (code != ALULA_STATUS_OK)
      error = explain(code, message);
    alula_compile_free(message);
    return error;
  }
  std::string_view getResult() const {
    return {static_cast<const char *>(result), resultBytes};
  }
  AlignedBytes takeResult() {
    return {std::exchange(result, nullptr), resultBytes};
  }

  void dumpTo(const Dump &dump) { given.dump_directory = dump.getFolder(); }
  void makeKernelFunctions() { given.kernels_as_functions = 1; }

  alula_program_info *info = nullptr;

private:
  void *explain(alula_status_code code, const char *message) const {
    std::string name = first.getMissing();
    if (!name.empty())
      return makeError(ALULA_STATUS_NOT_FOUND,
                       (takesHandlers ? ffi::explainMissing(name)
                                      : "handlers of XLA's FFI are called on "
                                        "the platform 'alula' alone") +
                           "\n" + first.text);
    return makeError(first.getCode(code), !first.text.empty() ? first.text
                                          : message           ? message
                                                    : "alula: out of memory");
  }

  const bool takesHandlers;
  std::vector<std::string> handlerNames;
  std::vector<const char *> targets, accuracy, customCalls;
  alula_compile_options given = {};
  FirstError first;
  void *result = nullptr;
  size_t resultBytes = 0;
};
} // namespace

void *alula::pjrt::compileProgram(const Place &place, std::string_view source,
                                  std::string_view optionBytes,
                                  const CompileOptions &options,
                                  std::shared_ptr<Program> &result) {
  auto program = std::make_shared<Program>();
  program->source = source;
  Dump dump(options.dumpTo);
  UnderWay underWay;
  // What each device runs, and how its arrays lie, is for clients to see.
  if (options.partitions > 1) {
    Compilation partition(options, place.target, "partition", underWay);
    partition.dumpTo(dump);
    if (void *error = partition.run(source))
      return error;
    readShownShardings(partition.info, *program);
    program->origin = std::move(program->source);
    program->source = partition.getResult();
  }
  Compilation compilation(options, place.target, nullptr, underWay);
  compilation.dumpTo(dump);
  void *failed = compilation.run(program->source);
  if (compilation.info)
    dump.setName(alula_program_info_get_name(compilation.info));
  if (failed)
    return failed;
  readInfo(compilation.info, *program);
  program->options = optionBytes;
  program->artifact = compilation.takeResult();
  if (void *error = loadProgram(place, *program))
    return error;
  // Too late for the compiler, and still nobody waits for it.
  if (underWay.isCancelled())
    return makeError(ALULA_STATUS_CANCELLED,
                     "alula: compilation was cancelled");
  result = std::move(program);
  return nullptr;
}

const Kernels &alula::pjrt::getKernels(Program &program) {
  std::call_once(program.kernelsKnown, [&] {
    CompileOptions options;
    // It was read before.
    delete as<Error>(readCompileOptions(program.options, options));
    UnderWay underWay;
    Compilation compilation(options, program.target, "dispatch", underWay);
    compilation.makeKernelFunctions();
    if (void *error = compilation.run(program.source))
      delete as<Error>(error);
    else
      program.kernels.text = compilation.getResult();
    // They are known even if they can't be functions.
    alula_kernel_info kernel = {};
    kernel.struct_bytes = sizeof kernel;
    for (uint32_t i = 0; compilation.info && alula_program_info_get_kernel(
                                                 compilation.info, i, &kernel);
         ++i)
      program.kernels.list.push_back(
          {kernel.name, kernel.operations, kernel.source_name, kernel.source,
           kernel.flops, kernel.transcendentals, kernel.bytes});
  });
  return program.kernels;
}
