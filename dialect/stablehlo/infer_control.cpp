// Inference and rules of control flow, tuples, tokens and futures.

#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/rule_site.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// What a region returns, nothing with a message if it has no terminator.
std::optional<TypeRange> getReturnTypes(const RuleSite &site, StringRef name,
                                        Region &region) {
  if (!region.empty() && !region.front().empty())
    return TypeRange(region.front().back().getOperandTypes());
  (void)site.fail(name, " must have a block with a terminator: has none");
  return std::nullopt;
}

/// A type that a value of either type fits: only what both know.
Type generalize(Type a, Type b) {
  auto tensorA = dyn_cast<RankedTensorType>(a);
  auto tensorB = dyn_cast<RankedTensorType>(b);
  if (a == b || !tensorA || !tensorB)
    return a;
  SmallVector<int64_t> shape, bounds;
  ArrayRef<int64_t> boundsA = getBounds(a), boundsB = getBounds(b);
  auto mostOf = [](int64_t size, ArrayRef<int64_t> bounds, size_t index) {
    return ShapedType::isDynamic(size) && index < bounds.size() ? bounds[index]
                                                                : size;
  };
  for (auto [index, sizeA, sizeB] :
       llvm::enumerate(tensorA.getShape(), tensorB.getShape())) {
    bool isSame = sizeA == sizeB;
    int64_t mostA = mostOf(sizeA, boundsA, index);
    int64_t mostB = mostOf(sizeB, boundsB, index);
    bool isBounded =
        !ShapedType::isDynamic(mostA) && !ShapedType::isDynamic(mostB);
    shape.push_back(isSame ? sizeA : ShapedType::kDynamic);
    bounds.push_back(ShapedType::isDynamic(shape.back()) && isBounded
                         ? std::max(mostA, mostB)
                         : ShapedType::kDynamic);
  }
  return getTensorType(shape, tensorA.getElementType(), bounds);
}

/// The rules of `if` and `case`: a scalar chooses, branches take nothing and
/// return compatible types.
LogicalResult inferBranches(const RuleSite &site, StringRef selectorName,
                            ValueRange operands, RegionRange branches,
                            SmallVectorImpl<Type> &inferred) {
  auto selector = operands.size() == 1
                      ? dyn_cast<RankedTensorType>(operands[0].getType())
                      : RankedTensorType();
  if (!selector || selector.getRank() != 0)
    return site.fail(selectorName, " must be a scalar: operands are ",
                     operands.getTypes());
  if (branches.empty())
    return site.fail("needs a branch: has none");
  for (auto [index, branch] : llvm::enumerate(branches)) {
    std::string name = "branch " + std::to_string(index);
    std::optional<TypeRange> types = getReturnTypes(site, name, *branch);
    if (!types)
      return failure();
    if (branch->getNumArguments() != 0)
      return site.fail("branches must not take arguments: ", name, " takes ",
                       branch->getNumArguments());
    if (index == 0) {
      inferred.assign(types->begin(), types->end());
      continue;
    }
    if (!areCompatibleTypes(TypeRange(inferred), *types))
      return site.fail("branches must return compatible types: branch 0 "
                       "returns ",
                       TypeRange(inferred), ", ", name, " returns ", *types);
    for (auto [merged, type] : llvm::zip_equal(inferred, *types))
      merged = generalize(merged, type);
  }
  return success();
}
} // namespace

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult IfOp::inferReturnTypes(MLIRContext *,
                                     std::optional<Location> location,
                                     ValueRange operands, DictionaryAttr,
                                     OpaqueProperties, RegionRange regions,
                                     SmallVectorImpl<Type> &inferred) {
  return inferBranches({location, getOperationName()}, "pred", operands,
                       regions, inferred);
}

LogicalResult CaseOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       ValueRange operands, DictionaryAttr,
                                       OpaqueProperties, RegionRange regions,
                                       SmallVectorImpl<Type> &inferred) {
  return inferBranches({location, getOperationName()}, "index", operands,
                       regions, inferred);
}

LogicalResult WhileOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        ValueRange operands, DictionaryAttr,
                                        OpaqueProperties, RegionRange,
                                        SmallVectorImpl<Type> &inferred) {
  llvm::append_range(inferred, operands.getTypes());
  return success();
}

