// Which objects there are for a target, and whether they hold together.

#include "compiler/objects/code_plan.h"

#include "compiler/objects/bitcode.h"
#include "compiler/objects/elf_object.h"
#include "compiler/objects/file_kind.h"
#include "compiler/objects/ptx_text.h"
#include "dialect/dispatch/imports.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace alula::objects;
using namespace alula::dispatch;

namespace {
InFlightDiagnostic sayError(ExecutableOp executable, StringRef tag) {
  return executable.emitError()
         << "[" << tag << "] @" << executable.getSymName() << ": ";
}

void sayProblems(ExecutableOp executable, ObjectAttr object,
                 const Problems &problems) {
  for (const Problem &problem : problems)
    sayError(executable, problem.tag)
        << "'" << object.getFileName() << "': " << problem.text;
}

/// What bodies call that must be linked to them.
FailureOr<std::set<std::string>> readDeclared(ExecutableOp executable) {
  std::set<std::string> declared;
  bool good = true;
  if (ModuleOp bodies = executable.getInnerModule())
    for (Operation &op : *bodies.getBody()) {
      if (!op.hasAttr(importAttributeName))
        continue;
      StringRef name = SymbolTable::getSymbolName(&op).getValue();
      auto kind = getImportKind(&op);
      auto function = dyn_cast<FunctionOpInterface>(op);
      if (!kind || !function || !function.isExternal()) {
        sayError(executable, "obj-import")
            << "an import must be a function without a body, and static, "
               "bitcode or dynamic: @"
            << name << " is " << op.getAttr(importAttributeName);
        good = false;
        continue;
      }
      if (*kind != ImportKind::Dynamic)
        declared.insert(name.str());
    }
  if (!good)
    return failure();
  return declared;
}

class CpuPlanner {
public:
  CpuPlanner(ExecutableOp executable, const TargetKey &key,
             const IsBuiltin &isBuiltin)
      : executable(executable), key(key), isBuiltin(isBuiltin) {}

  FailureOr<CpuPlan> plan(ArrayRef<ObjectAttr> objects) {
    for (ObjectAttr object : objects)
      read(object);
    auto declared = readDeclared(executable);
    if (failed(declared))
      return failure();
    findEntries(objects);
    findUndefined(*declared);
    if (!good)
      return failure();
    for (const std::string &name : defined)
      if (!result.names.contains(name))
        result.names[name] = name + "." + executable.getSymName().str();
    return result;
  }

private:
  void read(ObjectAttr object) {
    StringRef bytes = object.getBytes();
    Problems problems;
    bool isBitcode = getFileKind(bytes) == FileKind::Bitcode;
    ElfSymbols symbols =
        isBitcode ? checkBitcode(bytes, key.architecture, problems)
                  : checkElfObject(bytes, key.architecture, problems);
    (isBitcode ? result.bitcode : result.elf).push_back(object);
    for (const std::string &name : symbols.defined)
      if (!defined.insert(name).second)
        problems.push_back(
            {"obj-twice", "defines '" + name + "', as another object does"});
    functions.insert(symbols.functions.begin(), symbols.functions.end());
    for (const std::string &name : symbols.undefined)
      users.emplace_back(name, object);
    good &= problems.empty();
    sayProblems(executable, object, problems);
  }

  /// Objects have all entries, or none of them.
  void findEntries(ArrayRef<ObjectAttr> objects) {
    if (objects.empty())
      return;
    auto entries = llvm::to_vector(executable.getBody().getOps<EntryOp>());
    SmallVector<std::string> missing;
    for (EntryOp entry : entries) {
      std::string name = entry.getSymName().str(), symbol = name;
      for (ObjectAttr object : objects)
        if (object.getEntry())
          symbol = object.getEntry().getValue().str();
      if (symbol != name && entries.size() != 1) {
        sayError(executable, "obj-entry")
            << "only one entry can have another name: there are "
            << entries.size();
        good = false;
        return;
      }
      if (functions.count(symbol))
        result.names[symbol] = name;
      else
        missing.push_back(symbol);
    }
    result.replacesBodies = missing.empty();
    bool hasBodies = !executable.isExternal();
    bool isPartial = missing.size() < entries.size();
    bool isCalled = llvm::any_of(functions, [&](const std::string &name) {
      return hasBodies && executable.getInnerModule().lookupSymbol(name);
    });
    // What could not be read has said so.
    if (!good || missing.empty() || (!isPartial && isCalled))
      return;
    good = false;
    sayError(executable, "obj-entry")
        << "'" << objects.front().getFileName() << "': has no function '"
        << llvm::join(missing, "', '") << "'"
        << (hasBodies ? ", nor one that the body calls" : "") << ": has "
        << (functions.empty() ? "none" : llvm::join(functions, ", "));
  }

