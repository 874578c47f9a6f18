// Tells the forms of a program apart and reads each with its reader.

#include "compiler/driver/program.h"

#include "dialect/newer/source.h"
#include "dialect/vhlo/reader.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

OwningOpRef<ModuleOp>
alula::driver::readProgram(std::unique_ptr<llvm::MemoryBuffer> buffer,
                           MLIRContext *context, bool verify) {
  if (vhlo::isPortableArtifact(buffer->getBuffer()))
    return vhlo::readPortable(buffer->getBuffer(), context,
                              buffer->getBufferIdentifier(), verify);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  return newer::parseSource(sources, context, verify);
}
