// Rules of broadcasts, reshapes and operands that hold shapes.

#include "dialect/stablehlo/movement_rules.h"

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/quantized_rules.h"
#include "dialect/stablehlo/shape_math.h"
#include "dialect/stablehlo/type_rules.h"

#include "mlir/Dialect/Quant/QuantTypes.h"

using namespace mlir;
using namespace mlir::stablehlo;
using quant::UniformQuantizedPerAxisType;

namespace {
/// A scale and zero point of the operand's only slice must be those of every
/// slice of the result.
LogicalResult verifyBroadcastScales(const RuleSite &site,
                                    UniformQuantizedPerAxisType operand,
                                    UniformQuantizedPerAxisType result) {
  for (auto [index, scale, zeroPoint] :
       llvm::enumerate(result.getScales(), result.getZeroPoints())) {
    if (scale != operand.getScales().front())
      return site.fail("scales must be that of the broadcast slice: scale ",
                       index, " of the result is ", scale, ", operand has ",
                       operand.getScales().front());
    if (zeroPoint != operand.getZeroPoints().front())
      return site.fail("zero points must be that of the broadcast slice: zero "
                       "point ",
                       index, " of the result is ", zeroPoint, ", operand has ",
                       operand.getZeroPoints().front());
  }
  return success();
}

/// Sizes of dimensions before, at, and after the quantization dimension must
/// multiply to the same, so that a slice keeps its elements.
LogicalResult verifyReshapedAxis(const RuleSite &site, RankedTensorType operand,
                                 RankedTensorType result) {
  std::optional<int64_t> from = quantizedDimension(operand.getElementType());
  std::optional<int64_t> to = quantizedDimension(result.getElementType());
  if (!from || !to)
    return success();
  auto compare = [&](ArrayRef<int64_t> before, ArrayRef<int64_t> after,
                     StringRef what) -> LogicalResult {
    if (llvm::any_of(before, ShapedType::isDynamic) ||
        llvm::any_of(after, ShapedType::isDynamic) ||
        countElements(before) == countElements(after))
      return success();
    return site.fail("sizes ", what,
                     " the quantization dimension must have "
                     "the same product: operand is ",
                     operand, ", result is ", result);
  };
  ArrayRef<int64_t> source = operand.getShape(), target = result.getShape();
  if (failed(compare(source.take_front(*from), target.take_front(*to),
                     "before")) ||
      failed(compare(source.slice(*from, 1), target.slice(*to, 1), "of")) ||
      failed(compare(source.drop_front(*from + 1), target.drop_front(*to + 1),
                     "after")))
    return failure();
  return success();
}
} // namespace

LogicalResult stablehlo::verifyKeptElementType(const RuleSite &site,
                                               Type operand, Type result) {
  Type from = elementType(operand), to = elementType(result);
  auto fromAxis = dyn_cast<UniformQuantizedPerAxisType>(from);
  auto toAxis = dyn_cast<UniformQuantizedPerAxisType>(to);
  bool isKept = from == to;
  if (fromAxis && toAxis)
    isKept = areCompatibleElementTypes(from, to) &&
             fromAxis.getScales() == toAxis.getScales() &&
             fromAxis.getZeroPoints() == toAxis.getZeroPoints();
  // Blocks change their layout with the shape.
  if (!isPerTensorQuantizedElement(from) && !fromAxis &&
      !isPerTensorQuantizedElement(to) && !toAxis)
    isKept = areCompatibleElementTypes(from, to);
  if (isKept)
    return success();
  return site.fail("result must have the operand's element type: operand has ",
                   from, ", result has ", to);
}

LogicalResult stablehlo::verifyBroadcast(const RuleSite &site,
                                         RankedTensorType operand,
                                         ArrayRef<int64_t> dimensions,
                                         RankedTensorType result,
                                         bool resultIsKnown) {
  Type from = operand.getElementType(), to = result.getElementType();
  auto fromAxis = dyn_cast<UniformQuantizedPerAxisType>(from);
  auto toAxis = dyn_cast<UniformQuantizedPerAxisType>(to);
  if (!areCompatibleElementTypes(from, to) || !fromAxis != !toAxis ||
      (!fromAxis && isPerTensorQuantizedElement(from) && from != to))
    return site.fail("result must have the operand's element type: operand "
                     "has ",
                     from, ", result has ", to);
  if (static_cast<int64_t>(dimensions.size()) != operand.getRank())
    return site.fail("broadcast_dimensions must have an entry for each "
                     "dimension of the operand: has ",
                     dimensions.size(), ", operand is ", operand);
  NamedDims list{"broadcast_dimensions", dimensions};
  if (failed(verifyInRange(site, list, result.getRank())) ||
      failed(verifyUnique(site, list)))
    return failure();
  for (auto [index, dim] : llvm::enumerate(dimensions)) {
    int64_t size = operand.getDimSize(index), target = result.getDimSize(dim);
    bool fits = ShapedType::isDynamic(target) && resultIsKnown
                    ? ShapedType::isDynamic(size)
                    : agree(size, target);
    if (size != 1 && !fits)
      return site.fail("size must be 1 or that of the result: dimension ",
                       index, " of the operand is ", sizeText(size),
                       ", dimension ", dim, " of the result is ",
                       sizeText(target));
  }
  if (!fromAxis)
    return success();
  int32_t fromDim = fromAxis.getQuantizedDimension();
  if (toAxis.getQuantizedDimension() != dimensions[fromDim])
    return site.fail("quantization dimension must move with its dimension: "
                     "operand has ",
                     fromDim, " which becomes ", dimensions[fromDim],
                     ", result has ", toAxis.getQuantizedDimension());
  if (operand.getDimSize(fromDim) == 1)
    return verifyBroadcastScales(site, fromAxis, toAxis);
  return success();
}

LogicalResult stablehlo::verifyReshape(const RuleSite &site,
                                       RankedTensorType operand,
                                       RankedTensorType result) {
  if (failed(verifyKeptElementType(site, operand, result)))
    return failure();
  if (operand.hasStaticShape() && result.hasStaticShape()) {
    std::optional<int64_t> before = countElements(operand.getShape());
    std::optional<int64_t> after = countElements(result.getShape());
    if (!before || !after)
      return site.fail("number of elements must fit 64 bits: operand is ",
                       operand, ", result is ", result);
    if (before != after)
      return site.fail("number of elements must stay: operand ", operand,
                       " has ", *before, ", result ", result, " has ", *after);
  }
  return verifyReshapedAxis(site, operand, result);
}

LogicalResult stablehlo::verifyShapeOperand(const RuleSite &site,
                                            StringRef name, Value dims,
                                            RankedTensorType type) {
  int64_t count = cast<ShapedType>(dims.getType()).getDimSize(0);
  if (count != type.getRank())
    return site.fail(name,
                     " must have a size for each dimension of the "
                     "result: has ",
                     count, ", result is ", type);
  std::optional<SmallVector<int64_t>> sizes = readConstant(dims);
  if (!sizes)
    return success();
  for (auto [index, size] : llvm::enumerate(*sizes)) {
    if (size < 0)
      return site.fail(name, " must not be negative: is ", size,
                       " in dimension ", index);
    int64_t bound = boundOf(type, index);
    if (agree(type.getDimSize(index), size) &&
        (ShapedType::isDynamic(bound) || size <= bound))
      continue;
    return site.fail(name, " must give the shape of the result: gives ", size,
                     " in dimension ", index, ", result is ", type);
  }
  return success();
}
