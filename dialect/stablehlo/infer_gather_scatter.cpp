// Inference and verifiers of gather, dynamic_gather, scatter and
// torch_index_select.

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/region_rules.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// The dimension numbers of gather and scatter, which are each other's mirror:
/// an index tensor picks windows of an operand. The names are what messages
/// call the lists.
struct IndexedWindows {
  NamedDims removed;          ///< Window dimensions of size 1 that are left out.
  NamedDims operandBatching;  ///< Dimensions of the operand that go along …
  NamedDims indicesBatching;  ///< … with these of the index tensor.
  NamedDims indexMap;         ///< Which operand dimension an index is for.
  int64_t indexVectorDim;
};

IndexedWindows describe(GatherDimensionNumbersAttr numbers) {
  return {{"collapsed_slice_dims", numbers.getCollapsedSliceDims()},
          {"operand_batching_dims", numbers.getOperandBatchingDims()},
          {"start_indices_batching_dims",
           numbers.getStartIndicesBatchingDims()},
          {"start_index_map", numbers.getStartIndexMap()},
          numbers.getIndexVectorDim()};
}

IndexedWindows describe(ScatterDimensionNumbersAttr numbers) {
  return {{"inserted_window_dims", numbers.getInsertedWindowDims()},
          {"input_batching_dims", numbers.getInputBatchingDims()},
          {"scatter_indices_batching_dims",
           numbers.getScatterIndicesBatchingDims()},
          {"scatter_dims_to_operand_dims",
           numbers.getScatterDimsToOperandDims()},
          numbers.getIndexVectorDim()};
}

/// The rules about these numbers that do not depend on window sizes.
LogicalResult verifyNumbers(const RuleSite &site, const IndexedWindows &numbers,
                            RankedTensorType operand, RankedTensorType indices,
                            StringRef indicesName) {
  int64_t rank = operand.getRank(), indicesRank = indices.getRank();
  int64_t vectorDim = numbers.indexVectorDim;
  if (failed(verifyInRange(site, "index_vector_dim", vectorDim,
                           indicesRank + 1)))
    return failure();
  int64_t mapped = static_cast<int64_t>(numbers.indexMap.dims.size());
  int64_t vectorSize =
      vectorDim < indicesRank ? indices.getDimSize(vectorDim) : 1;
  if (!agree(mapped, vectorSize))
    return site.fail(numbers.indexMap.name,
                     " must have an entry for each index: has ", mapped,
                     ", dim ", vectorDim, " of ", indicesName, " has ",
                     vectorSize);
  if (failed(verifyInRange(site, numbers.removed, rank)) ||
      failed(verifyInRange(site, numbers.operandBatching, rank)) ||
      failed(verifyUnique(site, {numbers.removed, numbers.operandBatching})) ||
      failed(verifySorted(site, numbers.removed)) ||
      failed(verifySorted(site, numbers.operandBatching)) ||
      failed(verifyInRange(site, numbers.indicesBatching, indicesRank)) ||
      failed(verifyUnique(site, {numbers.indicesBatching})))
    return failure();
  if (llvm::is_contained(numbers.indicesBatching.dims, vectorDim))
    return site.fail(numbers.indicesBatching.name,
                     " must not contain index_vector_dim: both have ",
                     vectorDim);
  if (numbers.operandBatching.dims.size() !=
      numbers.indicesBatching.dims.size())
    return site.fail(numbers.operandBatching.name, " and ",
                     numbers.indicesBatching.name,
                     " must have one size: have ",
                     numbers.operandBatching.dims.size(), " and ",
                     numbers.indicesBatching.dims.size());
  for (auto [operandDim, indicesDim] : llvm::zip_equal(
           numbers.operandBatching.dims, numbers.indicesBatching.dims))
    if (!agree(operand.getDimSize(operandDim), indices.getDimSize(indicesDim)))
      return site.fail("batching dimension sizes must be equal: dim ",
                       operandDim, " of the operand is ",
                       operand.getDimSize(operandDim), ", dim ", indicesDim,
                       " of ", indicesName, " is ",
                       indices.getDimSize(indicesDim));
  if (failed(verifyInRange(site, numbers.indexMap, rank)))
    return failure();
  return verifyUnique(site, {numbers.indexMap, numbers.operandBatching});
}

