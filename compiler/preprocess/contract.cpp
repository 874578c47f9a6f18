// What others must leave as it is, because the host was made for it.

#include "compiler/preprocess/contract.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace alula::preprocess;
using alula::dispatch::EntryOp;
using alula::dispatch::ExecutableOp;

static std::string getSymbol(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
  return name ? name.str() : "";
}

static Problem breach(const Twine &text) {
  return {"pre-contract", text.str(), ""};
}

static bool isOurs(StringRef attribute) {
  return attribute.starts_with("dispatch.");
}

Contract alula::preprocess::readShell(ExecutableOp executable) {
  Contract contract;
  contract.name = getSymbol(executable);
  for (Region &region : executable->getRegions())
    for (auto entry : region.getOps<EntryOp>()) {
      auto &read = contract.entries.emplace_back();
      read.name = getSymbol(entry);
      for (NamedAttribute attribute : entry->getAttrs())
        // Others may have attributes of their own; ours are put back.
        if (!attribute.getName().strref().contains('.'))
          read.attributes[attribute.getName().str()] =
              debugString(attribute.getValue());
    }
  return contract;
}

Contract alula::preprocess::readContract(ExecutableOp executable) {
  Contract contract = readShell(executable);
  ModuleOp bodies = executable.getInnerModule();
  for (Contract::Entry &entry : contract.entries)
    if (auto function = bodies.lookupSymbol<FunctionOpInterface>(entry.name);
        function && !function.isExternal())
      entry.functionType = debugString(function.getFunctionType());
  executable->walk([&](Operation *op) {
    op->getAttrDictionary().walk([&](SymbolRefAttr symbol) {
      for (Operation *table = op; table != executable->getParentOp();
           table = table->getParentOp())
        if (table->hasTrait<OpTrait::SymbolTable>() &&
            SymbolTable::lookupSymbolIn(table, symbol))
          return;
      contract.outside.insert(debugString(symbol));
    });
  });
  return contract;
}

static std::string join(ArrayRef<Contract::Entry> entries) {
  return llvm::join(llvm::map_range(entries,
                                    [](const Contract::Entry &entry) {
                                      return "@" + entry.name;
                                    }),
                    ", ");
}

std::optional<Problem> alula::preprocess::compareShells(const Contract &before,
                                                        const Contract &after) {
  if (before.name != after.name)
    return breach("the executable must keep its name: was @" + before.name +
                  ", is @" + after.name);
  std::string oldNames = join(before.entries), newNames = join(after.entries);
  if (oldNames != newNames)
    return breach("entries must keep their names and their order: were " +
                  oldNames + ", are " + newNames);
  for (auto [was, is] : llvm::zip_equal(before.entries, after.entries)) {
    std::set<std::string> names;
    for (const auto *entry : {&was, &is})
      for (auto &[name, value] : entry->attributes)
        names.insert(name);
    for (const std::string &name : names) {
      auto show = [&](const Contract::Entry &entry) {
        auto found = entry.attributes.find(name);
        return found == entry.attributes.end() ? "none" : found->second;
      };
      if (show(was) != show(is))
        return breach("entry @" + was.name + " must keep its " + name +
                      ": was " + show(was) + ", is " + show(is));
    }
  }
  return std::nullopt;
}

std::optional<Problem> alula::preprocess::compareBodies(const Contract &before,
                                                        const Contract &after) {
  auto show = [](const Contract::Entry &entry) {
    return entry.functionType.empty() ? "none" : entry.functionType;
  };
  for (auto [was, is] : llvm::zip_equal(before.entries, after.entries))
    if (was.functionType != is.functionType)
      return breach("the function of entry @" + was.name +
                    " must keep its type: was " + show(was) + ", is " +
                    show(is));
  for (const std::string &symbol : after.outside)
    if (!before.outside.count(symbol))
      return breach("the executable must not use what is outside of it: "
                    "uses " +
                    symbol);
  return std::nullopt;
}

std::optional<Problem> alula::preprocess::findMissingData(Operation *op) {
  std::string key;
  op->walk([&](Operation *each) {
    each->getAttrDictionary().walk([&](DenseResourceElementsAttr constant) {
      if (!constant.getRawHandle().getBlob())
        key = constant.getRawHandle().getKey().str();
    });
    return key.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (key.empty())
    return std::nullopt;
  return breach("constants must have data: dense_resource<" + key +
                "> has none");
}

static void restoreAttributes(Operation *before, Operation *after) {
  SmallVector<StringAttr> strange;
  for (NamedAttribute attribute : after->getDiscardableAttrs())
    if (isOurs(attribute.getName()))
      strange.push_back(attribute.getName());
  for (StringAttr name : strange)
    after->removeDiscardableAttr(name);
  for (NamedAttribute attribute : before->getDiscardableAttrs())
    if (isOurs(attribute.getName()))
      after->setDiscardableAttr(attribute.getName(), attribute.getValue());
}

void alula::preprocess::restoreOwn(ExecutableOp before, ExecutableOp after) {
  after->setLoc(before.getLoc());
  after.setSymVisibilityAttr(before.getSymVisibilityAttr());
  restoreAttributes(before, after);
  for (auto [was, is] : llvm::zip_equal(before.getBody().getOps<EntryOp>(),
                                        after.getBody().getOps<EntryOp>()))
    restoreAttributes(was, is);
}
