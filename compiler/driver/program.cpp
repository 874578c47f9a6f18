// Tells the forms of a program apart and reads each with its reader.

#include "compiler/driver/program.h"

#include "alula/artifact.h"
#include "dialect/newer/source.h"
#include "dialect/vhlo/reader.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

OwningOpRef<ModuleOp>
alula::driver::readProgram(std::unique_ptr<llvm::MemoryBuffer> buffer,
                           MLIRContext *context, bool verify) {
  if (vhlo::isPortableArtifact(buffer->getBuffer()))
    return vhlo::readPortable(buffer->getBuffer(), context,
                              buffer->getBufferIdentifier(), verify);
  if (buffer->getBuffer().starts_with(
          llvm::StringRef(ALULA_FILE_MAGIC, sizeof ALULA_FILE_MAGIC - 1))) {
    emitError(FileLineColLoc::get(context, buffer->getBufferIdentifier(), 0, 0))
        << "is compiled already: an artifact, not a program";
    return nullptr;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  return newer::parseSource(sources, context, verify);
}
