// Computes ops whose operands are constants.
//   %1 = stablehlo.multiply %c2, %c3  →  %1 = stablehlo.constant dense<6>
// The reference interpreter does it; a splat is computed as one element. What
// would be larger than its operands, or take long, is left for run time;
// numbers of few bits stay what they are until they are multiplied (ADR 56).

#include "compiler/optimize/passes.h"
#include "dialect/chlo/functions.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"
#include "reference/interpreter.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace alula::optimize {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "compiler/optimize/passes.h.inc"
} // namespace alula::optimize

using namespace mlir;
using stablehlo::Access;

namespace {
/// Elements of a result that may be larger than the operands; elements that may
/// be computed, and moved.
constexpr int64_t maxGrown = 1 << 10, maxSteps = 1 << 16, maxMoved = 1 << 22;

bool isMoved(Operation *op) {
  return stablehlo::getElementCost(op) <= stablehlo::Cost::Convert &&
         stablehlo::readsOnly(op, Access::Elementwise | Access::Reshaped |
                                      Access::Permuted | Access::Moved |
                                      Access::Part | Access::Fill |
                                      Access::Indices | Access::Bits);
}

/// Their results are cheap to make where they are read, or not ours to make.
bool isLeftAlone(Operation *op) {
  return stablehlo::isControlFlow(op) || stablehlo::reachesOutside(op) ||
         isa<stablehlo::RngOp>(op) ||
         stablehlo::readsAny(op, Access::Carried) ||
         op->getNumOperands() == 0 || op->getNumResults() == 0;
}

int64_t countElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() ? tensor.getNumElements()
                                           : INT64_MAX;
}

/// Whether numbers of at most eight bits become wider ones.
bool widensFewBits(Operation *op) {
  constexpr unsigned few = 8;
  auto convert = dyn_cast<stablehlo::ConvertOp>(op);
  if (!convert)
    return false;
  Type from = getElementTypeOrSelf(convert.getOperand().getType());
  Type to = getElementTypeOrSelf(convert.getResult().getType());
  return from.isIntOrFloat() && to.isIntOrFloat() && !from.isInteger(1) &&
         from.getIntOrFloatBitWidth() <= few &&
         to.getIntOrFloatBitWidth() > few;
}

/// Whether an op reads the value that would stay if `op` were computed; ops
/// that are equal to it go with it. Of very many readers some are asked.
bool isReadByOthers(Value operand, Operation *op) {
  constexpr size_t someReaders = 64;
  size_t asked = 0;
  for (Operation *user : operand.getUsers()) {
    if (++asked > someReaders)
      return false;
    if (user != op && !OperationEquivalence::isEquivalentTo(
                          user, op, OperationEquivalence::IgnoreLocations))
      return true;
  }
  return false;
}

/// Elements that are read for all of the results.
int64_t countSteps(Operation *op) {
  int64_t results = 0, operands = 0;
  for (Type type : op->getResultTypes())
    results = std::max(results, countElements(type));
  for (Type type : op->getOperandTypes())
    operands = std::max(operands, countElements(type));
  int64_t terms = stablehlo::countTerms(op).value_or(maxSteps);
  int64_t made =
      results > maxSteps ? results : results * std::min(terms, maxSteps);
  return std::max(made, operands);
}

/// Sums are as exact as those of kernels.
auto compute(Operation *op, ArrayRef<ElementsAttr> operands) {
  alula::reference::EvalOptions options;
  options.wideSums = true;
  return alula::reference::foldOp(op, operands, options);
}

class Folder {
public:
  explicit Folder(Operation *op) : op(op) {}

  bool fold() {
    if (isLeftAlone(op) || !readsConstants())
      return false;
    if (isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp>(op)) {
      if (auto dense = dyn_cast<DenseElementsAttr>(operands[0]))
        if (dense.isSplat())
          return replace(dense.resizeSplat(getType(0)));
      if (isa<stablehlo::ReshapeOp>(op))
        return reshape();
    }
    return foldSplat() || foldElements();
  }

private:
  ShapedType getType(unsigned result) {
    return cast<ShapedType>(op->getResult(result).getType());
  }

