// A program for tests only:
//
//   vhlo-test-tool read FILE…              reads each, one line for each
//   vhlo-test-tool print FILE…             prints the modules as text
//   vhlo-test-tool debug FILE…             the same with locations

#include "dialect/newer/source.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/vhlo/reader.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static OwningOpRef<ModuleOp> readAny(StringRef path, MLIRContext &context) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer) {
    llvm::errs() << path << ": " << buffer.getError().message() << "\n";
    return {};
  }
  StringRef bytes = (*buffer)->getBuffer();
  if (alula::vhlo::isPortableArtifact(bytes))
    return alula::vhlo::readPortable(bytes, &context, path);
  return alula::newer::parseSource(bytes, &context, path);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    llvm::errs() << "usage: vhlo-test-tool read|print|debug FILE…\n";
    return 2;
  }
  StringRef command = argv[1];
  int numBad = 0;
  for (StringRef path : llvm::ArrayRef(argv + 2, argv + argc)) {
    MLIRContext context;
    context.loadDialect<func::FuncDialect, stablehlo::StablehloDialect>();
    OwningOpRef<ModuleOp> module = readAny(path, context);
    if (!module) {
      ++numBad;
      continue;
    }
    OpPrintingFlags flags;
    if (command == "debug")
      flags.enableDebugInfo();
    if (command == "read")
      llvm::outs() << path << ": good\n";
    else
      alula::newer::printOperation(*module, llvm::outs(), flags);
  }
  return numBad == 0 ? 0 : 1;
}
