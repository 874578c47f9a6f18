// Finds the sizes of a function's values on the host.

#include "compiler/dispatch/host_sizes.h"

#include "compiler/dispatch/shape_checks.h"
#include "dialect/chlo/functions.h"
#include "dialect/dispatch/kernel_call.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace alula::dispatch;

namespace {
RankedTensorType getType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

bool isDynamic(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !type.hasStaticShape();
}

/// Operands that an op reads sizes or edges from.
SmallVector<unsigned> getShapeOperands(Operation *op) {
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op);
      call && op->getNumOperands() == 2 &&
      call.getCallTargetName() == "stablehlo.dynamic_rng_bit_generator")
    return {1};
  SmallVector<unsigned> operands;
  for (OpOperand &use : op->getOpOperands())
    if (stablehlo::getAccess(use) == stablehlo::Access::Sizes)
      operands.push_back(use.getOperandNumber());
  return operands;
}

/// Says which dimensions are of one size before and after, whoever said so
/// before: a kernel can't know.
void markKept(stablehlo::DynamicBroadcastInDimOp broadcast, HostSizes &sizes) {
  SmallVector<int64_t> kept;
  for (auto [dim, target] :
       llvm::enumerate(broadcast.getBroadcastDimensions())) {
    auto from = static_cast<int64_t>(dim);
    if (getType(broadcast.getOperand()).isDynamicDim(unsigned(dim)) &&
        sizes.getDim(broadcast.getOperand(), from) ==
            sizes.getDim(broadcast.getResult(), target))
      kept.push_back(from);
  }
  broadcast.removeKnownExpandingDimensionsAttr();
  broadcast.removeKnownNonexpandingDimensionsAttr();
  if (!kept.empty())
    broadcast.setKnownNonexpandingDimensions(kept);
}

/// A kernel is passed the sizes of its results; the call's own operands stay.
void dropShapeOperands(stablehlo::CustomCallOp call) {
  auto indices =
      call->getAttrOfType<DenseIntElementsAttr>("indices_of_shape_operands");
  if (!indices || !isKernelCall(call.getCallTargetName()))
    return;
  llvm::BitVector dropped(call->getNumOperands());
  for (const APInt &index : indices.getValues<APInt>())
    if (index.ult(dropped.size()))
      dropped.set(static_cast<unsigned>(index.getZExtValue()));
  if (auto layouts = call.getOperandLayouts()) {
    SmallVector<Attribute> kept;
    for (auto [i, layout] : llvm::enumerate(*layouts))
      if (i >= dropped.size() || !dropped.test(static_cast<unsigned>(i)))
        kept.push_back(layout);
    call.setOperandLayoutsAttr(ArrayAttr::get(call.getContext(), kept));
  }
  call->eraseOperands(dropped);
  call->removeAttr("indices_of_shape_operands");
}
} // namespace

HostSizes::HostSizes(func::FuncOp function)
    : function(function), numbers(function), tensors(numbers) {
  tensors.setDims(
      [this](Value tensor, int64_t dim) { return getDim(tensor, dim); });
}

LogicalResult HostSizes::compute() {
  if (failed(computeBlock(function.front())))
    return failure();
  for (Operation *op : replaced)
    op->erase();
  return success();
}

Value HostSizes::getDim(Value tensor, int64_t dim) {
  RankedTensorType type = getType(tensor);
  if (!type.isDynamicDim(static_cast<unsigned>(dim)))
    return numbers.make(type.getDimSize(static_cast<unsigned>(dim)));
  auto found = sizes.find(tensor);
  // Of arguments, and of what loops, branches and calls give.
  if (found == sizes.end())
    return numbers.getDim(tensor, dim);
  return found->second[static_cast<size_t>(dim)];
}

Value HostSizes::getElement(Value tensor, ArrayRef<int64_t> position) {
  return tensors.getElement(tensor, position);
}

SmallVector<Value> HostSizes::getDynamicDims(Value tensor) {
  SmallVector<Value> dims;
  for (int64_t dim = 0; dim < getType(tensor).getRank(); ++dim)
    if (getType(tensor).isDynamicDim(static_cast<unsigned>(dim)))
      dims.push_back(getDim(tensor, dim));
  return dims;
}

void HostSizes::replace(Value old, Value by) {
  auto found = sizes.find(old);
  if (found == sizes.end())
    return;
  SmallVector<Value> same = found->second;
  sizes[by] = same;
}

LogicalResult HostSizes::computeBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (failed(computeOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult HostSizes::computeOp(Operation *op) {
  if (!chlo::isTensorOp(op))
    return success();
  if (stablehlo::isControlFlow(op)) {
    for (Region &region : op->getRegions())
      if (failed(computeBlock(region.front())))
        return failure();
    return success();
  }
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op);
      call && call.getCallTargetName() == "shape_assertion")
    return assertShape(op);
  for (OpResult result : op->getResults())
    if (isDynamic(result) && failed(computeResult(result)))
      return failure();
  if (auto size = dyn_cast<stablehlo::GetDimensionSizeOp>(op)) {
    Value number =
        getDim(size.getOperand(), static_cast<int64_t>(size.getDimension()));
    OpBuilder builder(op->getContext());
    builder.setInsertionPoint(op);
    auto packed = builder.create<PackOp>(op->getLoc(), size.getType(), number);
    op->replaceAllUsesWith(packed);
    // Values are known by their address, which must not be given away.
    replaced.push_back(op);
    return success();
  }
  if (Value same = getSame(op)) {
    op->getResult(0).replaceAllUsesWith(same);
    replaced.push_back(op);
    return success();
  }
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    dropShapeOperands(call);
  if (auto broadcast = dyn_cast<stablehlo::DynamicBroadcastInDimOp>(op))
    markKept(broadcast, *this);
  addShapeChecks(op, *this, numbers);
  for (unsigned number : getShapeOperands(op))
    pack(op->getOpOperand(number));
  return success();
}

