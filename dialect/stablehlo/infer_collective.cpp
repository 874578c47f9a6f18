// Inference and verifiers of the collective ops.

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/region_rules.h"
#include "dialect/stablehlo/replica_groups.h"
#include "dialect/stablehlo/shape_math.h"

using namespace mlir;
using namespace mlir::stablehlo;

LogicalResult
AllGatherOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return verifyMeshSymbol(*this, getReplicaGroups(), symbolTables);
}
LogicalResult
AllReduceOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return verifyMeshSymbol(*this, getReplicaGroups(), symbolTables);
}
LogicalResult
ReduceScatterOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return verifyMeshSymbol(*this, getReplicaGroups(), symbolTables);
}
LogicalResult
AllToAllOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return verifyMeshSymbol(*this, getReplicaGroups(), symbolTables);
}
LogicalResult
CollectiveBroadcastOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return verifyMeshSymbol(*this, getReplicaGroups(), symbolTables);
}
LogicalResult
CollectiveReduceOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return verifyMeshSymbol(*this, getReplicaGroups(), symbolTables);
}

namespace {
/// Where the groups' members come from. Groups of replicas that go over all
/// partitions have more members than the attribute has columns.
enum class GroupStrategy { CrossReplica, CrossReplicaAndPartition, FlattenedIds };

template <typename Op>
FailureOr<GroupStrategy> readStrategy(const RuleSite &site, Op op) {
  ChannelHandleAttr channel = op.getChannelHandleAttr();
  int64_t id = channel ? channel.getHandle() : 0;
  if (op.getUseGlobalDeviceIds() && id <= 0)
    return site.fail("channel_id must be positive if use_global_device_ids is "
                     "set: is ",
                     id);
  if (op.getUseGlobalDeviceIds())
    return GroupStrategy::FlattenedIds;
  return id > 0 ? GroupStrategy::CrossReplicaAndPartition
                : GroupStrategy::CrossReplica;
}

/// Results that are the operands with the element type that the computation
/// returns.
void inferReduced(TypeRange operands, RegionRange regions,
                  SmallVectorImpl<Type> &inferred) {
  for (Type operand : operands) {
    // One computation on single values serves every operand.
    Type element = reducedElementTypes(regions, 0, operand).front();
    auto type = dyn_cast<RankedTensorType>(operand);
    inferred.push_back(type ? Type(ShapeBuilder(type).get(element)) : operand);
  }
}

LogicalResult verifyComputation(const RuleSite &site, Region &region,
                                TypeRange operands) {
  for (Type operand : operands)
    if (failed(verifyReducer(site, "computation", region, operand)))
      return failure();
  return success();
}
} // namespace

//===----------------------------------------------------------------------===//
// all_gather, all_reduce, reduce_scatter
//===----------------------------------------------------------------------===//

LogicalResult AllGatherOp::verify() {
  RuleSite site(*this);
  FailureOr<GroupStrategy> strategy = readStrategy(site, *this);
  if (failed(strategy))
    return failure();
  auto groupSize = verifyReplicaGroups(
      site, getReplicaGroups(),
      {.evenGroups = true,
       .needsGroup = *strategy == GroupStrategy::FlattenedIds});
  if (failed(groupSize))
    return failure();
  auto dim = static_cast<int64_t>(getAllGatherDim());
  for (auto [from, to] :
       llvm::zip_equal(getOperandTypes(), getResultTypes())) {
    auto operand = cast<RankedTensorType>(from);
    auto result = cast<RankedTensorType>(to);
    if (failed(verifyInRange(site, "all_gather_dim", dim, operand.getRank())))
      return failure();
    int64_t size = operand.getDimSize(dim);
    if (size == 0)
      return site.fail("size of all_gather_dim must not be 0: operand is ",
                       operand);
    if (result.getRank() != operand.getRank())
      return site.fail("ranks of operand and result must be equal: are ",
                       operand, " and ", result);
    ShapeBuilder shape(operand);
    int64_t resultSize = result.getDimSize(dim);
    shape.set(dim, resultSize, boundOf(result, dim));
    if (!areCompatibleShapes(shape.get(operand.getElementType()), result))
      return site.fail("sizes other than that of all_gather_dim must be equal: "
                       "operand is ",
                       operand, ", result is ", result);
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(resultSize))
      continue;
    // That it is the operand's times the group size, StableHLO does not ask:
    // its own artifacts hold other sizes. Who runs the program does.
    if (resultSize % size != 0)
      return site.fail("size of all_gather_dim must be a multiple of the "
                       "operand's: ",
                       resultSize, " and ", size);
  }
  return success();
}

