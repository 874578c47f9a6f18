// What others must leave as it is, because the host was made for it.

#include "compiler/preprocess/check_contract.h"

#include "compiler/preprocess/bodies.h"
#include "compiler/preprocess/host_functions.h"

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
  for (Contract::Entry &entry : contract.entries)
    readBody(executable, entry);
  executable->walk([&](Operation *op) {
    op->getAttrDictionary().walk([&](SymbolRefAttr symbol) {
      for (Operation *table = op; table != executable->getParentOp();
           table = table->getParentOp())
        if (table->hasTrait<OpTrait::SymbolTable>() &&
            SymbolTable::lookupSymbolIn(table, symbol))
          return;
      // An entry names functions of the module beside it.
      if (isa<EntryOp>(op) && executable.getInnerModule() &&
          executable.getInnerModule().lookupSymbol(symbol.getRootReference()))
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

static StringRef find(const Contract::Entry &entry, const std::string &name) {
  auto found = entry.attributes.find(name);
  return found == entry.attributes.end() ? StringRef("none") : found->second;
}

std::optional<Problem> alula::preprocess::compareShells(const Contract &before,
                                                        const Contract &after) {
  // What these say is looked at by itself.
  static constexpr StringLiteral free[] = {"workgroups",      "workgroup_size",
                                           "workgroup_count", "added_constants",
                                           "pinned",          "scratch_bytes"};
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
    for (const std::string &name : names)
      if (!llvm::is_contained(free, name) && find(was, name) != find(is, name))
        return breach("entry @" + was.name + " must keep its " + name +
                      ": was " + find(was, name) + ", is " + find(is, name));
  }
  return std::nullopt;
}

std::optional<Problem>
alula::preprocess::compareBodies(const Contract &before, const Contract &after,
                                 ExecutableOp executable) {
  for (const std::string &symbol : after.outside)
    if (!before.outside.count(symbol))
      return breach("the executable must not use what is outside of it: "
                    "uses " +
                    symbol);
  auto entries = llvm::to_vector(executable.getBody().getOps<EntryOp>());
  // What may be let pass is said last.
  std::optional<Problem> mild;
  auto isSevere = [&](std::optional<Problem> problem) {
    if (!problem || !problem->mayGoOn)
      return problem;
    if (!mild)
      mild = std::move(problem);
    return std::optional<Problem>();
  };
  for (auto [was, is, entry] :
       llvm::zip_equal(before.entries, after.entries, entries)) {
    if (auto problem = isSevere(checkHostFunctions(entry, was)))
      return problem;
    if (auto problem = isSevere(checkGrid(entry, is, was, before.limits)))
      return problem;
    if (auto problem = isSevere(checkBody(entry, is, was)))
      return problem;
  }
  if (auto problem = isSevere(checkCalls(executable)))
    return problem;
  return mild;
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