/// The window dimensions have one number for each dimension of the operand that
/// is neither left out nor a batching one.
LogicalResult verifyWindowRank(const RuleSite &site, NamedDims window,
                               const IndexedWindows &numbers, int64_t rank) {
  size_t parts = window.dims.size() + numbers.removed.dims.size() +
                 numbers.operandBatching.dims.size();
  if (static_cast<int64_t>(parts) == rank)
    return success();
  return site.fail("rank of the operand must be the number of ", window.name,
                   ", ", numbers.removed.name, " and ",
                   numbers.operandBatching.name, ": is ", rank, ", has ",
                   window.dims.size(), " + ", numbers.removed.dims.size(),
                   " + ", numbers.operandBatching.dims.size());
}

bool isInWindow(const IndexedWindows &numbers, int64_t operandDim) {
  return !llvm::is_contained(numbers.removed.dims, operandDim) &&
         !llvm::is_contained(numbers.operandBatching.dims, operandDim);
}

/// The dimensions of the index tensor without the index vector.
SmallVector<int64_t> batchDims(RankedTensorType indices, int64_t vectorDim) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < indices.getRank(); ++dim)
    if (dim != vectorDim)
      dims.push_back(dim);
  return dims;
}

LogicalResult verifySliceSizes(const RuleSite &site,
                               const IndexedWindows &numbers,
                               RankedTensorType operand,
                               ArrayRef<int64_t> sizes) {
  for (auto [index, size] : llvm::enumerate(sizes)) {
    auto dim = static_cast<int64_t>(index);
    int64_t limit = operand.getDimSize(dim);
    if (size < 0 || (!ShapedType::isDynamic(limit) && size > limit))
      return site.fail("slice_sizes must be in range [0, ", sizeText(limit),
                       "] of the operand: entry ", dim, " is ", size);
    if (!isInWindow(numbers, dim) && size > 1)
      return site.fail("slice_sizes of collapsed and batching dimensions must "
                       "be at most 1: entry ",
                       dim, " is ", size);
  }
  return success();
}

/// gather and dynamic_gather; `sizes` is missing where they are not constant.
FailureOr<Type> inferGather(const RuleSite &site, RankedTensorType operand,
                            RankedTensorType indices,
                            GatherDimensionNumbersAttr attribute,
                            std::optional<ArrayRef<int64_t>> sizes) {
  IndexedWindows numbers = describe(attribute);
  NamedDims offset = {"offset_dims", attribute.getOffsetDims()};
  if (failed(verifyWindowRank(site, offset, numbers, operand.getRank())) ||
      failed(verifyNumbers(site, numbers, operand, indices, "start_indices")) ||
      failed(verifySorted(site, offset)) ||
      failed(verifyUnique(site, {offset})))
    return failure();
  SmallVector<int64_t> batches = batchDims(indices, numbers.indexVectorDim);
  auto resultRank =
      static_cast<int64_t>(batches.size() + offset.dims.size());
  if (failed(verifyInRange(site, offset, resultRank)) ||
      (sizes && failed(verifySliceSizes(site, numbers, operand, *sizes))))
    return failure();

  SmallVector<int64_t> windowSizes;
  for (int64_t dim = 0; dim < operand.getRank(); ++dim)
    if (isInWindow(numbers, dim))
      windowSizes.push_back(sizes ? (*sizes)[dim] : ShapedType::kDynamic);
  ShapeBuilder shape;
  size_t nextBatch = 0, nextOffset = 0;
  for (int64_t dim = 0; dim < resultRank; ++dim) {
    if (llvm::is_contained(offset.dims, dim))
      shape.add(windowSizes[nextOffset++]);
    else
      shape.addDim(indices, batches[nextBatch++]);
  }
  return Type(shape.get(operand.getElementType()));
}

