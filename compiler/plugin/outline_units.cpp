// op {dispatch.unit = "u"} … → dispatch.launch @u::@u, at the last of the ops.
// Constants that they use come along.

#include "compiler/plugin/outline_units.h"

#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace alula::dispatch;

namespace {
using Unit = SmallVector<Operation *>;
/// What the ops are, if they were found by a pattern: the executable says it.
constexpr llvm::StringLiteral patternName = "dispatch.pattern";

InFlightDiagnostic complain(Operation *op, StringRef unit) {
  return op->emitError() << "[plug-stage] stage formation.match: unit '" << unit
                         << "': ";
}

class Outliner {
public:
  Outliner(StringAttr name, const Unit &unit, SymbolTable &symbols)
      : name(name), unit(unit), members(unit.begin(), unit.end()),
        symbols(symbols) {}

  LogicalResult run() {
    for (Operation *op : unit)
      if (op->getBlock() != unit.front()->getBlock())
        return complain(op, name) << "its ops must be in one block";
    for (Operation *op : unit)
      if (failed(takeOperands(op)) || failed(takeResults(op)))
        return failure();
    if (!outputs.empty())
      makeExecutable();
    return success();
  }

private:
  bool isInside(Operation *op) const {
    for (; op; op = op->getParentOp())
      if (members.contains(op))
        return true;
    return false;
  }

  LogicalResult checkType(Operation *op, Type type) const {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.hasStaticShape())
      return success();
    return complain(op, name)
           << "only tensors of static shape go in and out: is " << type;
  }

  LogicalResult takeOperands(Operation *op) {
    llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value value : used) {
      Operation *maker = value.getDefiningOp();
      if (maker && isInside(maker))
        continue;
      if (maker && maker->hasTrait<OpTrait::ConstantLike>()) {
        constants.insert(maker);
        continue;
      }
      if (failed(checkType(op, value.getType())))
        return failure();
      inputs.insert(value);
    }
    return success();
  }

  LogicalResult takeResults(Operation *op) {
    Operation *last = unit.back();
    for (Value result : op->getResults())
      for (Operation *user : result.getUsers()) {
        if (isInside(user))
          continue;
        Operation *place = last->getBlock()->findAncestorOpInBlock(*user);
        if (place && place->isBeforeInBlock(last))
          return complain(user, name)
                 << user->getName() << " stands between its ops and uses one";
        if (failed(checkType(op, result.getType())))
          return failure();
        outputs.insert(result);
      }
    return success();
  }

  void makeExecutable() {
    Operation *last = unit.back();
    Location location = last->getLoc();
    OpBuilder b(last->getContext());
    auto executable = b.create<ExecutableOp>(
        location, name, b.getStringAttr("private"), /*objects=*/ArrayAttr());
    if (Attribute pattern = last->getAttr(patternName))
      executable->setAttr(patternName, pattern);
    StringAttr symbol = symbols.insert(executable);
    b.setInsertionPointToEnd(&executable.getBody().emplaceBlock());
    SmallVector<Attribute> bindings(
        inputs.size(), AccessAttr::get(b.getContext(), Access::Read));
    bindings.append(outputs.size(),
                    AccessAttr::get(b.getContext(), Access::Write));
    b.create<EntryOp>(location, symbol, b.getArrayAttr(bindings),
                      b.getDenseI64ArrayAttr({1, 1, 1}), b.getI64IntegerAttr(0),
                      b.getI64IntegerAttr(0),
                      /*workgroup_size=*/DenseI64ArrayAttr(),
                      /*workgroup_count=*/FlatSymbolRefAttr(),
                      /*added_constants=*/FlatSymbolRefAttr(),
                      /*pinned=*/UnitAttr());
    auto inner = b.create<ModuleOp>(location);
    b.setInsertionPointToEnd(inner.getBody());
    ValueRange ins = inputs.getArrayRef(), outs = outputs.getArrayRef();
    auto kernel = b.create<func::FuncOp>(
        location, symbol, b.getFunctionType(ins.getTypes(), outs.getTypes()));
    fillBody(kernel);
    b.setInsertionPoint(last);
    auto entry = SymbolRefAttr::get(symbol, {FlatSymbolRefAttr::get(symbol)});
    auto launch = b.create<LaunchOp>(location, outs.getTypes(), entry, ins);
    for (auto [output, result] : llvm::zip_equal(
             SmallVector<Value>(outputs.getArrayRef()), launch->getResults()))
      output.replaceUsesWithIf(
          result, [&](OpOperand &use) { return !isInside(use.getOwner()); });
    for (Operation *op : llvm::reverse(unit))
      op->erase();
  }

  void fillBody(func::FuncOp kernel) {
    IRMapping mapping;
    OpBuilder b = OpBuilder::atBlockBegin(kernel.addEntryBlock());
    mapping.map(inputs.getArrayRef(), kernel.getArguments());
    for (Operation *constant : constants)
      b.clone(*constant, mapping);
    for (Operation *op : unit) {
      Operation *copy = b.clone(*op, mapping);
      copy->removeAttr(alula::plugin::unitAttributeName);
      copy->removeAttr(patternName);
    }
    SmallVector<Value> results;
    for (Value output : outputs)
      results.push_back(mapping.lookup(output));
    b.create<func::ReturnOp>(unit.back()->getLoc(), results);
  }

  StringAttr name;
  const Unit &unit;
  llvm::DenseSet<Operation *> members;
  SymbolTable &symbols;
  llvm::SetVector<Operation *> constants;
  llvm::SetVector<Value> inputs, outputs;
};
} // namespace

LogicalResult alula::plugin::outlineUnits(ModuleOp module) {
  llvm::MapVector<StringAttr, Unit> units;
  bool isGood = true;
  for (auto function : module.getOps<func::FuncOp>())
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      Attribute given = op->getAttr(unitAttributeName);
      if (!given)
        return WalkResult::advance();
      auto name = dyn_cast<StringAttr>(given);
      if (!name || name.empty() || op->hasTrait<OpTrait::IsTerminator>()) {
        complain(op, "?") << "must be a name, on an op that ends no block";
        isGood = false;
        return WalkResult::interrupt();
      }
      units[name].push_back(op);
      return WalkResult::skip();
    });
  if (!isGood)
    return failure();
  SymbolTable symbols(module);
  for (auto &[name, unit] : units)
    if (failed(Outliner(name, unit, symbols).run()))
      return failure();
  return success();
}
