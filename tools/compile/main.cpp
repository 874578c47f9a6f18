// alula-compile: a StableHLO program in, one artifact out.

#include "compiler/driver/compile.h"
#include "compiler/driver/program.h"
#include "compiler/driver/registry.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/xxhash.h"

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
  cl::opt<Room> until{
      "until", cl::init(Room::Emit), cl::desc("last room to run"),
      cl::values(clEnumValN(Room::Input, "input", "legal StableHLO"),
                 clEnumValN(Room::Dispatch, "dispatch", "kernels in linalg"),
                 clEnumValN(Room::Kernel, "kernel", "kernels as loops"),
                 clEnumValN(Room::Schedule, "schedule", "places for values"),
                 clEnumValN(Room::Target, "target", "machine code"),
                 clEnumValN(Room::Emit, "emit", "the artifact"))};
};
} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  registerAsmPrinterCLOptions();
  registerPassManagerCLOptions();
  cl::ParseCommandLineOptions(argc, argv, "Alula's compiler\n");

  // Linking resets every command-line option of the process: lld does that.
  std::string outputFile = options.output;
  Room until = options.until;

  std::string error;
  auto input = openInputFile(options.input, &error);
  if (!input) {
    llvm::errs() << "alula-compile: " << error << "\n";
    return 1;
  }
  DialectRegistry registry;
  alula::driver::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(input->getMemBufferRef(),
                                       /*RequiresNullTerminator=*/false),
      llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);

  alula::driver::CompileOptions compile;
  if (!options.targets.empty())
    compile.targets = options.targets;
  compile.until = until;
  compile.setUpPasses = [](PassManager &pm) {
    return applyPassManagerCLOptions(pm);
  };
  compile.inputHash =
      llvm::utohexstr(llvm::xxh3_64bits(input->getBuffer()), /*LowerCase=*/true);
  OwningOpRef<ModuleOp> module = alula::driver::readProgram(
      llvm::MemoryBuffer::getMemBuffer(input->getMemBufferRef(),
                                       /*RequiresNullTerminator=*/false),
      &context);
  std::string bytes;
  if (!module || failed(alula::driver::compile(*module, compile, bytes)))
    return 1;

  auto output = openOutputFile(outputFile, &error);
  if (!output) {
    llvm::errs() << "alula-compile: " << error << "\n";
    return 1;
  }
  if (until == Room::Emit)
    output->os() << bytes;
  else
    module->print(output->os());
  output->keep();
  return 0;
}
