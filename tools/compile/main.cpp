// alula-compile: a StableHLO program in, one artifact out.

#include "compiler/driver/cache.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/plugin_stages.h"
#include "compiler/driver/program.h"
#include "compiler/driver/registry.h"
#include "compiler/driver/saved_folder.h"
#include "compiler/driver/stages_dump.h"
#include "compiler/driver/stages_file.h"
#include "compiler/driver/targets.h"
#include "compiler/plugin/hook.h"
#include "compiler/plugin/stage.h"
#include "tools/compile/preprocess_flags.h"
#include "tools/compile/stage_flags.h"
#include "tools/compile/stage_text.h"
#include "tools/compile/tool.h"
#include "tools/options/answer.h"
#include "tools/plugin/flags.h"
#include "tools/progress/progress_line.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/xxhash.h"

#include <csignal>
#include <unistd.h>

using namespace mlir;
namespace cl = llvm::cl;
using alula::driver::Flag;
using alula::driver::Room;

namespace {
struct Options {
  cl::opt<std::string> input{cl::Positional, cl::init("-"),
                             cl::desc("<input file>")};
  alula::tools::One<std::string> output{Flag::Output, cl::init("-")};
  alula::tools::TableFlags table;
  alula::tools::PluginFlags plugins;
  alula::tools::PreprocessFlags preprocess;
  alula::tools::StageFlags stages;
  alula::tools::One<bool> log{Flag::Log}, time{Flag::Time};
};

int fail(const llvm::Twine &text) {
  llvm::errs() << "alula-compile: error: " << text << "\n";
  return 1;
}

volatile sig_atomic_t interrupted = 0;
/// Set while stages run, which look whether they have been interrupted.
volatile sig_atomic_t isPolled = 0;

/// What asks often whether to go on has ended long before; one pass of LLVM may
/// take minutes.
constexpr unsigned secondsToEnd = 2;

void endAtOnce(int) {
  const char text[] = "alula-compile: error: interrupted\n";
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  _exit(128 + interrupted);
}

/// The first signal ends in good order, the second at once; but nobody looks
/// while a program is being read, and who knows when a plugin comes back.
void interrupt(int signal) {
  if (const char *hook = alula::plugin::getCurrentHook()) {
    for (const char *text :
         {"alula-compile: error: interrupted in ", hook, "\n"})
      (void)!write(STDERR_FILENO, text, strlen(text));
    _exit(128 + signal);
  }
  if (!isPolled)
    _exit(128 + signal);
  interrupted = signal;
  std::signal(signal, SIG_DFL);
  std::signal(SIGALRM, endAtOnce);
  alarm(secondsToEnd);
}

/// The status; once a plugin has crashed, nothing more must run.
int endWithError(const alula::driver::CompileOptions &compile) {
  if (!compile.plugins || !compile.plugins->hasCrashed)
    return 1;
  llvm::errs().flush();
  _exit(70);
}

/// Whether a stage that has failed with an error is wrong, not the program: it
/// leaves one that is invalid, or it comes after those that say what can't be
/// compiled, before the one that knows machines, and nobody else has had the
/// kernels.
bool isOwnFault(ModuleOp module, Room room,
                const alula::driver::CompileOptions &compile) {
  bool isOwn =
      llvm::none_of(compile.record.options, [](const std::string &word) {
        StringRef name = alula::driver::getFlagName(word);
        return name == "preprocess-executables-with" ||
               name.starts_with("substitute-");
      });
  // Not every program can do without a runtime.
  isOwn &= room != Room::Emit ||
           compile.outputForm == alula::driver::OutputForm::Artifact;
  // A plan may be somebody else's, if this began with it.
  isOwn &= room != Room::Kernel || compile.completed != Room::Plan;
  if (isOwn && (room == Room::Plan || room == Room::Kernel ||
                room == Room::Schedule || room == Room::Emit))
    return true;
  ScopedDiagnosticHandler silence(module.getContext(),
                                  [](Diagnostic &) { return success(); });
  return failed(verify(module));
}

void printTimes(ArrayRef<std::pair<Room, double>> times) {
  double sum = 0;
  for (auto [room, seconds] : times)
    sum += seconds;
  for (auto [room, seconds] : times)
    llvm::errs() << llvm::format("%10.4f s %5.1f%%  ", seconds,
                                 sum > 0 ? seconds * 100 / sum : 0)
                 << alula::driver::getRoomName(room) << "\n";
  llvm::errs() << llvm::format("%10.4f s 100.0%%  all\n", sum);
}

int writeFile(StringRef path, function_ref<void(llvm::raw_ostream &)> write) {
  if (llvm::Error error = alula::driver::writeWhole(path, write)) {
    fail("can't write " + toString(std::move(error)));
    return alula::options::NoFile;
  }
  return 0;
}

/// What the flags ask for, wherever they come from.
llvm::Expected<alula::driver::CompileOptions>
makeOptions(const Options &options, const alula::tools::CommandLine &line) {
  alula::driver::CompileOptions compile;
  if (llvm::Error error = options.table.apply(compile))
    return std::move(error);
  if (llvm::Error error = options.stages.apply(compile))
    return std::move(error);
  alula::driver::settleTargets(
      compile.targets, compile.outputForm == alula::driver::OutputForm::C
                           ? "cpu:c99"
                           : "cpu:portable");
  auto session = options.plugins.createSession();
  if (!session)
    return session.takeError();
  compile.plugins = std::move(*session);
  auto plan = options.preprocess.makePlan(compile.targets);
  if (!plan)
    return plan.takeError();
  alula::driver::addPluginStep(compile.plugins, *plan);
  compile.preprocess =
      std::make_shared<alula::preprocess::Plan>(std::move(*plan));
  compile.record.options = line.getRecorded();
  compile.record.plugins = alula::driver::describePlugins(compile);
  // Whoever goes on may have another default, or another machine.
  if (options.table.getValues(Flag::Target).empty())
    for (const std::string &target : compile.targets)
      compile.record.options.push_back("--target=" + target);
  return compile;
}

/// Takes over what `module` says of how it came about; changes nothing if it
/// says nothing.
llvm::Error resume(ModuleOp module, const Options &options,
                   alula::tools::CommandLine &line,
                   alula::driver::CompileOptions &compile) {
  auto resumption = alula::driver::takeRecord(module);
  if (!resumption)
    return resumption.takeError();
  if (!*resumption)
    return llvm::Error::success();
  if (llvm::Error error =
          alula::driver::checkPlugins((*resumption)->record.plugins, compile))
    return error;
  if (llvm::Error error = line.parseAgain(
          **resumption, options.stages.overrides, compile.preprocessAgain))
    return error;
  auto again = makeOptions(options, line);
  if (!again)
    return again.takeError();
  compile = std::move(*again);
  compile.record.inputHash = (*resumption)->record.inputHash;
  return options.stages.applyStart(*resumption, compile);
}

/// Of NAME.a, as of NAME, all files are to be called NAME.
std::string dropEnding(StringRef output) {
  for (StringRef ending : {".a", ".blob", ".c", ".h", ".json"})
    output.consume_back(ending);
  return output.str();
}

/// A file's name as names in C begin.
std::string makePrefix(StringRef output) {
  std::string name;
  for (char c : llvm::sys::path::filename(output))
    name += llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name.front()))
    name = "_" + name;
  return name;
}