LogicalResult AllReduceOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
    OpaqueProperties, RegionRange regions, SmallVectorImpl<Type> &inferred) {
  inferReduced(operands.getTypes(), regions, inferred);
  return success();
}

LogicalResult AllReduceOp::verify() {
  RuleSite site(*this);
  FailureOr<GroupStrategy> strategy = readStrategy(site, *this);
  if (failed(strategy) ||
      failed(verifyReplicaGroups(
          site, getReplicaGroups(),
          {.needsGroup = *strategy == GroupStrategy::FlattenedIds})))
    return failure();
  return verifyComputation(site, getComputation(), getOperandTypes());
}

LogicalResult ReduceScatterOp::verify() {
  RuleSite site(*this);
  FailureOr<GroupStrategy> strategy = readStrategy(site, *this);
  if (failed(strategy))
    return failure();
  auto groupSize = verifyReplicaGroups(
      site, getReplicaGroups(),
      {.evenGroups = true,
       .needsGroup = *strategy == GroupStrategy::FlattenedIds});
  if (failed(groupSize) ||
      failed(verifyReducer(site, "computation", getComputation(),
                           TypeRange(getOperand().getType()))))
    return failure();
  auto operand = cast<RankedTensorType>(getOperand().getType());
  auto result = cast<RankedTensorType>(getType());
  auto dim = static_cast<int64_t>(getScatterDimension());
  if (failed(verifyInRange(site, "scatter_dimension", dim, operand.getRank())))
    return failure();
  if (result.getRank() != operand.getRank())
    return site.fail("ranks of operand and result must be equal: are ", operand,
                     " and ", result);
  int64_t size = operand.getDimSize(dim), resultSize = result.getDimSize(dim);
  if (size == 0 || resultSize == 0)
    return site.fail("size of scatter_dimension must not be 0: operand is ",
                     operand, ", result is ", result);
  if (!ShapedType::isDynamic(size)) {
    if (!ShapedType::isDynamic(resultSize) && size % resultSize != 0)
      return site.fail("size of scatter_dimension must be a multiple of the "
                       "result's: ",
                       size, " and ", resultSize);
    if (*groupSize && *strategy != GroupStrategy::CrossReplicaAndPartition) {
      if (size % **groupSize != 0)
        return site.fail("size of scatter_dimension must be a multiple of the "
                         "group size: ",
                         size, " and ", **groupSize);
      if (!agree(resultSize, size / **groupSize))
        return site.fail("size of scatter_dimension of the result must be the "
                         "operand's divided by the group size: is ",
                         resultSize, ", operand's is ", size,
                         ", group size is ", **groupSize);
    }
  }
  ShapeBuilder shape(operand);
  shape.set(dim, resultSize, boundOf(result, dim));
  if (!areCompatibleShapes(shape.get(result.getElementType()), result))
    return site.fail("sizes other than that of scatter_dimension must be "
                     "equal: operand is ",
                     operand, ", result is ", result);
  RegionRange regions = getOperation()->getRegions();
  Type element = reducedElementTypes(regions, 0, TypeRange(operand)).front();
  if (!areCompatibleElementTypes(element, result.getElementType()))
    return site.fail("element type of result must be that of the computation: "
                     "is ",
                     result.getElementType(), ", computation returns ",
                     element);
  return success();
}