LogicalResult verifySliceSizesRank(const RuleSite &site, int64_t count,
                                   RankedTensorType operand) {
  if (count == operand.getRank())
    return success();
  return site.fail("slice_sizes must have an entry for each dimension of the "
                   "operand: has ",
                   count, ", operand is ", operand);
}
} // namespace

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         ValueRange operands,
                                         DictionaryAttr attributes,
                                         OpaqueProperties properties,
                                         RegionRange,
                                         SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  if (operands.size() != 2)
    return site.fail("number of operands must be 2: is ", operands.size());
  auto operand = dyn_cast<RankedTensorType>(operands[0].getType());
  auto indices = dyn_cast<RankedTensorType>(operands[1].getType());
  if (!operand || !indices)
    return site.fail("operands must be ranked tensors: are ",
                     operands.getTypes());
  if (!adaptor.getDimensionNumbersAttr() || !adaptor.getSliceSizesAttr())
    return site.fail("dimension_numbers and slice_sizes must be given: are "
                     "not");
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  if (failed(verifySliceSizesRank(site, static_cast<int64_t>(sizes.size()),
                                  operand)))
    return failure();
  FailureOr<Type> type = inferGather(site, operand, indices,
                                     adaptor.getDimensionNumbersAttr(), sizes);
  if (failed(type))
    return failure();
  inferred.push_back(*type);
  return success();
}

LogicalResult DynamicGatherOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  if (operands.size() != 3)
    return site.fail("number of operands must be 3: is ", operands.size());
  auto operand = dyn_cast<RankedTensorType>(operands[0].getType());
  auto indices = dyn_cast<RankedTensorType>(operands[1].getType());
  auto sizesType = dyn_cast<RankedTensorType>(operands[2].getType());
  if (!operand || !indices || !sizesType || sizesType.getRank() != 1)
    return site.fail("operands must be ranked tensors, slice_sizes a "
                     "1-dimensional one: are ",
                     operands.getTypes());
  if (!adaptor.getDimensionNumbersAttr())
    return site.fail("dimension_numbers must be given: are not");
  if (failed(verifySliceSizesRank(site, sizesType.getDimSize(0), operand)))
    return failure();
  std::optional<SmallVector<int64_t>> sizes = readConstant(operands[2]);
  FailureOr<Type> type = inferGather(
      site, operand, indices, adaptor.getDimensionNumbersAttr(),
      sizes ? std::optional<ArrayRef<int64_t>>(*sizes) : std::nullopt);
  if (failed(type))
    return failure();
  inferred.push_back(*type);
  return success();
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

namespace {
/// C4: the shape of the updates follows from the indices and the windows.
LogicalResult verifyUpdates(const RuleSite &site, const IndexedWindows &numbers,
                            NamedDims window, RankedTensorType input,
                            RankedTensorType indices,
                            RankedTensorType updates) {
  SmallVector<int64_t> batches = batchDims(indices, numbers.indexVectorDim);
  auto rank = static_cast<int64_t>(batches.size() + window.dims.size());
  if (updates.getRank() != rank)
    return site.fail("rank of updates must be ", rank, ": is ",
                     updates.getRank());
  if (failed(verifyInRange(site, window, rank)))
    return failure();
  SmallVector<int64_t> windowDims;
  for (int64_t dim = 0; dim < input.getRank(); ++dim)
    if (isInWindow(numbers, dim))
      windowDims.push_back(dim);
  size_t nextBatch = 0, nextWindow = 0;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = updates.getDimSize(dim);
    if (llvm::is_contained(window.dims, dim)) {
      int64_t inputDim = windowDims[nextWindow++];
      int64_t limit = input.getDimSize(inputDim);
      if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(limit) &&
          size > limit)
        return site.fail("window of updates must fit into the input: dim ",
                         dim, " of updates is ", size, ", dim ", inputDim,
                         " of the input is ", limit);
      continue;
    }
    int64_t indicesDim = batches[nextBatch++];
    if (!agree(size, indices.getDimSize(indicesDim)))
      return site.fail("scatter dimension sizes must be equal: dim ", dim,
                       " of updates is ", size, ", dim ", indicesDim,
                       " of scatter_indices is ",
                       indices.getDimSize(indicesDim));
  }
  return success();
}
} // namespace

