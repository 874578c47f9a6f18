#include "compiler/driver/stages_sizes.h"

#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace alula::driver;

std::optional<int64_t> KnownSizes::evaluate(Value number) {
  // Before it is computed, so that what hangs on itself ends.
  if (auto [found, isNew] = known.insert({number, std::nullopt}); !isNew)
    return found->second;
  std::optional<int64_t> value = compute(number);
  known[number] = value;
  return value;
}

std::optional<int64_t> KnownSizes::compute(Value number) {
  Operation *op = number.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    auto index = evaluate(dim.getIndex());
    return index ? computeDim(dim.getSource(), *index) : std::nullopt;
  }
  if (op->getNumResults() != 1 || op->getNumRegions())
    return std::nullopt;
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    if (!operand.getType().isIntOrIndex())
      return std::nullopt;
    auto value = evaluate(operand);
    if (!value)
      return std::nullopt;
    operands.push_back(IntegerAttr::get(operand.getType(), *value));
  }
  // Folding may change an op in place, and this one is not ours.
  Operation *copy = op->clone();
  SmallVector<OpFoldResult> results;
  bool isFolded = succeeded(copy->fold(operands, results));
  copy->destroy();
  if (!isFolded || results.empty())
    return std::nullopt;
  if (auto other = dyn_cast<Value>(results.front()))
    return evaluate(other);
  if (auto integer = dyn_cast<IntegerAttr>(cast<Attribute>(results.front())))
    return integer.getValue().getSExtValue();
  return std::nullopt;
}

std::optional<int64_t> KnownSizes::computeDim(Value tensor, int64_t dim) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || dim < 0 || dim >= type.getRank())
    return std::nullopt;
  if (!type.isDynamicDim(static_cast<unsigned>(dim)))
    return type.getDimSize(static_cast<unsigned>(dim));
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (!function || !argument.getOwner()->isEntryBlock())
      return std::nullopt;
    std::string name =
        std::to_string(argument.getArgNumber()) + "." + std::to_string(dim);
    for (const std::string &each :
         {function.getSymName().str() + ":" + name, name})
      if (auto found = sizes.find(each); found != sizes.end())
        return found->second;
    return std::nullopt;
  }
  // Launches and views list the sizes of their results.
  Operation *op = tensor.getDefiningOp();
  ValueRange dims;
  if (auto launch = dyn_cast<dispatch::LaunchOp>(op))
    dims = launch.getResultDims();
  else if (auto view = dyn_cast<dispatch::ViewOp>(op))
    dims = view.getResultDims();
  else
    return std::nullopt;
  size_t number = 0;
  for (OpResult result : op->getResults()) {
    auto each = cast<RankedTensorType>(result.getType());
    if (result == tensor) {
      for (int64_t i = 0; i < dim; ++i)
        number += each.isDynamicDim(static_cast<unsigned>(i));
      break;
    }
    number += static_cast<size_t>(each.getNumDynamicDims());
  }
  return number < dims.size() ? evaluate(dims[number]) : std::nullopt;
}

RankedTensorType KnownSizes::evaluateType(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    auto size = computeDim(tensor, i);
    if (!size || *size < 0)
      return {};
    shape.push_back(*size);
  }
  // Without bounds: they are of sizes that aren't known.
  return RankedTensorType::get(shape, type.getElementType());
}
