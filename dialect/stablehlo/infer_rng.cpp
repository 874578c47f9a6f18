// Inference and verifiers of the random number ops.

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// A shape operand may be typed for any number of dimensions; a result type
/// must not follow it there.
constexpr int64_t maxRank = 1 << 16;
} // namespace

LogicalResult RngOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      ValueRange operands,
                                      DictionaryAttr attributes,
                                      OpaqueProperties properties, RegionRange,
                                      SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  if (operands.size() != 3)
    return site.fail("number of operands must be 3: is ", operands.size());
  Type element = elementType(operands[0].getType());
  if (element != elementType(operands[1].getType()))
    return site.fail("element types of a and b must be equal: are ", element,
                     " and ", elementType(operands[1].getType()));
  if (!adaptor.getRngDistributionAttr())
    return site.fail("rng_distribution must be given: is not");
  if (adaptor.getRngDistribution() == RngDistribution::NORMAL &&
      !isFloatElement(element))
    return site.fail("NORMAL must have a floating-point type: is ", element);
  auto shapeType = dyn_cast<RankedTensorType>(operands[2].getType());
  if (!shapeType || shapeType.getRank() != 1 || !shapeType.hasStaticShape())
    return site.fail("shape must be a static 1-dimensional tensor: is ",
                     operands[2].getType());
  int64_t rank = shapeType.getDimSize(0);
  if (rank > maxRank)
    return site.fail("rank of result must be at most ", maxRank, ": is ", rank);
  std::optional<SmallVector<int64_t>> shape = readConstant(operands[2]);
  if (!shape)
    shape.emplace(rank, ShapedType::kDynamic);
  else if (llvm::any_of(*shape, [](int64_t size) { return size < 0; }))
    return site.fail("shape must not be negative: is ", shapeText(*shape));
  inferred.push_back(RankedTensorType::get(*shape, element));
  return success();
}

LogicalResult RngBitGeneratorOp::verify() {
  RuleSite site(*this);
  auto state = cast<RankedTensorType>(getInitialState().getType());
  Type outputState = getOutputState().getType();
  if (!areCompatibleTypes(Type(state), outputState))
    return site.fail("types of initial_state and output_state must be "
                     "compatible: are ",
                     state, " and ", outputState);
  // The specification wants a 1-dimensional tensor of ui64, but StableHLO reads
  // and writes any, and its own artifacts have others: such a program is read,
  // and refused by whoever has to run it.
  if (state.getRank() != 1 || !state.getElementType().isUnsignedInteger(64))
    return success();
  int64_t size = state.getDimSize(0);
  RngAlgorithm algorithm = getRngAlgorithm();
  if (algorithm == RngAlgorithm::THREE_FRY && !agree(size, 2))
    return site.fail("THREE_FRY must have a state of 2 elements: has ", size);
  if (algorithm == RngAlgorithm::PHILOX && !agree(size, 2) && !agree(size, 3))
    return site.fail("PHILOX must have a state of 2 or 3 elements: has ", size);
  return success();
}
