// alula-compile: a StableHLO program in, one artifact out.

#include "compiler/driver/compile.h"
#include "compiler/driver/program.h"
#include "compiler/driver/registry.h"
#include "tools/compile/preprocess_flags.h"
#include "tools/compile/progress_line.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
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

using namespace mlir;
namespace cl = llvm::cl;
using alula::driver::Room;

namespace {
struct Options {
  cl::opt<std::string> input{cl::Positional, cl::init("-"),
                             cl::desc("<input file>")};
  cl::opt<std::string> output{"o", cl::init("-"), cl::value_desc("file"),
                              cl::desc("where to write, - is stdout")};
  cl::list<std::string> targets{
      "target", cl::value_desc("cpu[:machine]"),
      cl::desc("machine to make code for, repeatable, best first")};
  cl::list<std::string> customCalls{
      "custom-call", cl::value_desc("name"),
      cl::desc("a function that the runtime will be given, repeatable")};
  cl::opt<std::string> external{
      "externalize-constants", cl::value_desc("file.safetensors"),
      cl::desc("where large constants go instead of the artifact, which looks "
               "for a file of this name beside it")};
  cl::opt<uint64_t> externalBytes{
      "externalize-min-bytes", cl::init(65536), cl::value_desc("n"),
      cl::desc("the smallest constant that is large")};
  alula::tools::PreprocessFlags preprocess;
  cl::opt<std::string> dumpDirectory{
      "dump-dir", cl::value_desc("folder"),
      cl::desc("write the program after each room that changes it")};
  cl::opt<bool> time{"time", cl::desc("print the seconds of each room")};
  cl::opt<bool> verifyStages{"verify-stages",
                             cl::desc("verify the program after every pass")};
  cl::opt<Room> from{
      "from", cl::init(Room::Input), cl::desc("first room to run"),
      cl::values(clEnumValN(Room::Input, "input", "legal StableHLO"),
                 clEnumValN(Room::Optimize, "optimize", "less work"),
                 clEnumValN(Room::Partition, "partition", "one device"),
                 clEnumValN(Room::Dispatch, "dispatch", "kernels and host"),
                 clEnumValN(Room::Kernel, "kernel", "kernels as loops"),
                 clEnumValN(Room::Schedule, "schedule", "places for values"),
                 clEnumValN(Room::Target, "target", "machine code"),
                 clEnumValN(Room::Emit, "emit", "the artifact"))};
  cl::opt<Room> until{
      "until", cl::init(Room::Emit), cl::desc("last room to run"),
      cl::values(clEnumValN(Room::Input, "input", "legal StableHLO"),
                 clEnumValN(Room::Optimize, "optimize", "less work"),
                 clEnumValN(Room::Partition, "partition", "one device"),
                 clEnumValN(Room::Dispatch, "dispatch", "kernels and host"),
                 clEnumValN(Room::Kernel, "kernel", "kernels as loops"),
                 clEnumValN(Room::Schedule, "schedule", "places for values"),
                 clEnumValN(Room::Target, "target", "machine code"),
                 clEnumValN(Room::Emit, "emit", "the artifact"))};
};

int fail(const llvm::Twine &text) {
  llvm::errs() << "alula-compile: error: " << text << "\n";
  return 1;
}

volatile sig_atomic_t interrupted = 0;

/// The first signal ends in good order, the second at once.
void interrupt(int signal) {
  interrupted = signal;
  std::signal(signal, SIG_DFL);
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

using Write = function_ref<void(llvm::raw_ostream &)>;

llvm::Error writeChecked(StringRef path, llvm::raw_fd_ostream &os,
                         Write write) {
  write(os);
  os.flush();
  std::error_code code = os.error();
  os.clear_error();
  return code ? llvm::createFileError(path, code) : llvm::Error::success();
}

/// A file appears whole or not at all, and who has the old one mapped keeps it.
llvm::Error tryWriteFile(StringRef path, Write write) {
  bool isSpecial = path != "-" && llvm::sys::fs::exists(path) &&
                   !llvm::sys::fs::is_regular_file(path);
  if (!isSpecial)
    return llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
      return writeChecked(path, static_cast<llvm::raw_fd_ostream &>(os), write);
    });
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  return code ? llvm::createFileError(path, code)
              : writeChecked(path, os, write);
}

