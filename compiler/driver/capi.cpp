// The C functions of alula/compiler.h.

#include "alula/artifact.h"
#include "alula/compiler.h"

#include "compiler/driver/cache.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/contexts.h"
#include "compiler/driver/initial_values.h"
#include "compiler/driver/kernel_functions.h"
#include "compiler/driver/plugin_stages.h"
#include "compiler/driver/program.h"
#include "compiler/driver/program_info.h"
#include "compiler/driver/registry.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/stages_dump.h"
#include "compiler/driver/targets.h"
#include "compiler/partition/layout_mode.h"
#include "compiler/plugin/loader.h"
#include "compiler/plugin/options.h"
#include "compiler/plugin/stage.h"
#include "compiler/preprocess/plan.h"

#include "dialect/stablehlo/device_counts.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

using namespace mlir;

namespace {
/// Options as this version knows them, whatever the caller's version is.
alula_compile_options readOptions(const alula_compile_options *given) {
  alula_compile_options options = {};
  if (given)
    memcpy(&options, given, std::min(given->struct_bytes, sizeof options));
  return options;
}

std::string describe(Location location) {
  if (isa<UnknownLoc>(location))
    return "";
  std::string text = debugString(location);
  // loc("file":1:2) → "file":1:2
  StringRef inner = text;
  if (inner.consume_front("loc(") && inner.consume_back(")"))
    return inner.str();
  return text;
}

/// Memory that alula_compile_free releases; null if there is none.
void *copyOut(StringRef bytes) {
  size_t room = llvm::alignTo(bytes.size() + 1, ALULA_ALIGNMENT);
  auto *memory = static_cast<char *>(aligned_alloc(ALULA_ALIGNMENT, room));
  if (!memory)
    return nullptr;
  memcpy(memory, bytes.data(), bytes.size());
  memory[bytes.size()] = '\0';
  return memory;
}

struct Listener {
  explicit Listener(const alula_compile_options &options) : options(options) {}

  LogicalResult hear(Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
    std::string location = describe(diagnostic.getLocation());
    std::string message = diagnostic.str();
    if (isError && firstError.empty())
      firstError = location.empty() ? message : location + ": " + message;
    if (options.on_diagnostic) {
      alula_compile_diagnostic said = {sizeof said, isError, location.c_str(),
                                       message.c_str()};
      options.on_diagnostic(options.user, &said);
    }
    return success();
  }

  const alula_compile_options &options;
  std::string firstError;
};
} // namespace

/// Loads the caller's plugins and makes their session.
static llvm::Error addPlugins(const alula_compile_options &options,
                              alula::driver::CompileOptions &compile) {
  if (!options.plugin_count && !options.plugin_setting_count)
    return llvm::Error::success();
  alula::plugin::LoadOptions load;
  load.files.assign(options.plugins, options.plugins + options.plugin_count);
  load.noDefaults = true;
  std::vector<alula::plugin::OptionSetting> settings;
  for (size_t i = 0; i < options.plugin_setting_count; ++i) {
    auto setting = alula::plugin::readSetting(options.plugin_settings[i]);
    if (!setting)
      return setting.takeError();
    settings.push_back(*setting);
  }
  // There is one list of passes for all threads.
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  auto set = alula::plugin::loadPlugins(load);
  if (!set)
    return set.takeError();
  if (llvm::Error error = alula::plugin::registerPasses(**set))
    return error;
  auto session = alula::plugin::Session::create(*set, settings);
  if (!session)
    return session.takeError();
  (*session)->say = [&options](uint32_t, StringRef text) {
    std::string message = text.str();
    alula_compile_diagnostic said = {sizeof said, 0, "", message.c_str()};
    if (options.on_diagnostic)
      options.on_diagnostic(options.user, &said);
  };
  compile.plugins = *session;
  compile.record.plugins = alula::driver::describePlugins(compile);
  return llvm::Error::success();
}

namespace {
/// Takes the fields of the C struct one after the other; those without a flag
/// are for whoever calls the driver.
struct FieldReader {
  alula::driver::CompileOptions &compile;
  llvm::Error error = llvm::Error::success();
  const char *const *texts = nullptr;

