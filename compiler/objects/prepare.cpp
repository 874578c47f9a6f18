#include "compiler/objects/prepare.h"

#include "dialect/dispatch/imports.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace alula::objects;
using namespace alula::dispatch;

namespace {
constexpr StringLiteral substitutedName = "dispatch.substituted";

class Preparer {
public:
  Preparer(ModuleOp program, const PrepareOptions &options)
      : program(program), options(options) {}

  LogicalResult run() {
    for (auto executable : program.getOps<ExecutableOp>())
      prepare(executable);
    if (!good)
      return failure();
    remarkOnConstants();
    return success();
  }

private:
  void prepare(ExecutableOp executable) {
    bool isSubstituted = executable->hasAttr(substitutedName);
    executable->removeAttr(substitutedName);
    // Most have none, and none of what follows.
    bool hasObjects =
        executable.getObjects() && !executable.getObjects()->empty();
    bool isReplaced = true, isUsed = false;
    for (const TargetKey &key : options.targets) {
      auto objects = selectObjects(executable, key);
      if (failed(objects)) {
        good = false;
        continue;
      }
      isUsed |= !objects->empty();
      isReplaced &= !objects->empty();
      if (key.kind == "cuda")
        prepareCuda(executable, key, *objects);
      else
        prepareCpu(executable, key, *objects, isReplaced);
    }
    if (!hasObjects || !good)
      return;
    if (!isUsed && options.hasOtherTargets)
      return;
    if (isSubstituted && !isUsed) {
      sayNoFit(executable, options.targets.front());
      return;
    }
    finish(executable, isReplaced && !options.targets.empty());
  }

  void prepareCuda(ExecutableOp executable, const TargetKey &key,
                   ArrayRef<ObjectAttr> objects) {
    if (objects.empty() && executable.isExternal())
      return sayNoFit(executable, key);
    if (objects.empty() && executable.getInnerModule() &&
        callsImports(executable)) {
      executable.emitError()
          << "[obj-import] @" << executable.getSymName() << ": kernels of "
          << key.getText() << " can't call functions";
      good = false;
    } else if (!objects.empty()) {
      good &= succeeded(planPtxCode(executable, key, objects,
                                    options.cudaDriver, /*assembles=*/true));
    }
  }

  void prepareCpu(ExecutableOp executable, const TargetKey &key,
                  ArrayRef<ObjectAttr> objects, bool &isReplaced) {
    bool calls = executable.getInnerModule() && callsImports(executable);
    if (objects.empty() && executable.isExternal())
      return sayNoFit(executable, key);
    if (objects.empty() && !calls)
      return;
    auto plan = planCpuCode(executable, key, objects, options.isBuiltin);
    if (failed(plan))
      good = false;
    else
      isReplaced &= plan->replacesBodies;
  }

  static bool callsImports(ExecutableOp executable) {
    return llvm::any_of(
        *executable.getInnerModule().getBody(),
        [](Operation &op) { return op.hasAttr(importAttributeName); });
  }

  void sayNoFit(ExecutableOp executable, const TargetKey &key) {
    SmallVector<std::string> patterns;
    for (auto object : executable.getObjects()->getAsRange<ObjectAttr>())
      patterns.push_back("'" + object.getFileName().str() + "' is for " +
                         object.getTargetPattern().str());
    executable.emitError() << "[obj-target] @" << executable.getSymName()
                           << ": no object is for " << key.getText() << ": "
                           << llvm::join(patterns, ", ");
    good = false;
  }

  /// All code is elsewhere: the body goes. Or some is: then the grid of both is
  /// that of the object.
  void finish(ExecutableOp executable, bool isReplaced) {
    if (isReplaced) {
      if (ModuleOp bodies = executable.getInnerModule())
        bodies.erase();
      OpBuilder::atBlockEnd(&executable.getBody().front())
          .create<ModuleOp>(executable.getLoc());
    }
    for (auto entry : executable.getBody().getOps<EntryOp>())
      entry.setPinned(true);
  }

  /// What others compute is not computed here, even if it could be.
  void remarkOnConstants() {
    program.walk([&](LaunchOp launch) {
      auto executable = program.lookupSymbol<ExecutableOp>(
          launch.getEntry().getRootReference());
      if (!executable || !launch.getInputs().size() ||
          !llvm::all_of(launch.getInputs(), [](Value input) {
            return matchPattern(input, m_Constant());
          }))
        return;
      std::string import = findImport(executable);
      if (!import.empty())
        launch.emitRemark() << "not evaluated: needs import " << import;
    });
  }

  static std::string findImport(ExecutableOp executable) {
    if (executable.isExternal()) {
      auto objects = executable.getObjects()->getAsRange<ObjectAttr>();
      return "'" + (*objects.begin()).getFileName().str() + "'";
    }
    for (Operation &op : *executable.getInnerModule().getBody())
      if (getImportKind(&op))
        return "'" +
               readImportName(SymbolTable::getSymbolName(&op).getValue()).name +
               "'";
    return "";
  }

  ModuleOp program;
  const PrepareOptions &options;
  bool good = true;
};
} // namespace

LogicalResult alula::objects::prepareObjects(ModuleOp program,
                                             const PrepareOptions &options) {
  return Preparer(program, options).run();
}
