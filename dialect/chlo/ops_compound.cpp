// ragged_dot, top_k, scan: generated code, inference, verifiers, assembly.

#include "dialect/chlo/ops.h"

#include "dialect/stablehlo/assembly.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::chlo;
using stablehlo::inferError;
using stablehlo::opError;

#define GET_OP_CLASSES
#include "dialect/chlo/ops_compound.cpp.inc"

namespace {
bool sizesAgree(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}

/// Each dimension is below the rank and none is named twice.
LogicalResult checkDims(Operation *op, ArrayRef<ArrayRef<int64_t>> lists,
                        int64_t rank, StringRef side) {
  SmallVector<int64_t> seen;
  for (ArrayRef<int64_t> list : lists)
    for (int64_t dim : list) {
      if (dim < 0 || dim >= rank)
        return opError(op) << side << " dimension must be below the rank: "
                           << dim << " with rank " << rank;
      if (llvm::is_contained(seen, dim))
        return opError(op) << side << " dimension must be named once: " << dim
                           << " is named twice";
      seen.push_back(dim);
    }
  return success();
}

LogicalResult checkPairs(Operation *op, RankedTensorType lhs,
                         ArrayRef<int64_t> lhsDims, RankedTensorType rhs,
                         ArrayRef<int64_t> rhsDims, StringRef what) {
  if (lhsDims.size() != rhsDims.size())
    return opError(op) << "lhs and rhs must have as many " << what
                       << " dimensions: " << lhsDims.size() << " and "
                       << rhsDims.size();
  for (auto [l, r] : llvm::zip_equal(lhsDims, rhsDims))
    if (!sizesAgree(lhs.getDimSize(l), rhs.getDimSize(r)))
      return opError(op) << what << " dims differ: lhs dim " << l << " is "
                         << lhs.getDimSize(l) << ", rhs dim " << r << " is "
                         << rhs.getDimSize(r);
  return success();
}
} // namespace

//===- ragged_dot ---------------------------------------------------------===//

SmallVector<int64_t> RaggedDotOp::getGroupPrefixDims() {
  auto numbers = getRaggedDotDimensionNumbers();
  ArrayRef<int64_t> batching = numbers.getLhsBatchingDimensions();
  ArrayRef<int64_t> contracting = numbers.getLhsContractingDimensions();
  int64_t ragged = numbers.getLhsRaggedDimensions().front();
  if (const auto *found = llvm::find(batching, ragged);
      found != batching.end())
    return SmallVector<int64_t>(batching.begin(), found);
  SmallVector<int64_t> prefix(batching);
  if (const auto *found = llvm::find(contracting, ragged);
      found != contracting.end()) {
    prefix.append(contracting.begin(), found);
    return prefix;
  }
  for (int64_t dim = 0; dim < ragged; ++dim)
    if (!llvm::is_contained(batching, dim) &&
        !llvm::is_contained(contracting, dim))
      prefix.push_back(dim);
  return prefix;
}

SmallVector<int64_t> RaggedDotOp::getResultShape() {
  auto lhs = cast<RankedTensorType>(getLhs().getType());
  auto rhs = cast<RankedTensorType>(getRhs().getType());
  auto numbers = getRaggedDotDimensionNumbers();
  ArrayRef<int64_t> lhsBatching = numbers.getLhsBatchingDimensions(),
                    lhsContracting = numbers.getLhsContractingDimensions();
  SmallVector<int64_t> shape;
  if (llvm::is_contained(lhsContracting,
                         numbers.getLhsRaggedDimensions().front()))
    shape.push_back(
        cast<RankedTensorType>(getGroupSizes().getType()).getShape().back());
  for (int64_t dim : lhsBatching)
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
    if (!llvm::is_contained(lhsBatching, dim) &&
        !llvm::is_contained(lhsContracting, dim))
      shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim = 0; dim < rhs.getRank(); ++dim)
    if (!llvm::is_contained(numbers.getRhsBatchingDimensions(), dim) &&
        !llvm::is_contained(numbers.getRhsContractingDimensions(), dim) &&
        !llvm::is_contained(numbers.getRhsGroupDimensions(), dim))
      shape.push_back(rhs.getDimSize(dim));
  return shape;
}