  void set(StringRef flag, StringRef value) {
    const alula::driver::FlagRow *row = alula::driver::findFlag(flag);
    if (!error && row && row->kind != alula::driver::FlagKind::Own)
      error = alula::driver::setOption(compile, row->flag, value);
  }
  void read(StringRef flag, const char *text) {
    if (text)
      set(flag, text);
  }
  /// Its count is the next field.
  void read(StringRef, const char *const *list) { texts = list; }
  void read(StringRef flag, size_t count) {
    for (size_t i = 0; texts && i < count; ++i)
      set(flag, texts[i]);
    texts = nullptr;
  }
  void read(StringRef flag, int isOn) {
    if (isOn)
      set(flag, "");
  }
  void readNumber(StringRef flag, uint64_t number) {
    if (number)
      set(flag, std::to_string(number));
  }
};
} // namespace

/// Those that are flags of the driver's table.
static llvm::Error setOptions(const alula_compile_options &options,
                              alula::driver::CompileOptions &compile) {
  FieldReader reader{compile};
#define READ_OPTION(kind, type, name, flag) READ_##kind(name, flag)
#define READ_TEXT(name, flag) reader.read(flag, options.name);
#define READ_TEXTS(name, flag) reader.read(flag, options.name);
#define READ_COUNT(name, flag) reader.read(flag, options.name);
#define READ_SWITCH(name, flag) reader.read(flag, options.name);
#define READ_NUMBER(name, flag) reader.readNumber(flag, options.name);
#define READ_OTHER(name, flag)
  ALULA_FOR_EACH_COMPILE_OPTION(READ_OPTION)
#undef READ_OPTION
#undef READ_TEXT
#undef READ_TEXTS
#undef READ_COUNT
#undef READ_SWITCH
#undef READ_NUMBER
#undef READ_OTHER
  return std::move(reader.error);
}

const char *alula_compiler_get_version(void) {
  static const std::string version =
      (alula::driver::compilerVersion + ", LLVM " LLVM_VERSION_STRING).str();
  return version.c_str();
}

const char *alula_compile_options_get_layout(void) {
#define PRINT_OPTION(kind, type, name, flag) #type " " #name ";"
  return "size_t struct_bytes;" ALULA_FOR_EACH_COMPILE_OPTION(PRINT_OPTION);
#undef PRINT_OPTION
}

/// The options as the driver wants them; false if one is wrong.
static bool convertOptions(const alula_compile_options &options,
                           alula::driver::CompileOptions &compile,
                           std::string &error) {
  using alula::driver::Room;
  if (llvm::Error problem = setOptions(options, compile)) {
    error = llvm::toString(std::move(problem));
    return false;
  }
  // What it tells of shardings is known once the program has been compiled.
  if (options.info && !compile.cache.empty()) {
    error = "[stage-usage] cache_directory: not with info";
    return false;
  }
  alula::driver::settleTargets(compile.targets, "cpu:host");
  if (llvm::Error problem = addPlugins(options, compile)) {
    error = llvm::toString(std::move(problem));
    return false;
  }
  if (options.preprocess_step_count) {
    alula::preprocess::Options preprocess;
    preprocess.steps.assign(options.preprocess_steps,
                            options.preprocess_steps +
                                options.preprocess_step_count);
    preprocess.targets = compile.targets;
    // Only pipelines ask for them, and there is one list for all threads.
    static std::once_flag once;
    std::call_once(once, alula::driver::registerPasses);
    auto plan = alula::preprocess::makePlan(std::move(preprocess));
    if (!plan) {
      error = llvm::toString(plan.takeError());
      return false;
    }
    for (const std::string &flag : plan->getFlags())
      compile.record.options.push_back(flag);
    compile.preprocess =
        std::make_shared<alula::preprocess::Plan>(std::move(*plan));
  }
  if (compile.plugins) {
    auto plan =
        compile.preprocess
            ? std::make_shared<alula::preprocess::Plan>(*compile.preprocess)
            : std::make_shared<alula::preprocess::Plan>();
    alula::driver::addPluginStep(compile.plugins, *plan);
    compile.preprocess = std::move(plan);
  }
  llvm::append_range(compile.record.options,
                     alula::driver::recordOptions(compile));
  if (options.cancel)
    compile.isCancelled = [&options] { return *options.cancel != 0; };
  if (options.on_time)
    compile.onTime = [&options](Room room, double seconds) {
      options.on_time(options.user, alula::driver::getRoomName(room).data(),
                      seconds);
    };
  if (options.on_progress)
    compile.onProgress = [&options, until = compile.until](
                             const alula::driver::Progress &progress) {
      std::string step = progress.step.str();
      alula_compile_progress said = {
          sizeof said,
          alula::driver::getRoomName(progress.room).data(),
          static_cast<uint32_t>(progress.room) + 1,
          static_cast<uint32_t>(until) + 1,
          step.c_str(),
          progress.done,
          progress.total};
      options.on_progress(options.user, &said);
    };
  return true;
}