/// Beside the artifact, unless the caller says where.
std::string findExternalFile(const Options &options,
                             const alula::tools::CommandLine &line) {
  auto given = options.table.getValues(Flag::External);
  std::string file = given.empty() ? "" : given.back();
  if (!line.isFromRecord("externalize-constants") || options.output == "-")
    return file;
  llvm::SmallString<128> path = llvm::sys::path::parent_path(options.output);
  llvm::sys::path::append(path, file);
  return path.str().str();
}
} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // A file that may not become larger is an error like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  Options options;
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  DialectRegistry registry;
  alula::driver::registerDialects(registry);
  llvm::Error wrong = options.plugins.load(argc, argv);
  if (!wrong)
    wrong = options.plugins.registerAll(registry);
  const alula::options::Tool tool = alula::tools::makeTool(options.plugins);
  if (auto status = alula::options::answer(tool, argc, argv)) {
    consumeError(std::move(wrong));
    return *status;
  }
  if (wrong) {
    fail(toString(std::move(wrong)));
    return 2;
  }
  alula::tools::CommandLine line(argc, argv);
  if (!line.parse(tool))
    return alula::options::WrongUsage;
  if (options.plugins.printList())
    return 0;
  auto made = makeOptions(options, line);
  if (!made) {
    fail(toString(made.takeError()));
    return 2;
  }
  alula::driver::CompileOptions compile = std::move(*made);
  if (options.stages.printStages)
    return writeFile(options.output, [&](llvm::raw_ostream &os) {
      os << options.stages.describeStages(compile);
    });

  std::string error;
  // A folder is read as a whole; it is not quoted.
  bool isFolder = llvm::sys::fs::is_directory(options.input);
  auto input = isFolder ? llvm::MemoryBuffer::getMemBuffer("", options.input)
                        : openInputFile(options.input, &error);
  if (!input) {
    fail(error);
    return alula::options::NoFile;
  }
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(input->getMemBufferRef(),
                                       /*RequiresNullTerminator=*/false),
      llvm::SMLoc());
  SourceMgrDiagnosticHandler printer(sources, &context);
  compile.record.inputHash =
      llvm::utohexstr(isFolder ? alula::driver::hashSavedFolder(options.input)
                               : llvm::xxh3_64bits(input->getBuffer()),
                      /*LowerCase=*/true);

  // Asked first, it lets every diagnostic pass.
  alula::tools::StageText stageText(compile.until);
  std::unique_ptr<alula::tools::ProgressLine> progressLine;
  bool isExplained = false, isTagged = false;
  ScopedDiagnosticHandler clearLine(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      isTagged |= StringRef(diagnostic.str()).starts_with("[");
      isExplained = true;
    }
    if (progressLine)
      progressLine->clear();
    return failure();
  });
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  progressLine = std::make_unique<alula::tools::ProgressLine>(
      [&] { return stageText.get(); });
  OwningOpRef<ModuleOp> module;
  if (isFolder)
    module = alula::driver::readSavedFolder(options.input, &context);
  else if (auto program = alula::driver::detectByPlugins(
               input->getMemBufferRef(), &context, compile))
    module = alula::driver::readProgram(std::move(program), &context);
  if (!module)
    return endWithError(compile);
  if (llvm::Error problem = resume(*module, options, line, compile)) {
    progressLine.reset();
    fail(toString(std::move(problem)));
    return 2;
  }

  stageText.setLast(compile.until);
  bool isStatic = compile.outputForm != alula::driver::OutputForm::Artifact &&
                  compile.until == Room::Emit;
  if (isStatic && options.output == "-") {
    progressLine.reset();
    fail("--emit=" + getOption(compile, Flag::OutputForm).front() +
         " writes several files: -o NAME says how they begin");
    return alula::options::WrongUsage;
  }
  bool isBinary = compile.until == Room::Emit ||
                  !options.table.getValues(Flag::Bytecode).empty();
  if (isBinary && alula::options::isOnTerminal(options.output.getValue())) {
    progressLine.reset();
    fail(alula::options::refuseTerminal(
        compile.until == Room::Emit ? "the artifact" : "bytecode",
        "-o FILE writes it"));
    return alula::options::WrongUsage;
  }

  auto reproducer = options.stages.makeReproducer(
      line, compile, options.input, input->getBuffer(),
      options.table.getValues(Flag::CompileFrom));
  if (reproducer)
    reproducer->writeOnCrash();
  bool isReproduced = !options.stages.reproducer.empty();

  // Linking resets every command-line option of the process: lld does that.
  std::string outputFile = options.output;
  std::string externalFile = findExternalFile(options, line);
  bool printsTimes = options.time;
  std::vector<std::pair<Room, double>> times;
  if (isStatic) {
    outputFile = dropEnding(outputFile);
    if (compile.symbolPrefix.empty())
      compile.symbolPrefix = makePrefix(outputFile);
  }
  compile.onTime = [&](Room room, double seconds) {
    times.emplace_back(room, seconds);
  };
  if (options.log)
    compile.onLog = [&](const llvm::Twine &text) {
      progressLine->clear();
      llvm::errs() << text << "\n";
    };
  Room room = Room::Input;
  compile.onProgress = [&](const alula::driver::Progress &progress) {
    if (progressLine->isActive())
      stageText.set(progress);
    room = progress.room;
    if (reproducer)
      reproducer->setRoom(room);
  };
  compile.isCancelled = [] { return interrupted != 0; };
  isPolled = 1;

  alula::driver::CompileOutput output;
  // A folder is no bytes.
  llvm::SmallVector<StringRef, 1> bytes;
  if (!isFolder)
    bytes.push_back(input->getBuffer());
  bool isGood = succeeded(
      alula::driver::compileOrRecall(*module, bytes, compile, output));
  progressLine.reset();
  if (interrupted) {
    fail("interrupted");
    return 128 + interrupted;
  }
  if (!isGood && !isExplained)
    fail("stage '" + alula::driver::getRoomName(room) +
         "' has failed and doesn't say why: a bug of the compiler");
  if (!isGood && reproducer &&
      (isReproduced || !isExplained ||
       (!isTagged && isOwnFault(*module, room, compile))))
    reproducer->write();
  if (!isGood)
    return endWithError(compile);
  if (printsTimes)
    printTimes(times);
  if (compile.until != Room::Emit)
    return writeFile(outputFile, [&](llvm::raw_ostream &os) {
      alula::driver::writeStage(*module, compile.until, compile, outputFile,
                                os);
    });
  if (isStatic) {
    for (const alula::driver::OutputFile &file : output.files)
      if (int status =
              writeFile(outputFile + file.ending,
                        [&](llvm::raw_ostream &os) { os << file.bytes; }))
        return status;
    return 0;
  }
  if (!externalFile.empty() && output.external.empty())
    llvm::errs() << "alula-compile: note: no constant has "
                 << compile.externalMinimumBytes << " bytes: '" << externalFile
                 << "' is not written\n";
  if (!output.external.empty())
    if (int status = writeFile(externalFile, [&](llvm::raw_ostream &os) {
          os << output.external;
        }))
      return status;
  return writeFile(outputFile,
                   [&](llvm::raw_ostream &os) { os << output.artifact; });
}