//===----------------------------------------------------------------------===//
// all_to_all
//===----------------------------------------------------------------------===//

LogicalResult AllToAllOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  auto splitDim = readInteger(adaptor.getSplitDimensionAttr());
  auto concatDim = readInteger(adaptor.getConcatDimensionAttr());
  auto count = readInteger(adaptor.getSplitCountAttr());
  if (!splitDim || !concatDim || !count)
    return site.fail("split_dimension, concat_dimension and split_count must "
                     "be given: are not");
  if (*count <= 0)
    return site.fail("split_count must be positive: is ", *count);
  for (Type type : operands.getTypes()) {
    auto operand = dyn_cast<RankedTensorType>(type);
    if (!operand)
      return site.fail("operands must be ranked tensors: are ",
                       operands.getTypes());
    if (failed(verifyInRange(site, "split_dimension", *splitDim,
                             operand.getRank())) ||
        failed(verifyInRange(site, "concat_dimension", *concatDim,
                             operand.getRank())))
      return failure();
    int64_t splitSize = operand.getDimSize(*splitDim);
    if (!ShapedType::isDynamic(splitSize) && splitSize % *count != 0)
      return site.fail("size of split_dimension must be a multiple of "
                       "split_count: ",
                       splitSize, " and ", *count);
    ShapeBuilder shape(operand);
    if (*splitDim != *concatDim) {
      auto divide = [&](int64_t size) {
        return ShapedType::isDynamic(size) ? size : size / *count;
      };
      auto multiply = [&](int64_t size) -> std::optional<int64_t> {
        return ShapedType::isDynamic(size) ? size
                                           : multiplySizes(size, *count);
      };
      auto size = multiply(operand.getDimSize(*concatDim));
      auto bound = multiply(boundOf(operand, *concatDim));
      if (!size || !bound)
        return site.fail("size of concat_dimension must fit in 64 bits: ",
                         sizeText(operand.getDimSize(*concatDim)), " times ",
                         *count, " does not");
      shape.set(*splitDim, divide(splitSize),
                divide(boundOf(operand, *splitDim)));
      shape.set(*concatDim, *size, *bound);
    }
    inferred.push_back(shape.get(operand.getElementType()));
  }
  return success();
}

LogicalResult AllToAllOp::verify() {
  RuleSite site(*this);
  auto groupSize =
      verifyReplicaGroups(site, getReplicaGroups(),
                          {.evenGroups = true, .needsGroup = true});
  if (failed(groupSize))
    return failure();
  auto count = static_cast<int64_t>(getSplitCount());
  if (groupSize->value_or(count) != count)
    return site.fail("group size must be split_count: is ", **groupSize,
                     ", split_count is ", count);
  return success();
}

//===----------------------------------------------------------------------===//
// collective_broadcast, collective_reduce
//===----------------------------------------------------------------------===//