int writeFile(StringRef path, Write write) {
  if (llvm::Error error = tryWriteFile(path, write))
    return fail("can't write " + toString(std::move(error)));
  return 0;
}
} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  registerAsmPrinterCLOptions();
  registerPassManagerCLOptions();
  cl::ParseCommandLineOptions(argc, argv, "Alula's compiler\n");

  // Linking resets every command-line option of the process: lld does that.
  std::string outputFile = options.output, externalFile = options.external;
  Room until = options.until;
  Room from = options.from;
  bool printsTimes = options.time;

  alula::driver::CompileOptions compile;
  if (!options.targets.empty())
    compile.targets = options.targets;
  auto plan = options.preprocess.makePlan(compile.targets);
  if (!plan) {
    fail(toString(plan.takeError()));
    return 2;
  }
  compile.preprocess =
      std::make_shared<alula::preprocess::Plan>(std::move(*plan));

  std::string error;
  auto input = openInputFile(options.input, &error);
  if (!input)
    return fail(error);
  DialectRegistry registry;
  alula::driver::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(input->getMemBufferRef(),
                                       /*RequiresNullTerminator=*/false),
      llvm::SMLoc());
  SourceMgrDiagnosticHandler printer(sources, &context);

  compile.until = until;
  compile.from = from;
  compile.customCalls = options.customCalls;
  compile.dumpDirectory = options.dumpDirectory;
  compile.verifyStages |= options.verifyStages;
  if (!externalFile.empty())
    compile.externalFile = llvm::sys::path::filename(externalFile);
  compile.externalMinimumBytes = options.externalBytes;
  compile.setUpPasses = [](PassManager &pm) {
    return applyPassManagerCLOptions(pm);
  };
  compile.inputHash = llvm::utohexstr(llvm::xxh3_64bits(input->getBuffer()),
                                      /*LowerCase=*/true);
  std::vector<std::pair<Room, double>> times;
  compile.onTime = [&](Room room, double seconds) {
    times.emplace_back(room, seconds);
  };
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  compile.isCancelled = [] { return interrupted != 0; };

  alula::driver::CompileOutput output;
  OwningOpRef<ModuleOp> module;
  bool isGood;
  {
    alula::tools::ProgressLine line(until);
    // Asked first, it lets every diagnostic pass.
    ScopedDiagnosticHandler clearLine(&context, [&](Diagnostic &) {
      line.clear();
      return failure();
    });
    compile.onProgress = [&](const alula::driver::Progress &progress) {
      line.show(progress);
    };
    module = alula::driver::readProgram(
        llvm::MemoryBuffer::getMemBuffer(input->getMemBufferRef(),
                                         /*RequiresNullTerminator=*/false),
        &context);
    isGood =
        module && succeeded(alula::driver::compile(*module, compile, output));
  }
  if (interrupted) {
    fail("interrupted");
    return 128 + interrupted;
  }
  if (!isGood)
    return 1;
  if (printsTimes)
    printTimes(times);
  if (!externalFile.empty() && output.external.empty() && until == Room::Emit)
    llvm::errs() << "alula-compile: note: no constant has "
                 << compile.externalMinimumBytes << " bytes: '" << externalFile
                 << "' is not written\n";
  if (!output.external.empty())
    if (int status = writeFile(externalFile, [&](llvm::raw_ostream &os) {
          os << output.external;
        }))
      return status;
  return writeFile(outputFile, [&](llvm::raw_ostream &os) {
    if (until == Room::Emit)
      os << output.artifact;
    else
      module->print(os);
  });
}
