#include "compiler/driver/stages_dump.h"

#include "compiler/driver/stages_file.h"
#include "dialect/newer/source.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace alula::driver;

void alula::driver::writeStage(ModuleOp module, Room stage,
                               const CompileOptions &options, StringRef file,
                               llvm::raw_ostream &os, StringRef goOnFlags) {
  if (options.dumps.bytecode) {
    RecordScope scope(module, stage, options.record, /*isIncomplete=*/false);
    // Only fails for an older version of the format, and none is asked for.
    (void)writeBytecodeToFile(module, os,
                              BytecodeWriterConfig(compilerVersion));
    return;
  }
  OpPrintingFlags flags;
  // Names of arguments are locations.
  flags.enableDebugInfo();
  if (options.dumps.elideLarger) {
    flags.elideLargeElementsAttrs(*options.dumps.elideLarger);
    flags.elideLargeResourceString(*options.dumps.elideLarger);
  }
  // MLIR has flags of its own that leave constants out.
  bool isIncomplete =
      flags.getLargeElementsAttrLimit() || flags.getLargeResourceStringLimit();
  StringRef name = llvm::sys::path::filename(file);
  os << "// " << compilerVersion << ", after stage '" << getRoomName(stage)
     << "' (" << unsigned(stage) + 1 << " of " << roomCount << ")\n";
  if (isIncomplete)
    os << "// constants are left out: can't be gone on with\n";
  else
    os << "// go on: alula-compile " << goOnFlags << name << " -o "
       << (module.getName() ? escapeFileName(*module.getName())
           : name == "-"    ? std::string("program")
                            : name.split('.').first.str())
       << ".alula\n";
  RecordScope scope(module, stage, options.record, isIncomplete);
  newer::printOperation(module, os, flags);
}