LogicalResult RaggedDotOp::verify() {
  auto lhs = cast<RankedTensorType>(getLhs().getType());
  auto rhs = cast<RankedTensorType>(getRhs().getType());
  auto sizes = cast<RankedTensorType>(getGroupSizes().getType());
  auto numbers = getRaggedDotDimensionNumbers();
  ArrayRef<int64_t> lhsBatching = numbers.getLhsBatchingDimensions(),
                    rhsBatching = numbers.getRhsBatchingDimensions(),
                    lhsContracting = numbers.getLhsContractingDimensions(),
                    rhsContracting = numbers.getRhsContractingDimensions(),
                    lhsRagged = numbers.getLhsRaggedDimensions(),
                    rhsGroup = numbers.getRhsGroupDimensions();
  if (auto precision = getPrecisionConfig();
      precision && !precision->empty() && precision->size() != 2)
    return opError(*this) << "precision_config must have an entry for each "
                             "operand: has "
                          << precision->size();
  if (failed(checkDims(*this, {lhsBatching, lhsContracting}, lhs.getRank(),
                       "lhs")) ||
      failed(checkDims(*this, {rhsBatching, rhsContracting, rhsGroup},
                       rhs.getRank(), "rhs")) ||
      failed(checkPairs(*this, lhs, lhsBatching, rhs, rhsBatching,
                        "batching")) ||
      failed(checkPairs(*this, lhs, lhsContracting, rhs, rhsContracting,
                        "contracting")))
    return failure();
  if (lhsRagged.size() != 1)
    return opError(*this) << "lhs must have one ragged dimension: has "
                          << lhsRagged.size();
  int64_t ragged = lhsRagged.front();
  if (failed(checkDims(*this, {lhsRagged}, lhs.getRank(), "lhs ragged")))
    return failure();

  if (sizes.getRank() == 0)
    return opError(*this) << "group_sizes must have a dimension: has type "
                          << sizes;
  SmallVector<int64_t> prefix = getGroupPrefixDims();
  if (sizes.getRank() != 1) {
    if (sizes.getRank() != static_cast<int64_t>(prefix.size()) + 1)
      return opError(*this) << "rank of group_sizes must be "
                            << prefix.size() + 1 << ": is " << sizes.getRank();
    for (auto [index, dim] : llvm::enumerate(prefix))
      if (!sizesAgree(lhs.getDimSize(dim), sizes.getDimSize(index)))
        return opError(*this)
               << "group_sizes dims must be those of lhs: dim " << index
               << " is " << sizes.getDimSize(index) << ", lhs dim " << dim
               << " is " << lhs.getDimSize(dim);
  }
  int64_t numGroups = sizes.getShape().back();

  bool isContracting = llvm::is_contained(lhsContracting, ragged);
  bool isBatching = llvm::is_contained(lhsBatching, ragged);
  if ((isContracting || isBatching) && !rhsGroup.empty())
    return opError(*this) << "rhs must have no group dimension where the "
                             "ragged dimension is batching or contracting: has "
                          << rhsGroup.size();
  if (!isContracting && !isBatching) {
    if (rhsGroup.size() != 1)
      return opError(*this) << "rhs must have one group dimension: has "
                            << rhsGroup.size();
    int64_t size = rhs.getDimSize(rhsGroup.front());
    if (!sizesAgree(size, numGroups))
      return opError(*this) << "rhs group dim must be the number of groups: "
                            << size << " and " << numGroups;
  }

  auto result = cast<RankedTensorType>(getType());
  auto expected = RankedTensorType::get(getResultShape(), result.getElementType());
  if (!stablehlo::areCompatibleShapes(expected, result))
    return opError(*this) << "result shape must be that of " << expected
                          << ": is " << result;
  return success();
}