namespace {
/// The operands without the root, which comes last if it is dynamic and has a
/// number for each of the others.
FailureOr<ValueRange> readRootedOperands(const RuleSite &site,
                                         ValueRange operands, bool hasRoot) {
  size_t needed = hasRoot ? 2 : 1;
  if (operands.size() < needed)
    return site.fail("number of operands must be at least ", needed, ": is ",
                     operands.size());
  if (!hasRoot)
    return operands;
  ValueRange data = operands.drop_back();
  Type root = operands.back().getType();
  auto tensor = dyn_cast<RankedTensorType>(root);
  auto count = static_cast<int64_t>(data.size());
  if (!tensor || tensor.getRank() != 1 ||
      !tensor.getElementType().isSignlessInteger(32) ||
      !agree(tensor.getDimSize(0), count))
    return site.fail("dynamic root must be tensor<", count, "xi32>: is ", root);
  return data;
}

/// C6 of collective_broadcast: a root that is known is a member of its group.
LogicalResult verifyRoot(const RuleSite &site, Value root,
                         std::optional<int64_t> groupSize) {
  std::optional<SmallVector<int64_t>> members = readConstant(root);
  if (!members || !groupSize)
    return success();
  return verifyInRange(site, {"dynamic root", *members}, *groupSize);
}

/// The columns of the groups, which the members are counted by.
std::optional<int64_t> groupColumns(Attribute groups) {
  auto listed = dyn_cast<DenseIntElementsAttr>(groups);
  if (!listed || listed.empty())
    return std::nullopt;
  return listed.getType().getDimSize(1);
}

template <typename Op>
LogicalResult verifyRooted(const RuleSite &site, Op op) {
  ReplicaGroupRules rules;
  rules.mayLeaveOut = true;
  if (failed(verifyReplicaGroups(site, op.getReplicaGroups(), rules)))
    return failure();
  // Inference, which counts the operands, runs after this.
  if (!op.getHasDynamicRoot() || op->getNumOperands() == 0)
    return success();
  return verifyRoot(site, op.getOperands().back(),
                    groupColumns(op.getReplicaGroups()));
}
} // namespace

LogicalResult CollectiveBroadcastOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange,
    SmallVectorImpl<Type> &inferred) {
  Adaptor adaptor(operands, attributes, properties);
  FailureOr<ValueRange> data =
      readRootedOperands(RuleSite(location, getOperationName()), operands,
                         adaptor.getHasDynamicRoot());
  if (failed(data))
    return failure();
  llvm::append_range(inferred, data->getTypes());
  return success();
}

LogicalResult CollectiveBroadcastOp::verify() {
  return verifyRooted(RuleSite(*this), *this);
}

LogicalResult CollectiveReduceOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferred) {
  Adaptor adaptor(operands, attributes, properties, regions);
  FailureOr<ValueRange> data =
      readRootedOperands(RuleSite(location, getOperationName()), operands,
                         adaptor.getHasDynamicRoot());
  if (failed(data))
    return failure();
  inferReduced(data->getTypes(), regions, inferred);
  return success();
}

LogicalResult CollectiveReduceOp::verify() {
  RuleSite site(*this);
  TypeRange data(getOperandTypes());
  if (getHasDynamicRoot() && !data.empty())
    data = data.drop_back();
  if (failed(readStrategy(site, *this)) || failed(verifyRooted(site, *this)))
    return failure();
  return verifyComputation(site, getComputation(), data);
}

//===----------------------------------------------------------------------===//
// collective_permute, cross-replica-sum, ids
//===----------------------------------------------------------------------===//

LogicalResult CollectivePermuteOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr, OpaqueProperties, RegionRange,
    SmallVectorImpl<Type> &inferred) {
  if (operands.empty())
    return inferError(location, getOperationName(),
                      "needs an operand: has none");
  inferred.push_back(operands.front().getType());
  return success();
}

LogicalResult CollectivePermuteOp::verify() {
  return verifySourceTargetPairs(RuleSite(*this), getSourceTargetPairs());
}

LogicalResult CrossReplicaSumOp::verify() {
  RuleSite site(*this);
  return verifyReplicaGroups(site, getReplicaGroups(), {});
}

namespace {
LogicalResult inferId(MLIRContext *context, SmallVectorImpl<Type> &inferred) {
  inferred.push_back(RankedTensorType::get(
      {}, IntegerType::get(context, 32, IntegerType::Unsigned)));
  return success();
}
} // namespace

LogicalResult ReplicaIdOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location>, ValueRange, DictionaryAttr,
    OpaqueProperties, RegionRange, SmallVectorImpl<Type> &inferred) {
  return inferId(context, inferred);
}

LogicalResult PartitionIdOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location>, ValueRange, DictionaryAttr,
    OpaqueProperties, RegionRange, SmallVectorImpl<Type> &inferred) {
  return inferId(context, inferred);
}