// torch-mlir and TensorFlow broadcast both operands of an op, of which one has
// the shape already.
Value HostSizes::getSame(Operation *op) {
  if (auto broadcast = dyn_cast<stablehlo::DynamicBroadcastInDimOp>(op)) {
    for (auto [dim, target] :
         llvm::enumerate(broadcast.getBroadcastDimensions()))
      if (static_cast<int64_t>(dim) != target)
        return {};
  } else if (!isa<stablehlo::DynamicReshapeOp>(op)) {
    return {};
  }
  Value operand = op->getOperand(0), result = op->getResult(0);
  if (operand.getType() != result.getType() || !isDynamic(result))
    return {};
  for (int64_t dim = 0; dim < getType(result).getRank(); ++dim)
    if (getDim(operand, dim) != getDim(result, dim))
      return {};
  return operand;
}

LogicalResult HostSizes::computeResult(OpResult result) {
  Operation *op = result.getOwner();
  if (isa<stablehlo::CustomCallOp>(op))
    return computeCustomCallResult(result);
  auto all = stablehlo::computeResultSizes(result, *this);
  if (!all)
    return op->emitError()
           << "'" << op->getName().getStringRef()
           << "': no native code: sizes of a result do not follow from the "
              "operands: result "
           << result.getResultNumber() << " is " << result.getType();
  sizes[result] = *all;
  return success();
}

// An operand lists the sizes.
LogicalResult HostSizes::computeCustomCallResult(OpResult result) {
  Operation *op = result.getOwner();
  auto operands =
      op->getAttrOfType<DenseIntElementsAttr>("indices_of_shape_operands");
  unsigned number = result.getResultNumber();
  // This one says it by what it is.
  bool isGenerator = cast<stablehlo::CustomCallOp>(op).getCallTargetName() ==
                     "stablehlo.dynamic_rng_bit_generator";
  int64_t index = isGenerator && number == 1 ? 1 : -1;
  if (operands && number < operands.size())
    index = operands.getValues<APInt>()[number].getSExtValue();
  auto list = index >= 0 && index < op->getNumOperands()
                  ? dyn_cast<RankedTensorType>(
                        op->getOperand(static_cast<unsigned>(index)).getType())
                  : RankedTensorType();
  RankedTensorType type = getType(result);
  // Whoever calls says what is missing.
  if (!list || list.getRank() != 1 || list.getDimSize(0) != type.getRank())
    return success();
  SmallVector<Value> all;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    all.push_back(
        getElement(op->getOperand(static_cast<unsigned>(index)), {dim}));
  sizes[result] = all;
  return success();
}

/// A kernel is passed numbers instead of a tensor that holds them.
void HostSizes::pack(OpOperand &operand) {
  Value list = operand.get();
  RankedTensorType type = getType(list);
  // Constants too: a kernel that has them as numbers can compute with them.
  if (list.getDefiningOp<PackOp>() || !type.hasStaticShape())
    return;
  SmallVector<Value> elements;
  ArrayRef<int64_t> shape = type.getShape();
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    SmallVector<int64_t> position(shape.size());
    int64_t rest = i;
    for (size_t dim = shape.size(); dim-- > 0; rest /= shape[dim])
      position[dim] = rest % shape[dim];
    elements.push_back(getElement(list, position));
  }
  OpBuilder builder(operand.getOwner());
  // No memory has elements of type index.
  if (type.getElementType().isIndex())
    type = RankedTensorType::get(shape, builder.getI64Type());
  operand.set(
      builder.create<PackOp>(operand.getOwner()->getLoc(), type, elements));
}

LogicalResult HostSizes::assertShape(Operation *op) {
  auto message = op->getAttrOfType<StringAttr>("error_message");
  auto isFine = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 1 &&
           tensor.getElementType().isInteger();
  };
  if (!message || op->getNumResults() || op->getNumOperands() == 0 ||
      !llvm::all_of(op->getOperandTypes(), isFine))
    return op->emitError()
           << "'stablehlo.custom_call': shape assertion must have integers, no "
              "results and an error_message: has "
           << op->getNumOperands() << " operands, " << op->getNumResults()
           << " results";
  SmallVector<Value> values;
  for (Value operand : op->getOperands()) {
    SmallVector<int64_t> position(
        static_cast<size_t>(getType(operand).getRank()), 0);
    Value value = getElement(operand, position);
    bool isCondition = value.getType().isInteger(1);
    if (values.empty() && !isCondition)
      value = numbers.compare(arith::CmpIPredicate::ne, value, numbers.make(0));
    else if (!values.empty() && isCondition)
      value = numbers.select(value, numbers.make(1), numbers.make(0));
    values.push_back(value);
  }
  OpBuilder builder(op);
  if (!matchPattern(values.front(), m_One()))
    builder.create<AssertOp>(op->getLoc(), values.front(),
                             "'stablehlo.custom_call': shape assertion "
                             "failed: " +
                                 message.getValue().str(),
                             ArrayRef(values).drop_front());
  replaced.push_back(op);
  return success();
}