//===- top_k --------------------------------------------------------------===//

LogicalResult TopKOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferred) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto operand = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  if (!operand || operand.getRank() == 0)
    return inferError(location, getOperationName(),
                      "rank of operand must be at least 1: is 0");
  int64_t k = static_cast<int64_t>(adaptor.getK());
  int64_t size = operand.getShape().back();
  if (k < 0)
    return inferError(location, getOperationName(),
                      "k must not be negative: is " + Twine(k));
  if (!ShapedType::isDynamic(size) && size < k)
    return inferError(location, getOperationName(),
                      "last dimension of operand must be at least k: " +
                          Twine(size) + " with k " + Twine(k));
  SmallVector<int64_t> shape(operand.getShape()),
      bounds(stablehlo::getBounds(operand));
  shape.back() = k;
  if (!bounds.empty())
    bounds.back() = ShapedType::kDynamic;
  inferred.push_back(
      stablehlo::getTensorType(shape, operand.getElementType(), bounds));
  inferred.push_back(
      stablehlo::getTensorType(shape, IntegerType::get(context, 32), bounds));
  return success();
}

//===- scan ---------------------------------------------------------------===//

namespace {
/// The number of slices, `?` if nothing says it.
int64_t getScanSize(ValueRange inputs, int64_t dimension,
                    std::optional<int64_t> written) {
  if (written)
    return *written;
  for (Value input : inputs) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    if (type && dimension < type.getRank() && !type.isDynamicDim(dimension))
      return type.getDimSize(dimension);
  }
  return ShapedType::kDynamic;
}
} // namespace

LogicalResult ScanOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferred) {
  Adaptor adaptor(operands, attributes, properties, regions);
  if (regions.empty() || regions.front()->empty() ||
      !regions.front()->front().mightHaveTerminator())
    return inferError(location, getOperationName(),
                      "body must have a terminator: has none");
  Operation *terminator = regions.front()->front().getTerminator();
  size_t numCarries = adaptor.getInits().size();
  if (terminator->getNumOperands() < numCarries)
    return inferError(location, getOperationName(),
                      "body must return each carry: returns " +
                          Twine(terminator->getNumOperands()) + " values for " +
                          Twine(numCarries) + " carries");
  size_t numOutputs = terminator->getNumOperands() - numCarries;
  auto dimension = static_cast<int64_t>(adaptor.getDimension());
  int64_t size =
      getScanSize(adaptor.getInputs(), dimension, adaptor.getScanDimSize());
  for (auto [index, type] : llvm::enumerate(terminator->getOperandTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return inferError(location, getOperationName(),
                        "body must return ranked tensors: value " +
                            Twine(index) + " is none");
    if (index >= numOutputs) {
      inferred.push_back(tensor);
      continue;
    }
    if (dimension > tensor.getRank())
      return inferError(location, getOperationName(),
                        "scan dimension must be at most the rank of each "
                        "output's slice: " +
                            Twine(dimension) + " with rank " +
                            Twine(tensor.getRank()));
    SmallVector<int64_t> shape(tensor.getShape());
    shape.insert(shape.begin() + dimension, size);
    inferred.push_back(
        RankedTensorType::get(shape, tensor.getElementType()));
  }
  return success();
}

LogicalResult ScanOp::verify() {
  if (getInputs().empty() && getOutputs().empty())
    return opError(*this) << "needs an input or an output: has none";
  auto dimension = static_cast<int64_t>(getDimension());
  int64_t size = getScanSize(getInputs(), dimension, getScanDimSize());
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    auto type = cast<RankedTensorType>(input.getType());
    if (dimension >= type.getRank())
      return opError(*this) << "scan dimension must be below the rank of each "
                               "input: "
                            << dimension << ", input " << index
                            << " has rank " << type.getRank();
    if (!sizesAgree(type.getDimSize(dimension), size))
      return opError(*this) << "scan dimension of each input must have one "
                               "size: input "
                            << index << " has " << type.getDimSize(dimension)
                            << ", expected " << size;
  }
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  auto dimension = static_cast<int64_t>(getDimension());
  Block &block = getBody().front();
  if (block.getNumArguments() != getNumOperands())
    return opError(*this) << "body must have an argument for each operand: "
                          << block.getNumArguments() << " arguments, "
                          << getNumOperands() << " operands";
  for (auto [index, operand] : llvm::enumerate(getOperands())) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (index < getInputs().size()) {
      SmallVector<int64_t> shape(type.getShape());
      shape.erase(shape.begin() + dimension);
      type = RankedTensorType::get(shape, type.getElementType());
    }
    Type argument = block.getArgument(index).getType();
    if (!stablehlo::areCompatibleTypes(type, argument))
      return opError(*this) << "types of operand's slice and body argument "
                            << index << " must be compatible: " << type
                            << " and " << argument;
  }
  // The carries go round: the body returns what it takes.
  Operation *terminator = block.getTerminator();
  size_t numOutputs = getOutputs().size();
  for (auto [index, init] : llvm::enumerate(getInits())) {
    Type returned = terminator->getOperand(numOutputs + index).getType();
    if (!stablehlo::areCompatibleTypes(init.getType(), returned))
      return opError(*this) << "types of carry " << index
                            << " must be compatible: init is "
                            << init.getType() << ", body returns " << returned;
  }
  return success();
}

