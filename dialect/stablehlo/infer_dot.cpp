// Verifiers of the matrix products: dot_general, and the older dot and einsum.

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/einsum_config.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/product_dims.h"
#include "dialect/stablehlo/quantized_rules.h"

#include <map>

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
LogicalResult verifyResultShape(const RuleSite &site, const ShapeBuilder &shape,
                                RankedTensorType result) {
  RankedTensorType expected = shape.get(result.getElementType());
  if (areCompatibleShapes(expected, result))
    return success();
  return site.fail("result shape must be ", shapeText(shape.getSizes()),
                   ": result is ", result);
}

/// A batch dimension is as its operand says that knows its size.
LogicalResult verifyResultShape(const RuleSite &site, RankedTensorType lhs,
                                RankedTensorType rhs,
                                ArrayRef<ProductDim> dims,
                                RankedTensorType result) {
  ShapeBuilder shape;
  for (ProductDim dim : dims) {
    bool isRight =
        dim.lhs < 0 || (dim.rhs >= 0 && lhs.isDynamicDim(dim.lhs));
    shape.addDim(isRight ? rhs : lhs, isRight ? dim.rhs : dim.lhs);
  }
  return verifyResultShape(site, shape, result);
}

LogicalResult verifyPrecision(const RuleSite &site,
                              std::optional<ArrayAttr> precision) {
  // The specification asks for exactly two; files with one exist.
  if (precision && precision->size() > 2)
    return site.fail("precision_config must have at most 2 entries: has ",
                     precision->size());
  return success();
}

/// What lhs and rhs must have in common where neither is quantized. The
/// specification asks for equal types; programs also multiply floats of
/// different widths, so that the same kind is enough.
LogicalResult verifyOperandKinds(const RuleSite &site, Type lhs, Type rhs) {
  if (isQuantizedElement(lhs) || isQuantizedElement(rhs))
    return success();
  bool sameKind =
      lhs == rhs || (isFloatElement(lhs) && isFloatElement(rhs)) ||
      (isa<ComplexType>(lhs) && isa<ComplexType>(rhs)) ||
      (isa<IntegerType>(lhs) && isa<IntegerType>(rhs) && !lhs.isInteger(1) &&
       !rhs.isInteger(1));
  if (sameKind)
    return success();
  return site.fail("element types of lhs and rhs must be of one kind: lhs is ",
                   lhs, ", rhs is ", rhs);
}

LogicalResult verifyPairedDims(const RuleSite &site, StringRef kind,
                               RankedTensorType lhs, ArrayRef<int64_t> lhsDims,
                               RankedTensorType rhs,
                               ArrayRef<int64_t> rhsDims) {
  if (lhsDims.size() != rhsDims.size())
    return site.fail("number of ", kind,
                     " dimensions must be equal: lhs has ", lhsDims.size(),
                     ", rhs has ", rhsDims.size());
  std::string lhsName = ("lhs_" + kind + "_dimensions").str();
  std::string rhsName = ("rhs_" + kind + "_dimensions").str();
  if (failed(verifyInRange(site, {lhsName, lhsDims}, lhs.getRank())) ||
      failed(verifyInRange(site, {rhsName, rhsDims}, rhs.getRank())))
    return failure();
  for (auto [lhsDim, rhsDim] : llvm::zip_equal(lhsDims, rhsDims))
    if (!agree(lhs.getDimSize(lhsDim), rhs.getDimSize(rhsDim)))
      return site.fail(kind, " dimension sizes must be equal: lhs dim ", lhsDim,
                       " is ", lhs.getDimSize(lhsDim), ", rhs dim ", rhsDim,
                       " is ", rhs.getDimSize(rhsDim));
  return success();
}

/// C15 and C16: what a product asks of the quantization of rhs.
LogicalResult verifyQuantizedRhs(const RuleSite &site, Type rhs,
                                 ArrayRef<int64_t> contracting) {
  if (!hasZeroZeroPoints(rhs))
    return site.fail("zero points of rhs must be 0: rhs is ", rhs);
  std::optional<int64_t> dim = quantizedDimension(rhs);
  if (dim && llvm::is_contained(contracting, *dim))
    return site.fail("quantization dimension of rhs must not be contracted: "
                     "is ",
                     *dim, ", rhs_contracting_dimensions is ",
                     shapeText(contracting));
  return success();
}

/// The rules of both dots about element types.
LogicalResult verifyProductTypes(const RuleSite &site, RankedTensorType lhs,
                                 RankedTensorType rhs,
                                 RankedTensorType result) {
  if (failed(verifyOperandKinds(site, lhs.getElementType(),
                                rhs.getElementType())))
    return failure();
  return verifyQuantizedProduct(site, lhs.getElementType(),
                                rhs.getElementType(), result.getElementType());
}
} // namespace