  bool readsConstants() {
    for (Type type : op->getResultTypes())
      if (countElements(type) == INT64_MAX)
        return false;
    for (Value operand : op->getOperands()) {
      ElementsAttr value;
      if (!matchPattern(operand, m_Constant(&value)))
        return false;
      operands.push_back(value);
    }
    // What regions read of the outside is not known here.
    return llvm::none_of(op->getRegions(), stablehlo::readsOutside) &&
           isMemoryEffectFree(op);
  }

  bool reshape() {
    if (auto dense = dyn_cast<DenseElementsAttr>(operands[0]))
      return replace(dense.reshape(getType(0)));
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(operands[0]))
      return replace(
          DenseResourceElementsAttr::get(getType(0), resource.getRawHandle()));
    return false;
  }

  /// Every element of the result is the same.
  bool foldSplat() {
    if (!stablehlo::isElementwise(op) || op->getNumResults() != 1 ||
        getType(0).getNumElements() < 2)
      return false;
    OperationState state(op->getLoc(), op->getName());
    state.addTypes(getType(0).clone(ArrayRef<int64_t>()));
    state.addAttributes(op->getAttrs());
    SmallVector<ElementsAttr> scalars;
    OpBuilder builder(op->getContext());
    SmallVector<OwningOpRef<Operation *>> constants;
    for (ElementsAttr operand : operands) {
      auto dense = dyn_cast<DenseElementsAttr>(operand);
      if (!dense || !dense.isSplat())
        return false;
      auto scalar = dense.getType().clone(ArrayRef<int64_t>());
      scalars.push_back(dense.resizeSplat(scalar));
      constants.emplace_back(builder.create<stablehlo::ConstantOp>(
          op->getLoc(), cast<ElementsAttr>(scalars.back())));
      state.addOperands(constants.back()->getResult(0));
    }
    OwningOpRef<Operation *> one(Operation::create(state));
    auto results = compute(one.get(), scalars);
    // Before the constants that it reads.
    one = {};
    auto dense = results ? dyn_cast<DenseElementsAttr>(results->front())
                         : DenseElementsAttr();
    return dense && dense.isSplat() && replace(dense.resizeSplat(getType(0)));
  }

  bool foldElements() {
    int64_t numOperands = 0, numResults = 0;
    bool isShared = false;
    for (Value operand : op->getOperands()) {
      numOperands += countElements(operand.getType());
      isShared |= isReadByOthers(operand, op);
    }
    for (Type type : op->getResultTypes())
      numResults += countElements(type);
    bool grows = numResults > (isShared ? 0 : numOperands) || widensFewBits(op);
    if ((grows && numResults > maxGrown) ||
        countSteps(op) > (isMoved(op) ? maxMoved : maxSteps))
      return false;
    auto results = compute(op, operands);
    if (!results)
      return false;
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *results))
      if (value.getType() != result.getType())
        return false;
    OpBuilder builder(op);
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *results))
      result.replaceAllUsesWith(
          builder.create<stablehlo::ConstantOp>(op->getLoc(), value));
    op->erase();
    return true;
  }

  bool replace(ElementsAttr value) {
    OpBuilder builder(op);
    op->getResult(0).replaceAllUsesWith(
        builder.create<stablehlo::ConstantOp>(op->getLoc(), value));
    op->erase();
    return true;
  }

  Operation *op;
  SmallVector<ElementsAttr> operands;
};

struct FoldConstants
    : public alula::optimize::impl::FoldConstantsBase<FoldConstants> {
  void runOnOperation() override { foldRegions(getOperation()); }

  /// Operands come first, so that one round is enough.
  void foldRegions(Operation *parent) {
    for (Region &region : parent->getRegions())
      for (Block &block : region)
        for (Operation &op : llvm::make_early_inc_range(block)) {
          if (chlo::isTensorOp(&op) && !chlo::isSpecialFunction(&op) &&
              Folder(&op).fold())
            continue;
          foldRegions(&op);
        }
  }
};
} // namespace