/// The counts of devices, for the rooms that ask the program.
static void setCounts(ModuleOp module, const alula_compile_options &options) {
  auto set = [&](StringRef name, uint32_t count) {
    if (count)
      module->setAttr(name,
                      Builder(module.getContext())
                          .getI32IntegerAttr(static_cast<int32_t>(count)));
  };
  set(stablehlo::replicaCountName, options.replica_count);
  set(stablehlo::partitionCountName, options.partition_count);
}

/// A module that says which stages it has been through goes on behind them,
/// with the options that it was begun with.
static LogicalResult goOn(ModuleOp module,
                          alula::driver::CompileOptions &compile) {
  auto resumption = alula::driver::takeRecord(module);
  auto fail = [&](const llvm::Twine &text) {
    return module.emitError() << "'builtin.module': " << text;
  };
  if (!resumption)
    return fail(llvm::toString(resumption.takeError()));
  if (!*resumption)
    return success();
  const auto &[stage, was] = **resumption;
  if (llvm::Error error = alula::driver::checkPlugins(was.plugins, compile))
    return fail(llvm::toString(std::move(error)));
  std::vector<std::string> begun = was.options, now = compile.record.options;
  llvm::append_range(begun, was.spent);
  llvm::sort(begun);
  llvm::sort(now);
  if (begun != now)
    return fail("[stage-conflict] was begun with " + llvm::join(begun, " ") +
                ", not with " + llvm::join(now, " "));
  if (stage > compile.until)
    return fail("[stage-usage] it has been through '" +
                alula::driver::getRoomName(stage) + "', which is behind '" +
                alula::driver::getRoomName(compile.until) + "'");
  compile.completed = stage;
  compile.record.inputHash = was.inputHash;
  return success();
}

/// Reads and compiles; what alula_compile gives, or nothing after an error.
static std::optional<std::string>
compileIn(MLIRContext &context, StringRef input,
          const alula_compile_options &options,
          alula::driver::CompileOptions &compile, Listener &listener) {
  context.printOpOnDiagnostic(false);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    return listener.hear(diagnostic);
  });
  // A text is read up to a zero; bytecode may be large, and its size is known.
  OwningOpRef<ModuleOp> module = alula::driver::readProgram(
      input.starts_with("ML\xefR")
          ? llvm::MemoryBuffer::getMemBuffer(input, "program",
                                             /*RequiresNullTerminator=*/false)
          : llvm::MemoryBuffer::getMemBufferCopy(input, "program"),
      &context);
  if (module && failed(goOn(*module, compile)))
    return std::nullopt;
  if (module)
    setCounts(*module, options);
  // The info tells what is chosen. A program that goes on has been here before.
  if (module && compile.physicalLayouts && !compile.completed &&
      failed(alula::partition::resolveLayouts(*module)))
    return std::nullopt;
  if (module && options.info)
    *options.info = alula::driver::inspectProgram(*module);
  std::vector<alula::driver::InitialValue> values;
  std::vector<StringRef> sources{input};
  for (size_t i = 0; i < options.value_count; ++i) {
    values.push_back({options.values[i].name,
                      {static_cast<const char *>(options.values[i].data),
                       options.values[i].bytes}});
    sources.push_back(values.back().name);
    sources.emplace_back(values.back().bytes.data(),
                         values.back().bytes.size());
  }
  alula::driver::CompileOutput output;
  if (!module || failed(alula::driver::setInitialValues(*module, values)) ||
      failed(alula::driver::compileOrRecall(*module, sources, compile, output)))
    return std::nullopt;
  if (options.info)
    alula::driver::takeShownShardings(*module, **options.info);
  if (compile.until == alula::driver::Room::Dispatch) {
    if (options.info)
      alula::driver::addKernels(*module, **options.info);
    if (options.kernels_as_functions) {
      // Clients whose XLA reads it know no functions of chlo, as torch_xla's.
      PassManager pm(module->getContext());
      alula::driver::addPortableForm(pm);
      if (failed(alula::driver::makeKernelFunctions(*module)) ||
          failed(pm.run(*module)))
        return std::nullopt;
      return alula::driver::printWithLocations(*module);
    }
  }
  if (compile.until != alula::driver::Room::Emit) {
    std::string text;
    llvm::raw_string_ostream os(text);
    alula::driver::writeStage(*module, compile.until, compile, "program.mlir",
                              os);
    return text;
  }
  if (options.on_external && !output.external.empty())
    options.on_external(options.user, output.external.data(),
                        output.external.size());
  return std::move(output.artifact);
}