LogicalResult DotOp::verify() {
  RuleSite site(*this);
  auto lhs = cast<RankedTensorType>(getLhs().getType());
  auto rhs = cast<RankedTensorType>(getRhs().getType());
  auto result = cast<RankedTensorType>(getType());
  for (RankedTensorType type : {lhs, rhs})
    if (type.getRank() < 1 || type.getRank() > 2)
      return site.fail("operands must be of rank 1 or 2: lhs is ", lhs,
                       ", rhs is ", rhs);
  int64_t lhsContracting = lhs.getRank() - 1;
  if (failed(verifyPrecision(site, getPrecisionConfig())) ||
      failed(verifyPairedDims(site, "contracting", lhs, lhsContracting, rhs,
                              int64_t(0))) ||
      failed(verifyProductTypes(site, lhs, rhs, result)))
    return failure();
  return verifyResultShape(site, lhs, rhs, getProductDims(*this), result);
}

LogicalResult DotGeneralOp::verify() {
  RuleSite site(*this);
  auto lhs = cast<RankedTensorType>(getLhs().getType());
  auto rhs = cast<RankedTensorType>(getRhs().getType());
  auto result = cast<RankedTensorType>(getType());
  DotDimensionNumbersAttr numbers = getDotDimensionNumbers();
  ArrayRef<int64_t> lhsBatching = numbers.getLhsBatchingDimensions();
  ArrayRef<int64_t> rhsBatching = numbers.getRhsBatchingDimensions();
  ArrayRef<int64_t> lhsContracting = numbers.getLhsContractingDimensions();
  ArrayRef<int64_t> rhsContracting = numbers.getRhsContractingDimensions();
  if (failed(verifyPairedDims(site, "batching", lhs, lhsBatching, rhs,
                              rhsBatching)) ||
      failed(verifyPairedDims(site, "contracting", lhs, lhsContracting, rhs,
                              rhsContracting)) ||
      failed(verifyUnique(site,
                          {{"lhs_batching_dimensions", lhsBatching},
                           {"lhs_contracting_dimensions", lhsContracting}})) ||
      failed(verifyUnique(site,
                          {{"rhs_batching_dimensions", rhsBatching},
                           {"rhs_contracting_dimensions", rhsContracting}})) ||
      failed(verifyPrecision(site, getPrecisionConfig())) ||
      failed(verifyProductTypes(site, lhs, rhs, result)) ||
      failed(verifyQuantizedRhs(site, rhs.getElementType(), rhsContracting)))
    return failure();

  ArrayAttr precisions = getPrecisionConfigAttr();
  if (getAlgorithm() && precisions)
    for (auto precision : precisions.getAsRange<PrecisionAttr>())
      if (precision.getValue() != Precision::DEFAULT)
        return site.fail("precision_config must be DEFAULT if there is an "
                         "algorithm: is ",
                         precisions);

  return verifyResultShape(site, lhs, rhs, getProductDims(*this), result);
}

/// einsum and unary_einsum: the sizes that letters have and the result's.
static LogicalResult verifyEinsum(Operation *op, StringRef text) {
  RuleSite site(op);
  SmallVector<RankedTensorType> types;
  SmallVector<int64_t> ranks;
  for (Type type : op->getOperandTypes()) {
    types.push_back(cast<RankedTensorType>(type));
    ranks.push_back(types.back().getRank());
  }
  std::string error;
  std::optional<EinsumConfig> config = parseEinsumConfig(text, ranks, error);
  if (!config)
    return site.fail(error);

  struct LabelSize {
    int64_t size, bound;
  };
  std::map<int, LabelSize> sizes;
  for (auto [type, labels] : llvm::zip_equal(types, config->operands))
    for (auto [index, label] : llvm::enumerate(labels)) {
      auto dim = static_cast<int64_t>(index);
      int64_t size = type.getDimSize(dim);
      auto [known, isNew] =
          sizes.try_emplace(label, LabelSize{size, boundOf(type, dim)});
      if (isNew)
        continue;
      if (!agree(known->second.size, size))
        return site.fail("sizes of dimensions of one letter must be equal: ",
                         known->second.size, " and ", size, " in \"", text,
                         "\"");
      if (ShapedType::isDynamic(known->second.size))
        known->second.size = size;
    }
  ShapeBuilder shape;
  for (int label : config->result)
    shape.add(sizes.at(label).size, sizes.at(label).bound);
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (op->getNumOperands() == 2 &&
      failed(verifyOperandKinds(site, types[0].getElementType(),
                                types[1].getElementType())))
    return failure();
  return verifyResultShape(site, shape, result);
}

LogicalResult EinsumOp::verify() {
  return verifyEinsum(*this, getEinsumConfig());
}

LogicalResult UnaryEinsumOp::verify() {
  return verifyEinsum(*this, getEinsumConfig());
}
