// alula-opt: reads a program, runs passes over it, writes it.

#include "compiler/driver/program.h"
#include "compiler/driver/registry.h"
#include "dialect/newer/source.h"
#include "dialect/vhlo/writer.h"
#include "reference/check/dialect.h"
#include "tools/opt/round_trip.h"
#include "tools/plugin/flags.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "mlir/Support/ToolUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace {
enum class Emit { Text, Generic, Bytecode, Portable, None };

struct Options {
  cl::opt<std::string> input{cl::Positional, cl::init("-"),
                             cl::desc("<input file>")};
  cl::opt<std::string> output{"o", cl::init("-"), cl::value_desc("file"),
                              cl::desc("where to write, - is stdout")};
  cl::opt<Emit> emit{
      "emit", cl::init(Emit::Text), cl::desc("form of the output"),
      cl::values(clEnumValN(Emit::Text, "text", "MLIR text"),
                 clEnumValN(Emit::Generic, "generic", "MLIR's generic text"),
                 clEnumValN(Emit::Bytecode, "bytecode", "MLIR's bytecode"),
                 clEnumValN(Emit::Portable, "portable",
                            "a StableHLO portable artifact"),
                 clEnumValN(Emit::None, "none", "nothing"))};
  cl::opt<std::string> targetVersion{
      "target-version", cl::init(alula::vhlo::Version::current().str()),
      cl::value_desc("x.y.z"),
      cl::desc("version of a portable artifact, or lowest")};
  cl::opt<bool> allowOtherDialects{
      "allow-other-dialects",
      cl::desc("let a portable artifact carry ops of other dialects")};
  cl::opt<std::string> roundTrip{
      "round-trip", cl::value_desc("list"),
      cl::desc("check the programs of a list: FILE, PREFIX, VERSION a line")};
  cl::opt<bool> splitInput{
      "split-input-file", cl::desc("treat parts between // ----- separately")};
  cl::opt<bool> verifyDiagnostics{
      "verify-diagnostics",
      cl::desc("compare diagnostics with expected-* comments")};
  cl::opt<bool> verifyEach{"verify-each", cl::init(true),
                           cl::desc("verify after each pass")};
  cl::opt<bool> allowUnregistered{
      "allow-unregistered-dialect",
      cl::desc("accept ops of dialects that nobody knows")};
};

LogicalResult writePortable(ModuleOp module, const Options &options,
                            llvm::raw_ostream &os) {
  alula::vhlo::WriteOptions write;
  write.allowOtherDialects = options.allowOtherDialects;
  if (options.targetVersion == "lowest") {
    auto lowest =
        alula::vhlo::lowestVersion(module, options.allowOtherDialects);
    if (failed(lowest))
      return failure();
    write.target = *lowest;
  } else if (auto version =
                 alula::vhlo::Version::parse(options.targetVersion)) {
    write.target = *version;
  } else {
    return emitError(UnknownLoc::get(module.getContext()))
           << "no such version: " << options.targetVersion;
  }
  std::string bytes;
  if (failed(alula::vhlo::writePortable(module, write, bytes)))
    return failure();
  os << bytes;
  return success();
}

LogicalResult write(ModuleOp module, const Options &options,
                    llvm::raw_ostream &os) {
  switch (options.emit) {
  case Emit::Text:
    alula::newer::printOperation(module, os);
    return success();
  case Emit::Generic:
    alula::newer::printOperation(module, os,
                                 OpPrintingFlags().printGenericOpForm());
    return success();
  case Emit::Bytecode:
    return writeBytecodeToFile(module, os);
  case Emit::Portable:
    return writePortable(module, options, os);
  case Emit::None:
    return success();
  }
  llvm_unreachable("every form is a case");
}

LogicalResult run(std::unique_ptr<llvm::MemoryBuffer> buffer,
                  MLIRContext *context, const Options &options,
                  const PassPipelineCLParser &passes, llvm::raw_ostream &os) {
  DefaultTimingManager timing;
  applyDefaultTimingManagerCLOptions(timing);
  TimingScope scope = timing.getRootScope();

  OwningOpRef<ModuleOp> module =
      alula::driver::readProgram(std::move(buffer), context);
  if (!module)
    return failure();
  PassManager pm(module->getContext());
  pm.enableVerifier(options.verifyEach);
  pm.enableTiming(scope);
  if (failed(applyPassManagerCLOptions(pm)))
    return failure();
  auto onError = [&](const Twine &message) {
    emitError(UnknownLoc::get(context)) << message;
    return failure();
  };
  if (failed(passes.addToPipeline(pm, onError)) || failed(pm.run(*module)))
    return failure();
  return write(*module, options, os);
}

/// One part of the input in a context of its own, so that parts don't share
/// symbols, types or diagnostics.
LogicalResult process(std::unique_ptr<llvm::MemoryBuffer> buffer,
                      const DialectRegistry &registry, const Options &options,
                      const PassPipelineCLParser &passes,
                      llvm::raw_ostream &os) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(options.allowUnregistered);
  context.printOpOnDiagnostic(!options.verifyDiagnostics);

  // The handlers need a buffer that outlives the parser's.
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(buffer->getMemBufferRef(),
                                       /*RequiresNullTerminator=*/false),
      llvm::SMLoc());
  auto copy = llvm::MemoryBuffer::getMemBuffer(
      buffer->getMemBufferRef(), /*RequiresNullTerminator=*/false);
  if (!options.verifyDiagnostics) {
    SourceMgrDiagnosticHandler handler(sources, &context);
    return run(std::move(copy), &context, options, passes, os);
  }
  SourceMgrDiagnosticVerifierHandler handler(sources, &context);
  // Whether it succeeds is not the question, whether it said what was expected.
  (void)run(std::move(copy), &context, options, passes, os);
  return handler.verify();
}
} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  alula::driver::registerDialects(registry);
  registry.insert<alula::reference::check::CheckDialect,
                  alula::reference::interpreter::InterpreterDialect>();
  alula::driver::registerPasses();
  alula::tools::PluginFlags plugins;
  llvm::Error wrong = plugins.load(argc, argv);
  if (!wrong)
    wrong = plugins.registerAll(registry);
  if (wrong) {
    llvm::errs() << "alula-opt: error: " << toString(std::move(wrong)) << "\n";
    return 2;
  }
  Options options;
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  PassPipelineCLParser passes("", "passes to run");
  cl::ParseCommandLineOptions(argc, argv, "Alula's pass runner\n");
  if (plugins.printList())
    return 0;

  if (!options.roundTrip.empty())
    return alula::opt::runRoundTrips(options.roundTrip, registry);

  std::string error;
  auto input = openInputFile(options.input, &error);
  if (!input) {
    llvm::errs() << "alula-opt: " << error << "\n";
    return 1;
  }
  auto output = openOutputFile(options.output, &error);
  if (!output) {
    llvm::errs() << "alula-opt: " << error << "\n";
    return 1;
  }
  auto processPart = [&](std::unique_ptr<llvm::MemoryBuffer> buffer,
                         llvm::raw_ostream &os) {
    return process(std::move(buffer), registry, options, passes, os);
  };
  StringRef marker = options.splitInput ? kDefaultSplitMarker : "";
  StringRef separator = options.splitInput ? "// -----" : "";
  if (failed(splitAndProcessBuffer(std::move(input), processPart, output->os(),
                                   marker, separator)))
    return 1;
  output->keep();
  return 0;
}