void ScanOp::getAsmBlockArgumentNames(Region &region,
                                      OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument,
            argument.getArgNumber() < getInputs().size() ? "input" : "carry");
}

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand, 4> inputs, inits;
  int64_t dimension = 0;
  Region *body = result.addRegion();
  FunctionType type;
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("inits") ||
      parser.parseOperandList(inits, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("dimension") || parser.parseEqual() ||
      parser.parseInteger(dimension) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body) || parser.parseColon())
    return failure();
  SMLoc typeLoc = parser.getCurrentLocation();
  if (parser.parseType(type))
    return failure();
  if (type.getNumInputs() != inputs.size() + inits.size())
    return parser.emitError(typeLoc, "expected a type for each operand: ")
           << type.getNumInputs() << " types, " << inputs.size() + inits.size()
           << " operands";
  if (type.getNumResults() < inits.size())
    return parser.emitError(typeLoc, "expected a result for each carry: ")
           << type.getNumResults() << " results, " << inits.size()
           << " carries";
  if (parser.resolveOperands(inputs,
                             type.getInputs().take_front(inputs.size()),
                             typeLoc, result.operands) ||
      parser.resolveOperands(inits, type.getInputs().take_back(inits.size()),
                             typeLoc, result.operands))
    return failure();
  result.addTypes(type.getResults());
  Builder &builder = parser.getBuilder();
  result.addAttribute(getDimensionAttrName(result.name),
                      builder.getI64IntegerAttr(dimension));
  auto numInputs = static_cast<int32_t>(inputs.size());
  auto numCarries = static_cast<int32_t>(inits.size());
  auto numResults = static_cast<int32_t>(type.getNumResults());
  result.addAttribute(getOperandSegmentSizeAttr(),
                      builder.getDenseI32ArrayAttr({numInputs, numCarries}));
  result.addAttribute(
      getResultSegmentSizeAttr(),
      builder.getDenseI32ArrayAttr({numResults - numCarries, numCarries}));
  return success();
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << '(';
  printer.printOperands(getInputs());
  printer << ") inits (";
  printer.printOperands(getInits());
  printer << ") dimension=" << getDimension();
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getDimensionAttrName(), getOperandSegmentSizeAttr(),
       getResultSegmentSizeAttr()});
  printer << ' ';
  printer.printRegion(getBody());
  printer << " : ";
  printer.printFunctionalType(*this);
}
