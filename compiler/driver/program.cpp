// Tells the forms of a program apart and reads each with its reader.

#include "compiler/driver/program.h"

#include "alula/artifact.h"
#include "dialect/newer/source.h"
#include "dialect/vhlo/reader.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

/// The release of MLIR that wrote bytecode: "MLIR23.0.0git" is 23; 0 if it does
/// not say.
static unsigned getWriter(llvm::StringRef bytecode) {
  // A number of the format, of one byte until it is 128, then who wrote it.
  llvm::StringRef producer = bytecode.drop_front(5).split('\0').first;
  unsigned release = 0;
  if (!producer.consume_front("MLIR") || producer.consumeInteger(10, release))
    return 0;
  return release;
}

/// What is wrong with bytecode of a later release is that it is one.
static OwningOpRef<ModuleOp> readLater(const llvm::SourceMgr &sources,
                                       llvm::StringRef name, unsigned release,
                                       MLIRContext *context, bool verify) {
  std::string first;
  OwningOpRef<ModuleOp> module;
  {
    ScopedDiagnosticHandler keep(context, [&](Diagnostic &diagnostic) {
      if (first.empty())
        first = diagnostic.str();
      return success();
    });
    module = alula::newer::parseSource(sources, context, verify);
  }
  if (!module)
    emitError(FileLineColLoc::get(context, name, 0, 0))
        << "is bytecode of MLIR " << release << ", of which MLIR "
        << LLVM_VERSION_MAJOR << " can't read all (" << first
        << "): write the program as text, or as a portable artifact "
           "(stablehlo-translate --serialize)";
  return module;
}

/// The name before a place in a text: `"tf.Reshape"(` is tf.Reshape.
static llvm::StringRef getNameBefore(llvm::StringRef text, unsigned line,
                                     unsigned column) {
  while (line > 1 && !text.empty()) {
    text = text.split('\n').second;
    --line;
  }
  llvm::StringRef before =
      text.split('\n').first.take_front(column - 1).rtrim();
  return before.consume_back("\"") ? before.rsplit('"').second
                                   : llvm::StringRef();
}

/// What exporters could not say in StableHLO they leave as it was; MLIR would
/// advise to allow that.
static OwningOpRef<ModuleOp> readText(const llvm::SourceMgr &sources,
                                      MLIRContext *context, bool verify) {
  FileLineColLoc place;
  OwningOpRef<ModuleOp> module;
  {
    ScopedDiagnosticHandler keep(context, [&](Diagnostic &diagnostic) {
      if (!llvm::StringRef(diagnostic.str())
               .starts_with("operation being parsed with an unregistered "
                            "dialect"))
        return failure();
      place = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
      return success(place != nullptr);
    });
    module = alula::newer::parseSource(sources, context, verify);
  }
  if (!place)
    return module;
  llvm::StringRef text =
      sources.getMemoryBuffer(sources.getMainFileID())->getBuffer();
  emitError(place) << "'"
                   << getNameBefore(text, place.getLine(), place.getColumn())
                   << "': is no operation of StableHLO; who exported the "
                      "program left it as it was";
  return nullptr;
}

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
  if (buffer->getBuffer().substr(4, 4) == "TFL3") {
    emitError(FileLineColLoc::get(context, buffer->getBufferIdentifier(), 0, 0))
        << "is a TFLite model: its operations are not StableHLO's: export the "
           "TensorFlow function it was made of as StableHLO text";
    return nullptr;
  }
  unsigned release = buffer->getBuffer().starts_with("ML\xefR")
                         ? getWriter(buffer->getBuffer())
                         : 0;
  std::string name = buffer->getBufferIdentifier().str();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  if (release > LLVM_VERSION_MAJOR)
    return readLater(sources, name, release, context, verify);
  if (release)
    return newer::parseSource(sources, context, verify);
  return readText(sources, context, verify);
}