  void findUndefined(const std::set<std::string> &declared) {
    std::map<std::string, std::set<std::string>> missing;
    for (auto &[name, object] : users)
      if (!defined.count(name) && name != "_GLOBAL_OFFSET_TABLE_" &&
          !isBuiltin(key, name))
        missing[object.getFileName().str()].insert(name);
    for (auto &[file, names] : missing) {
      good = false;
      sayError(executable, "obj-undefined")
          << "'" << file
          << "': calls what is not there: " << llvm::join(names, ", ");
    }
    if (result.replacesBodies)
      return;
    std::set<std::string> unresolved;
    for (const std::string &name : declared)
      if (!functions.count(name))
        unresolved.insert(name);
    if (unresolved.empty())
      return;
    good = false;
    sayError(executable, "obj-undefined")
        << "no object for " << key.getText()
        << " has what the body calls: " << llvm::join(unresolved, ", ");
  }

  ExecutableOp executable;
  const TargetKey &key;
  const IsBuiltin &isBuiltin;
  CpuPlan result;
  std::set<std::string> defined, functions;
  std::vector<std::pair<std::string, ObjectAttr>> users;
  bool good = true;
};
} // namespace

FailureOr<SmallVector<ObjectAttr>>
alula::objects::selectObjects(ExecutableOp executable, const TargetKey &key) {
  SmallVector<ObjectAttr> best;
  std::optional<unsigned> bestFields;
  std::optional<std::string> rival;
  if (!executable.getObjects())
    return best;
  for (auto object : executable.getObjects()->getAsRange<ObjectAttr>()) {
    auto pattern = TargetPattern::parse(object.getTargetPattern());
    if (!pattern) {
      sayError(executable, "obj-pattern") << toString(pattern.takeError());
      return failure();
    }
    auto fields = pattern->match(key);
    if (!fields || (bestFields && *fields < *bestFields))
      continue;
    if (bestFields == fields) {
      if (best.front().getTargetPattern() == object.getTargetPattern())
        best.push_back(object);
      else
        rival = object.getTargetPattern();
      continue;
    }
    best = {object};
    bestFields = fields;
    rival.reset();
  }
  if (rival) {
    sayError(executable, "obj-tie")
        << "objects fit " << key.getText() << " alike: '"
        << best.front().getTargetPattern() << "' and '" << *rival << "'";
    return failure();
  }
  return best;
}

FailureOr<CpuPlan> alula::objects::planCpuCode(ExecutableOp executable,
                                               const TargetKey &key,
                                               ArrayRef<ObjectAttr> objects,
                                               const IsBuiltin &isBuiltin) {
  return CpuPlanner(executable, key, isBuiltin).plan(objects);
}

FailureOr<PtxPlan> alula::objects::planPtxCode(ExecutableOp executable,
                                               const TargetKey &key,
                                               ArrayRef<ObjectAttr> objects,
                                               StringRef driver,
                                               bool assembles) {
  if (objects.size() > 1) {
    sayError(executable, "obj-many")
        << "one file must have all kernels for " << key.getText() << ": "
        << objects.size() << " are given";
    return failure();
  }
  PtxPlan plan;
  plan.object = objects.front();
  Problems problems;
  StringRef bytes = plan.object.getBytes();
  if (getFileKind(bytes) != FileKind::Ptx) {
    problems.push_back(
        {"obj-container", "must be PTX: is " + describeFile(bytes)});
    sayProblems(executable, plan.object, problems);
    return failure();
  }
  PtxText text = readPtx(bytes, problems);
  // Of half a text there is nothing more to say.
  if (problems.empty())
    checkPtx(text, key.name, problems);
  auto newest = findPtxVersion(driver.empty() ? "12.0" : driver);
  bool isTooNew = newest && std::pair(text.major, text.minor) > *newest;
  std::string version =
      std::to_string(text.major) + "." + std::to_string(text.minor);
  if (isTooNew && !driver.empty())
    problems.push_back({"obj-ptx-version", "has .version " + version +
                                               ", which a driver of CUDA " +
                                               driver.str() + " refuses"});
  auto entries = llvm::to_vector(executable.getBody().getOps<EntryOp>());
  for (EntryOp entry : entries) {
    if (!problems.empty())
      break;
    PtxWish wish;
    wish.entry = entry.getSymName().str();
    if (plan.object.getEntry() && entries.size() == 1)
      wish.entry = plan.object.getEntry().getValue().str();
    wish.bindings = entry.getBindings().size();
    wish.constants = static_cast<size_t>(entry.getConstantCount());
    if (auto size = entry.getWorkgroupSize(); size && size->size() == 3)
      wish.block = {(*size)[0], (*size)[1], (*size)[2]};
    plan.names.push_back(wish.entry);
    plan.blocks.push_back(checkPtxEntry(text, wish, problems));
  }
  if (problems.empty() && assembles)
    assemblePtx(bytes, key.name, problems);
  if (!problems.empty()) {
    sayProblems(executable, plan.object, problems);
    return failure();
  }
  if (isTooNew && assembles)
    executable.emitWarning()
        << "@" << executable.getSymName() << ": '" << plan.object.getFileName()
        << "': .version " << version
        << " needs a driver of CUDA 12.1 or newer; --cuda-driver says which";
  return plan;
}

std::string alula::objects::describeOrigin(StringRef kind, ObjectAttr object) {
  std::string text = kind.str() + " " + object.getFileName().str() +
                     " sha256:" + object.getSha256().getValue().str();
  if (object.getTool())
    text += " \"" + object.getTool().getValue().str() + "\"";
  return text;
}
