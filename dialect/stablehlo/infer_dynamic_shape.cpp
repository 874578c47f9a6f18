// Rules of the ops whose result has a shape that an operand gives.

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/movement_rules.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/shape_math.h"

using namespace mlir;
using namespace mlir::stablehlo;

LogicalResult DynamicBroadcastInDimOp::verify() {
  RuleSite site(*this);
  RankedTensorType operand = getOperand().getType(), result = getType();
  ArrayRef<int64_t> dimensions = getBroadcastDimensions();
  if (failed(verifyShapeOperand(site, "output_dimensions",
                                getOutputDimensions(), result)) ||
      failed(verifyBroadcast(site, operand, dimensions, result,
                             /*resultIsKnown=*/false)))
    return failure();

  std::optional<ArrayRef<int64_t>> expanding = getKnownExpandingDimensions();
  std::optional<ArrayRef<int64_t>> kept = getKnownNonexpandingDimensions();
  NamedDims lists[] = {
      {"known_expanding_dimensions", expanding.value_or(ArrayRef<int64_t>())},
      {"known_nonexpanding_dimensions", kept.value_or(ArrayRef<int64_t>())}};
  for (const NamedDims &list : lists)
    if (failed(verifyInRange(site, list, operand.getRank())))
      return failure();
  if (failed(verifyUnique(site, lists)))
    return failure();

  std::optional<SmallVector<int64_t>> sizes =
      readConstant(getOutputDimensions());
  if (!sizes)
    return success();
  for (auto [index, dim] : llvm::enumerate(dimensions)) {
    int64_t size = operand.getDimSize(index), target = (*sizes)[dim];
    if (size != 1 && !agree(size, target))
      return site.fail("size must be 1 or that of the result: dimension ",
                       index, " of the operand is ", size,
                       ", output_dimensions give ", target, " for dimension ",
                       dim);
  }
  return success();
}

LogicalResult DynamicIotaOp::verify() {
  RuleSite site(*this);
  if (failed(verifyShapeOperand(site, "output_shape", getOutputShape(),
                                getType())))
    return failure();
  return verifyInRange(site, "iota_dimension",
                       static_cast<int64_t>(getIotaDimension()),
                       getType().getRank());
}

LogicalResult DynamicPadOp::verify() {
  RuleSite site(*this);
  RankedTensorType operand = getOperand().getType(), result = getType();
  if (elementType(getPaddingValue().getType()) != operand.getElementType() ||
      result.getElementType() != operand.getElementType())
    return site.fail("element types must be equal: operand is ", operand,
                     ", padding_value is ", getPaddingValue().getType(),
                     ", result is ", result);
  int64_t rank = operand.getRank();
  if (result.getRank() != rank)
    return site.fail("result must have the operand's rank: operand is ",
                     operand, ", result is ", result);
  std::pair<StringRef, Value> paddings[] = {
      {"edge_padding_low", getEdgePaddingLow()},
      {"edge_padding_high", getEdgePaddingHigh()},
      {"interior_padding", getInteriorPadding()}};
  std::optional<SmallVector<int64_t>> known[3];
  for (auto [index, padding] : llvm::enumerate(paddings)) {
    auto [name, value] = padding;
    int64_t count = cast<ShapedType>(value.getType()).getDimSize(0);
    if (count != rank)
      return site.fail(name,
                       " must have an entry for each dimension of the "
                       "operand: has ",
                       count, ", operand is ", operand);
    known[index] = readConstant(value);
  }
  auto &[low, high, interior] = known;
  if (!interior)
    return success();
  for (auto [dim, count] : llvm::enumerate(*interior))
    if (count < 0)
      return site.fail("interior_padding must not be negative: is ", count,
                       " in dimension ", dim);
  if (!low || !high)
    return success();
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = operand.getDimSize(dim);
    if (ShapedType::isDynamic(size))
      continue;
    std::optional<int64_t> padded =
        padSize(size, (*low)[dim], (*high)[dim], (*interior)[dim]);
    if (!padded)
      return site.fail("padded size must fit 64 bits: dimension ", dim,
                       " does not");
    if (*padded < 0)
      return site.fail("padded size must not be negative: is ", *padded,
                       " in dimension ", dim);
    if (!agree(result.getDimSize(dim), *padded))
      return site.fail("result must have the padded size: is ",
                       result.getDimSize(dim), " in dimension ", dim,
                       ", padded size is ", *padded);
  }
  return success();
}

LogicalResult DynamicReshapeOp::verify() {
  RuleSite site(*this);
  RankedTensorType operand = getOperand().getType();
  if (failed(verifyReshape(site, operand, getType())) ||
      failed(verifyShapeOperand(site, "output_shape", getOutputShape(),
                                getType())))
    return failure();
  std::optional<SmallVector<int64_t>> sizes = readConstant(getOutputShape());
  if (!sizes || !operand.hasStaticShape())
    return success();
  std::optional<int64_t> before = countElements(operand.getShape());
  std::optional<int64_t> after = countElements(*sizes);
  if (!before || !after)
    return site.fail("number of elements must fit 64 bits: operand is ",
                     operand, ", output_shape is ", shapeText(*sizes));
  if (before != after)
    return site.fail("number of elements must stay: operand ", operand, " has ",
                     *before, ", output_shape ", shapeText(*sizes), " has ",
                     *after);
  return success();
}