LogicalResult WhileOp::verify() {
  RuleSite site(*this);
  TypeRange operands = getOperandTypes();
  for (auto [name, region] :
       {std::pair("cond", &getCond()), std::pair("body", &getBody())})
    if (!areCompatibleTypes(operands, TypeRange(region->getArgumentTypes())))
      return site.fail(name, " must take the operands' types: takes (",
                       region->getArgumentTypes(), "), operands are (",
                       operands, ")");
  std::optional<TypeRange> body = getReturnTypes(site, "body", getBody());
  std::optional<TypeRange> cond = getReturnTypes(site, "cond", getCond());
  if (!body || !cond)
    return failure();
  if (!areCompatibleTypes(operands, *body))
    return site.fail("body must return the operands' types: returns (", *body,
                     "), operands are (", operands, ")");
  auto answer = cond->size() == 1 ? dyn_cast<RankedTensorType>(cond->front())
                                  : RankedTensorType();
  if (!answer || answer.getRank() != 0 ||
      !answer.getElementType().isSignlessInteger(1))
    return site.fail("cond must return tensor<i1>: returns (", *cond, ")");
  return success();
}

LogicalResult OptimizationBarrierOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
    OpaqueProperties, RegionRange, SmallVectorImpl<Type> &inferred) {
  llvm::append_range(inferred, operands.getTypes());
  return success();
}

//===----------------------------------------------------------------------===//
// Tuples and tokens
//===----------------------------------------------------------------------===//

LogicalResult TupleOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location>,
                                        ValueRange operands, DictionaryAttr,
                                        OpaqueProperties, RegionRange,
                                        SmallVectorImpl<Type> &inferred) {
  inferred.push_back(TupleType::get(context, operands.getTypes()));
  return success();
}

LogicalResult GetTupleElementOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  auto tuple = operands.size() == 1 ? dyn_cast<TupleType>(operands[0].getType())
                                    : TupleType();
  if (!tuple)
    return site.fail("operand must be a tuple: operands are ",
                     operands.getTypes());
  if (!adaptor.getIndexAttr())
    return site.fail("index must be given: is not");
  int64_t index = static_cast<int32_t>(adaptor.getIndex());
  if (index < 0 || index >= static_cast<int64_t>(tuple.size()))
    return site.fail("index must be in range [0, ", tuple.size(), "): ", index,
                     " is not");
  inferred.push_back(tuple.getType(index));
  return success();
}

LogicalResult AfterAllOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location>, ValueRange,
                                           DictionaryAttr, OpaqueProperties,
                                           RegionRange,
                                           SmallVectorImpl<Type> &inferred) {
  inferred.push_back(TokenType::get(context));
  return success();
}

LogicalResult CreateTokenOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location>,
                                              ValueRange, DictionaryAttr,
                                              OpaqueProperties, RegionRange,
                                              SmallVectorImpl<Type> &inferred) {
  inferred.push_back(TokenType::get(context));
  return success();
}

//===----------------------------------------------------------------------===//
// Futures
//===----------------------------------------------------------------------===//

LogicalResult AsyncStartOp::inferReturnTypes(MLIRContext *context,
                                             std::optional<Location> location,
                                             ValueRange operands,
                                             DictionaryAttr, OpaqueProperties,
                                             RegionRange regions,
                                             SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  if (regions.size() != 1 || regions.front()->empty() ||
      !llvm::hasNItems(regions.front()->front(), 2))
    return site.fail("body must have one op and a terminator: has not");
  Block &block = regions.front()->front();
  Operation &op = block.front();
  if (!isa<AllGatherOp, AllReduceOp, AllToAllOp, CollectiveBroadcastOp,
           CollectivePermuteOp, CollectiveReduceOp, ReduceScatterOp, SliceOp,
           DynamicSliceOp, DynamicUpdateSliceOp>(op))
    return site.fail("body must have a collective or a slice op: has ",
                     op.getName().getStringRef());
  TypeRange arguments(block.getArgumentTypes());
  if (operands.getTypes() != arguments)
    return site.fail("body must take the operands' types: takes ", arguments,
                     ", operands are ", operands.getTypes());
  TypeRange results(block.back().getOperandTypes());
  if (results.size() != 1)
    return site.fail("body must return one value: returns ", results.size());
  inferred.push_back(FutureType::get(context, results.front()));
  return success();
}

LogicalResult AsyncDoneOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            ValueRange operands, DictionaryAttr,
                                            OpaqueProperties, RegionRange,
                                            SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  auto future = operands.size() == 1
                    ? dyn_cast<FutureType>(operands[0].getType())
                    : FutureType();
  if (!future || future.getTypes().size() != 1)
    return site.fail("operand must be a future of one type: operands are ",
                     operands.getTypes());
  inferred.push_back(future.getTypes().front());
  return success();
}
