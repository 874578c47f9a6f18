#include "dialect/newer/source.h"
#include "dialect/newer/adapt.h"
#include "dialect/newer/dialect.h"
#include "dialect/newer/limits.h"
#include "dialect/newer/restore.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace alula::newer;

static Location getLocation(StringRef text, size_t offset, StringRef name,
                            MLIRContext *context) {
  StringRef before = text.take_front(offset);
  unsigned line = unsigned(before.count('\n')) + 1;
  size_t lineBegin = before.rfind('\n');
  size_t column =
      lineBegin == StringRef::npos ? offset : offset - lineBegin - 1;
  return FileLineColLoc::get(context, name, line, unsigned(column) + 1);
}

/// Parses `original`, or the adapted copy of it in `sources`.
static OwningOpRef<ModuleOp> parse(const llvm::SourceMgr &sources,
                                   MLIRContext *context,
                                   bool verifyAfterParse) {
  return parseSourceFile<ModuleOp>(sources,
                                   ParserConfig(context, verifyAfterParse));
}

OwningOpRef<ModuleOp> alula::newer::parseSource(const llvm::SourceMgr &sources,
                                                MLIRContext *context,
                                                bool verifyAfterParse) {
  context->getOrLoadDialect<NewerDialect>();
  const llvm::MemoryBuffer *buffer =
      sources.getMemoryBuffer(sources.getMainFileID());
  StringRef text = buffer->getBuffer();
  StringRef name = buffer->getBufferIdentifier();
  if (text.starts_with("ML\xefR"))
    return parse(sources, context, verifyAfterParse);
  if (text.size() > maxSourceBytes) {
    emitError(FileLineColLoc::get(context, name, 1, 1))
        << "source text: larger than " << maxSourceBytes
        << " bytes: " << text.size();
    return nullptr;
  }

  Adaptation adaptation = adapt(text);
  if (adaptation.refusal) {
    emitError(getLocation(text, adaptation.refusal->offset, name, context))
        << adaptation.refusal->message;
    return nullptr;
  }
  if (adaptation.edits.empty())
    return parse(sources, context, verifyAfterParse);

  // The same identifier and the same offsets: a handler that holds `sources`
  // shows the user's own line for every diagnostic.
  std::unique_ptr<llvm::WritableMemoryBuffer> adapted =
      llvm::WritableMemoryBuffer::getNewUninitMemBuffer(text.size(), name);
  llvm::copy(text, adapted->getBufferStart());
  applyEdits(adaptation.edits, adapted->getBufferStart());
  llvm::SourceMgr adaptedSources;
  adaptedSources.AddNewSourceBuffer(std::move(adapted), llvm::SMLoc());
  return parse(adaptedSources, context, verifyAfterParse);
}

OwningOpRef<ModuleOp> alula::newer::parseSource(StringRef text,
                                                MLIRContext *context,
                                                StringRef name,
                                                bool verifyAfterParse) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name),
                             llvm::SMLoc());
  return parseSource(sources, context, verifyAfterParse);
}

void alula::newer::printOperation(Operation *op, raw_ostream &os,
                                  OpPrintingFlags flags) {
  RestoringStream restoring(os);
  op->print(restoring, flags);
  restoring << '\n';
}
