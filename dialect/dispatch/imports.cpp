#include "dialect/dispatch/imports.h"

#include "dialect/dispatch/ops.h"

#include "llvm/ADT/StringSwitch.h"

#include <map>

using namespace mlir;
using namespace alula::dispatch;

std::optional<ImportKind>
alula::dispatch::getImportKind(Operation *declaration) {
  auto kind = declaration->getAttrOfType<StringAttr>(importAttributeName);
  if (!kind)
    return std::nullopt;
  return llvm::StringSwitch<std::optional<ImportKind>>(kind.getValue())
      .Case("static", ImportKind::Static)
      .Case("bitcode", ImportKind::Bitcode)
      .Case("dynamic", ImportKind::Dynamic)
      .Default(std::nullopt);
}

DynamicImport alula::dispatch::readImportName(StringRef symbol) {
  bool isOptional = symbol.consume_front("?");
  return {symbol.str(), isOptional};
}

std::vector<DynamicImport>
alula::dispatch::collectDynamicImports(ModuleOp program) {
  std::map<std::string, bool> found;
  for (auto executable : program.getOps<ExecutableOp>())
    if (ModuleOp bodies = executable.getInnerModule())
      for (Operation &op : *bodies.getBody()) {
        auto symbol = dyn_cast<SymbolOpInterface>(op);
        if (!symbol || getImportKind(&op) != ImportKind::Dynamic)
          continue;
        DynamicImport import = readImportName(symbol.getName());
        auto [at, isNew] = found.emplace(import.name, import.isOptional);
        at->second &= import.isOptional;
      }
  std::vector<DynamicImport> imports;
  for (auto &[name, isOptional] : found)
    imports.push_back({name, isOptional});
  return imports;
}