static std::optional<std::string>
compileProgram(StringRef input, const alula_compile_options &options,
               alula::driver::CompileOptions &compile, Listener &listener) {
  // Others may do to a context what they like.
  if (compile.plugins || compile.preprocess) {
    DialectRegistry registry;
    alula::driver::registerDialects(registry);
    if (compile.plugins)
      if (llvm::Error error =
              alula::plugin::addDialects(compile.plugins->getSet(), registry)) {
        listener.firstError = llvm::toString(std::move(error));
        return std::nullopt;
      }
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    return compileIn(context, input, options, compile, listener);
  }
  alula::driver::ContextLease context;
  auto result = compileIn(*context, input, options, compile, listener);
  if (result)
    context.giveBack(input.size() + result->size());
  return result;
}

/// Of the program and the values beside it.
static std::string hashInput(StringRef input,
                             const alula_compile_options &options) {
  uint64_t hash = llvm::xxh3_64bits(input);
  for (size_t i = 0; i < options.value_count; ++i) {
    const alula_compile_value &value = options.values[i];
    uint64_t parts[] = {
        hash, llvm::xxh3_64bits(StringRef(value.name)),
        llvm::xxh3_64bits(
            StringRef(static_cast<const char *>(value.data), value.bytes))};
    hash = llvm::xxh3_64bits(
        StringRef(reinterpret_cast<const char *>(parts), sizeof parts));
  }
  return llvm::utohexstr(hash, /*LowerCase=*/true);
}

alula_status_code alula_compile(const void *program, size_t program_bytes,
                                const alula_compile_options *given,
                                void **artifact, size_t *artifact_bytes,
                                char **message) {
  alula_compile_options options = readOptions(given);
  alula::driver::CompileOptions compile;
  Listener listener(options);
  std::optional<std::string> result;
  if (!artifact || !artifact_bytes || (!program && program_bytes))
    listener.firstError = "alula_compile: an argument is null";
  else if (convertOptions(options, compile, listener.firstError)) {
    StringRef input(static_cast<const char *>(program), program_bytes);
    compile.record.inputHash = hashInput(input, options);
    result = compileProgram(input, options, compile, listener);
  }
  void *bytes = result ? copyOut(*result) : nullptr;
  if (bytes) {
    *artifact = bytes;
    *artifact_bytes = result->size();
    return ALULA_STATUS_OK;
  }
  alula_status_code code = ALULA_STATUS_INVALID_ARGUMENT;
  if (result) {
    listener.firstError = "out of memory";
    code = ALULA_STATUS_RESOURCE_EXHAUSTED;
  } else if (options.cancel && *options.cancel) {
    listener.firstError = "compilation was cancelled";
    code = ALULA_STATUS_CANCELLED;
  }
  if (message)
    *message = static_cast<char *>(copyOut(listener.firstError));
  return code;
}

void alula_compile_free(void *memory) { free(memory); }
