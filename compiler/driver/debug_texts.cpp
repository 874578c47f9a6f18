#include "compiler/driver/debug_texts.h"

#include "compiler/driver/stages_executables.h"
#include "compiler/emit/emit.h"
#include "compiler/preprocess/envelope.h"
#include "dialect/newer/source.h"

#include "mlir/IR/Builders.h"
#include "mlir/Transforms/LocationSnapshot.h"

#include <limits>

using namespace mlir;
using namespace alula::driver;
using alula::dispatch::ExecutableOp;
using alula::emit::debugTextsName;

static DictionaryAttr getTexts(ExecutableOp executable) {
  auto texts = executable->getAttrOfType<DictionaryAttr>(debugTextsName);
  return texts ? texts : DictionaryAttr::get(executable.getContext());
}

static void addText(ExecutableOp executable, DictionaryAttr before,
                    StringRef name, StringRef text) {
  NamedAttrList texts(before);
  Builder b(executable.getContext());
  texts.set(name, b.getStringAttr(text));
  executable->setAttr(debugTextsName, texts.getDictionary(b.getContext()));
}

/// The text of `executable`, whose ops are at its lines from now on.
static std::string snapshot(ExecutableOp executable, StringRef file) {
  OwningOpRef<ModuleOp> envelope = alula::preprocess::wrap(executable);
  OpPrintingFlags flags;
  flags.enableDebugInfo();
  flags.elideLargeElementsAttrs(std::numeric_limits<int64_t>::max());
  flags.elideLargeResourceString(std::numeric_limits<int64_t>::max());
  std::string text, lines;
  llvm::raw_string_ostream os(text), linesOs(lines);
  alula::newer::printOperation(*envelope, os, flags);
  generateLocationsFromIR(linesOs, file, envelope->getOperation(), flags);
  SmallVector<Operation *> ops, copies;
  executable->walk([&](Operation *op) { ops.push_back(op); });
  alula::preprocess::unwrap(*envelope)->walk(
      [&](Operation *op) { copies.push_back(op); });
  for (auto [op, copy] : llvm::zip_equal(ops, copies)) {
    auto place = copy->getLoc()->findInstanceOf<FileLineColLoc>();
    // The first column of a snapshot is 0.
    if (place)
      op->setLoc(FileLineColLoc::get(place.getFilename(), place.getLine(),
                                     place.getColumn() + 1));
  }
  return text;
}

void alula::driver::keepTexts(ModuleOp module, Room next,
                              const CompileOptions &options) {
  StringRef ending = next == Room::Plan       ? ".source.mlir"
                     : next == Room::Schedule ? ".config.mlir"
                                              : "";
  if (options.debugLevel < 3 || ending.empty())
    return;
  auto names = nameExecutables(module);
  for (auto executable : module.getOps<ExecutableOp>()) {
    std::string file = names[executable.getSymNameAttr()] + ending.str();
    DictionaryAttr texts = getTexts(executable);
    if (texts.contains(file))
      continue;
    executable->removeAttr(debugTextsName);
    std::string text = snapshot(executable, file);
    addText(executable, texts, file, text);
  }
}

void alula::driver::keepText(ModuleOp module, StringRef name,
                             const Twine &ending, StringRef text) {
  auto executable = module.lookupSymbol<ExecutableOp>(name);
  if (!executable)
    return;
  std::string file = nameExecutables(module)[executable.getSymNameAttr()];
  addText(executable, getTexts(executable), file + ending.str(), text);
}