LogicalResult ScatterOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties, regions);
  if (operands.size() < 3 || operands.size() % 2 == 0)
    return site.fail("number of inputs and updates must be equal and at least "
                     "1: ",
                     operands.size(), " operands with scatter_indices");
  size_t count = operands.size() / 2;
  TypeRange inputs(operands.take_front(count));
  TypeRange updates(operands.take_back(count));
  auto indices = dyn_cast<RankedTensorType>(operands[count].getType());
  RankedTensorType input = mergeShapes(inputs);
  if (!input)
    return site.fail("inputs must have compatible shapes: are ", inputs);
  RankedTensorType update = mergeShapes(updates);
  if (!update)
    return site.fail("updates must have compatible shapes: are ", updates);
  if (!indices)
    return site.fail("scatter_indices must be a ranked tensor: is ",
                     operands[count].getType());
  for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(inputs, updates))) {
    auto [inputType, updateType] = pair;
    if (!areCompatibleElementTypes(elementType(inputType),
                                   elementType(updateType)))
      return site.fail("element types of inputs and updates must be equal: "
                       "input ",
                       index, " is ", inputType, ", update ", index, " is ",
                       updateType);
  }
  ScatterDimensionNumbersAttr attribute =
      adaptor.getScatterDimensionNumbersAttr();
  if (!attribute)
    return site.fail("scatter_dimension_numbers must be given: are not");
  IndexedWindows numbers = describe(attribute);
  NamedDims window = {"update_window_dims", attribute.getUpdateWindowDims()};
  if (failed(verifyWindowRank(site, window, numbers, input.getRank())) ||
      failed(
          verifyNumbers(site, numbers, input, indices, "scatter_indices")) ||
      failed(verifySorted(site, window)) ||
      failed(verifyUnique(site, {window})) ||
      failed(verifyUpdates(site, numbers, window, input, indices, update)))
    return failure();
  for (auto [type, element] :
       llvm::zip_equal(inputs, reducedElementTypes(regions, 0, inputs)))
    inferred.push_back(
        ShapeBuilder(cast<RankedTensorType>(type)).get(element));
  return success();
}

LogicalResult ScatterOp::verify() {
  return verifyReducer(RuleSite(*this), "update_computation",
                       getUpdateComputation(), getInputs());
}

//===----------------------------------------------------------------------===//
// torch_index_select
//===----------------------------------------------------------------------===//

/// Takes the slices of `operand` along `dim` that `index` names; the first
/// `batch_dims` dimensions of both go along with each other.
LogicalResult TorchIndexSelectOp::verify() {
  RuleSite site(*this);
  auto operand = cast<RankedTensorType>(getOperand().getType());
  auto index = cast<RankedTensorType>(getIndex().getType());
  auto result = cast<RankedTensorType>(getType());
  if (!isa<IntegerType>(index.getElementType()) ||
      index.getElementType().isInteger(1))
    return site.fail("index must be of integers: is ", index);
  // Negative numbers count from the end.
  auto dim = static_cast<int64_t>(getDim());
  auto batchDims = static_cast<int64_t>(getBatchDims());
  if (dim < 0 && dim >= -operand.getRank())
    dim += operand.getRank();
  if (batchDims < 0 && batchDims >= -index.getRank())
    batchDims += index.getRank();
  if (failed(verifyInRange(site, "dim", dim, operand.getRank())) ||
      failed(verifyInRange(site, "batch_dims", batchDims,
                           std::min(dim, index.getRank()) + 1)))
    return failure();
  for (int64_t batch = 0; batch < batchDims; ++batch)
    if (!agree(operand.getDimSize(batch), index.getDimSize(batch)))
      return site.fail("batch dimension sizes must be equal: dim ", batch,
                       " of operand is ", operand.getDimSize(batch),
                       ", of index is ", index.getDimSize(batch));
  if (!areCompatibleElementTypes(operand.getElementType(),
                                 result.getElementType()))
    return site.fail("element types of operand and result must be equal: are ",
                     operand, " and ", result);
  ShapeBuilder shape;
  for (int64_t i = 0; i < dim; ++i)
    shape.addDim(operand, i);
  for (int64_t i = batchDims; i < index.getRank(); ++i)
    shape.addDim(index, i);
  for (int64_t i = dim + 1; i < operand.getRank(); ++i)
    shape.addDim(operand, i);
  if (!areCompatibleShapes(shape.get(result.getElementType()), result))
    return site.fail("result shape must be ", shapeText(shape.getSizes()),
                     ": result is ", result);
  return success();
}
