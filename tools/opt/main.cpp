// alula-opt: reads a program, runs passes over it, writes it.

#include "compiler/driver/program.h"
#include "compiler/driver/registry.h"
#include "compiler/driver/stages.h"
#include "dialect/newer/source.h"
#include "dialect/vhlo/writer.h"
#include "reference/check/dialect.h"
#include "tools/flags/listing.h"
#include "tools/opt/round_trip.h"
#include "tools/options/answer.h"
#include "tools/plugin/flags.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "mlir/Support/ToolUtilities.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace {
enum class Emit { Text, Generic, Bytecode, Portable, None };

constexpr const char *io = "What is read and written", *how = "How";
constexpr alula::options::Option rows[] = {
    {"o", "file", io, "where to write, - is stdout"},
    {"emit", "text|generic|bytecode|portable|none", io, "form of the output"},
    {"target-version", "x.y.z", io,
     "version of a portable artifact, or lowest"},
    {"allow-other-dialects", "", io,
     "let a portable artifact carry ops of other dialects"},
    {"round-trip", "file", io,
     "check the programs of a list: FILE, PREFIX, VERSION a line"},
    {"pass-pipeline", "pipeline", how,
     "passes with their options, as builtin.module(canonicalize)"},
    {"split-input-file", "", how, "treat parts between // ----- separately"},
    {"verify-diagnostics", "", how,
     "compare diagnostics with expected-* comments"},
    {"verify-each", "true|false", how, "verify after each pass (true)",
     alula::options::Takes::MaybeValue},
    {"allow-unregistered-dialect", "", how,
     "accept ops of dialects that nobody knows"},
};
constexpr const alula::options::Option &getRow(std::string_view name) {
  for (const alula::options::Option &row : rows)
    if (name == row.name)
      return row;
  llvm_unreachable("every flag has a row");
}

struct Options {
  template <typename T> using Own = alula::tools::Own<T>;
  cl::opt<std::string> input{cl::Positional, cl::init("-"),
                             cl::desc("<input file>")};
  Own<std::string> output{getRow("o"), cl::init("-")};
  Own<Emit> emit{
      getRow("emit"), cl::init(Emit::Text),
      cl::values(clEnumValN(Emit::Text, "text", "MLIR text"),
                 clEnumValN(Emit::Generic, "generic", "MLIR's generic text"),
                 clEnumValN(Emit::Bytecode, "bytecode", "MLIR's bytecode"),
                 clEnumValN(Emit::Portable, "portable",
                            "a StableHLO portable artifact"),
                 clEnumValN(Emit::None, "none", "nothing"))};
  Own<std::string> targetVersion{
      getRow("target-version"),
      cl::init(alula::vhlo::Version::current().str())};
  Own<bool> allowOtherDialects{getRow("allow-other-dialects")};
  Own<std::string> roundTrip{getRow("round-trip")};
  Own<bool> splitInput{getRow("split-input-file")};
  Own<bool> verifyDiagnostics{getRow("verify-diagnostics")};
  Own<bool> verifyEach{getRow("verify-each"), cl::init(true)};
  Own<bool> allowUnregistered{getRow("allow-unregistered-dialect")};
};

alula::options::Tool makeTool(const alula::tools::PluginFlags &plugins) {
  alula::options::Tool tool = {
      "alula-opt",
      {"[FILE] [--PASS...] [options]"},
      "run passes over a StableHLO program",
      "Reads a program, runs passes over it in the order of their flags, "
      "writes it.",
      "Every pass is a flag, and MLIR's own flags work, as "
      "--mlir-print-ir-after-all:\n--help-hidden lists them.",
      {std::begin(rows), std::end(rows)},
      {},
      {},
      {}};
  for (auto more : {alula::tools::getDeclaredRows(), plugins.getRows(),
                    alula::tools::getPassRows()})
    for (const alula::options::Option &row : more)
      if (!alula::options::findOption(tool.options, row.name))
        tool.options.push_back(row);
  tool.llvm = LLVM_VERSION_STRING;
  tool.hasHiddenHelp = true;
  return tool;
}

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
  if (failed(passes.addToPipeline(pm, onError)))
    return failure();
  if (options.emit == Emit::Portable && !options.allowOtherDialects)
    alula::driver::addPortableForm(pm);
  if (failed(pm.run(*module)))
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
  Options options;
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  PassPipelineCLParser passes("", "passes to run");
  const alula::options::Tool tool = makeTool(plugins);
  if (auto status = alula::options::answer(tool, argc, argv)) {
    consumeError(std::move(wrong));
    return *status;
  }
  if (wrong)
    return alula::options::fail(tool, toString(std::move(wrong)),
                                alula::options::WrongUsage);
  if (!alula::tools::parseCommandLine(tool, {argv, argv + argc}))
    return alula::options::WrongUsage;
  if (plugins.printList())
    return 0;

  if (!options.roundTrip.empty())
    return alula::opt::runRoundTrips(options.roundTrip, registry);

  std::string error;
  auto input = openInputFile(options.input, &error);
  if (!input)
    return alula::options::fail(tool, error, alula::options::NoFile);
  bool isBinary =
      options.emit == Emit::Bytecode || options.emit == Emit::Portable;
  if (isBinary && alula::options::isOnTerminal(options.output.getValue()))
    return alula::options::fail(
        tool, alula::options::refuseTerminal("the output", "-o FILE writes it"),
        alula::options::WrongUsage);
  auto output = openOutputFile(options.output, &error);
  if (!output)
    return alula::options::fail(tool, error, alula::options::NoFile);
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
