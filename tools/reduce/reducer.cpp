// Delta debugging: many ops at once at first, then fewer, as long as anything
// goes.

#include "tools/reduce/reducer.h"

#include "dialect/chlo/functions.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace {
using Edit = std::function<void(ModuleOp, size_t first, size_t count)>;

size_t countOps(ModuleOp module) {
  size_t count = 0;
  module.walk([&](Operation *op) {
    // A constant in the place of an op is progress.
    count += isa<stablehlo::ConstantOp>(op) ? 1 : 2;
  });
  return count;
}

template <typename Op> SmallVector<Op> collect(ModuleOp module) {
  SmallVector<Op> ops;
  module.walk([&](Op op) { ops.push_back(op); });
  return ops;
}

/// Ops whose results can be had in another way.
SmallVector<Operation *> collectValues(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (chlo::isTensorOp(op) &&
        op->getNumResults() && !isa<stablehlo::ConstantOp>(op))
      ops.push_back(op);
  });
  return ops;
}

/// A value of the type without `op`; null if there is none.
Value findSubstitute(Operation *op, Type type) {
  for (Value operand : op->getOperands())
    if (operand.getType() == type)
      return operand;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      !isa<IntegerType, FloatType>(tensor.getElementType()))
    return {};
  Type element = tensor.getElementType();
  Attribute zero = isa<FloatType>(element)
                       ? Attribute(FloatAttr::get(element, 0.0))
                       : IntegerAttr::get(element, 0);
  OpBuilder builder(op);
  return builder.create<stablehlo::ConstantOp>(
      op->getLoc(), DenseElementsAttr::get(tensor, zero));
}

void dropValues(ModuleOp module, size_t first, size_t count) {
  for (Operation *op :
       llvm::reverse(ArrayRef(collectValues(module)).slice(first, count)))
    for (Value result : op->getResults())
      if (!result.use_empty())
        if (Value other = findSubstitute(op, result.getType()))
          result.replaceAllUsesWith(other);
}

SmallVector<func::ReturnOp> collectReturns(ModuleOp module) {
  SmallVector<func::ReturnOp> returns;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() &&
        SymbolTable::symbolKnownUseEmpty(function, module))
      for (Block &block : function.getBody())
        if (auto op = dyn_cast<func::ReturnOp>(block.getTerminator()))
          returns.push_back(op);
  return returns;
}

size_t countResults(ModuleOp module) {
  size_t count = 0;
  for (func::ReturnOp op : collectReturns(module))
    count += op.getNumOperands();
  return count;
}

void dropResults(ModuleOp module, size_t first, size_t count) {
  size_t number = 0;
  for (func::ReturnOp op : collectReturns(module)) {
    auto function = op->getParentOfType<func::FuncOp>();
    for (unsigned i = 0, kept = 0, n = op.getNumOperands(); i < n; ++i) {
      if (number >= first && number < first + count) {
        op.getOperandsMutable().erase(kept);
        function.eraseResult(kept);
      } else {
        ++kept;
      }
      ++number;
    }
  }
}

void dropFunctions(ModuleOp module, size_t first, size_t count) {
  for (func::FuncOp function :
       ArrayRef(collect<func::FuncOp>(module)).slice(first, count))
    if (SymbolTable::symbolKnownUseEmpty(function, module))
      function.erase();
}

/// What nobody reads; whoever reduces does not care for effects that the test
/// doesn't see.
void dropDead(ModuleOp module) {
  module.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (op->getNumResults() && op->use_empty())
      op->erase();
  });
}

class Reducer {
public:
  Reducer(OwningOpRef<ModuleOp> module,
          const std::function<bool(ModuleOp)> &isInteresting)
      : module(std::move(module)), isInteresting(isInteresting) {}

  OwningOpRef<ModuleOp> run() {
    size_t before;
    do {
      before = countOps(*module) + countResults(*module);
      reduce(dropFunctions,
             [](ModuleOp each) { return collect<func::FuncOp>(each).size(); });
      reduce(dropResults, countResults);
      reduce(dropValues,
             [](ModuleOp each) { return collectValues(each).size(); });
    } while (countOps(*module) + countResults(*module) < before);
    return std::move(module);
  }

private:
  void reduce(const Edit &edit, size_t (*countPlaces)(ModuleOp)) {
    size_t places = countPlaces(*module);
    for (size_t size = places; size; size /= 2)
      for (size_t first = 0; first < countPlaces(*module);)
        // What is gone makes room for what comes after it.
        if (!tryEdit(edit, first, std::min(size, countPlaces(*module) - first)))
          first += size;
  }

  bool tryEdit(const Edit &edit, size_t first, size_t count) {
    OwningOpRef<ModuleOp> smaller(module->clone());
    edit(*smaller, first, count);
    dropDead(*smaller);
    if (countOps(*smaller) + countResults(*smaller) >=
        countOps(*module) + countResults(*module))
      return false;
    // An edit that breaks the program is no news.
    ScopedDiagnosticHandler silence(module->getContext(),
                                    [](Diagnostic &) { return success(); });
    if (failed(verify(*smaller)) || !isInteresting(*smaller))
      return false;
    module = std::move(smaller);
    return true;
  }

  OwningOpRef<ModuleOp> module;
  const std::function<bool(ModuleOp)> &isInteresting;
};
} // namespace

OwningOpRef<ModuleOp> alula::reduce::reduceProgram(
    OwningOpRef<ModuleOp> module,
    const std::function<bool(ModuleOp)> &isInteresting) {
  return Reducer(std::move(module), isInteresting).run();
}
