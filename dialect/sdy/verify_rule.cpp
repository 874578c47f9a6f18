#include "dialect/sdy/verify_rule.h"
#include "dialect/sdy/ops.h"
#include "dialect/sdy/verify_sharding.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::sdy;

/// The mapping of one value; marks the factors that it uses in `used`.
static LogicalResult verifyMapping(TensorMappingAttr mapping, Type type,
                                   ArrayRef<int64_t> factorSizes,
                                   BitVector &used, ErrorReporter report) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape())
    return report() << "sharding rule needs a tensor of static shape: " << type;
  if (int64_t(mapping.getDimMappings().size()) != shaped.getRank())
    return report() << "mapping must have the rank of the tensor: "
                    << mapping.getDimMappings().size() << " and "
                    << shaped.getRank();
  BitVector usedHere(factorSizes.size());
  for (auto [dim, dimMapping] : llvm::enumerate(mapping.getDimMappings())) {
    ArrayRef<int64_t> factors = dimMapping.getFactorIndices();
    if (factors.empty())
      return report() << "dimension must have a factor: dimension " << dim;
    for (int64_t factor : factors) {
      if (factor < 0 || factor >= int64_t(factorSizes.size()))
        return report() << "factor has no size: " << getFactorName(factor);
      if (usedHere.test(factor))
        return report() << "factor is used twice: " << getFactorName(factor);
      if (factors.size() > 1 && factorSizes[factor] == 1)
        return report() << "factor of size 1 must stand alone: "
                        << getFactorName(factor);
      usedHere.set(factor);
    }
  }
  used |= usedHere;
  return success();
}

static LogicalResult verifyMappings(ArrayRef<TensorMappingAttr> mappings,
                                    TypeRange types,
                                    ArrayRef<int64_t> factorSizes,
                                    BitVector &used, Operation *op,
                                    StringRef kind) {
  if (mappings.size() != types.size() || mappings.empty())
    return op->emitOpError() << "sharding rule must have a mapping for each "
                             << kind << " and at least one: " << mappings.size()
                             << " for " << types.size();
  for (auto [index, entry] :
       llvm::enumerate(llvm::zip_equal(mappings, types))) {
    size_t number = index;
    auto report = [&] {
      return op->emitOpError() << kind << " " << number << ": ";
    };
    if (failed(verifyMapping(std::get<0>(entry), std::get<1>(entry),
                             factorSizes, used, report)))
      return failure();
  }
  return success();
}

/// Each factor of a special list is there and appears once, in order.
static LogicalResult verifyFactorList(ArrayRef<int64_t> factors, size_t count,
                                      StringRef kind, Operation *op) {
  for (auto [index, factor] : llvm::enumerate(factors)) {
    if (factor < 0 || factor >= int64_t(count))
      return op->emitOpError()
             << kind << " factor has no size: " << getFactorName(factor);
    if (index && factors[index - 1] >= factor)
      return op->emitOpError()
             << kind << " factors must rise: " << getFactorName(factor)
             << " after " << getFactorName(factors[index - 1]);
  }
  return success();
}

LogicalResult mlir::sdy::verifyShardingRule(OpShardingRuleAttr rule,
                                            Operation *op) {
  ArrayRef<int64_t> sizes = rule.getFactorSizes();
  BitVector inOperands(sizes.size()), inResults(sizes.size());
  if (failed(verifyMappings(rule.getOperandMappings(), op->getOperandTypes(),
                            sizes, inOperands, op, "operand")) ||
      failed(verifyMappings(rule.getResultMappings(), op->getResultTypes(),
                            sizes, inResults, op, "result")))
    return failure();
  BitVector used = inOperands;
  used |= inResults;
  if (int unused = used.find_first_unset(); unused >= 0)
    return op->emitOpError()
           << "factor is used by no dimension: " << getFactorName(unused) << "="
           << sizes[unused];

  std::pair<StringRef, ArrayRef<int64_t>> kinds[] = {
      {"reduction", rule.getReductionFactors()},
      {"need_replication", rule.getNeedReplicationFactors()},
      {"permutation", rule.getPermutationFactors()}};
  BitVector special(sizes.size());
  for (auto [kind, factors] : kinds) {
    if (failed(verifyFactorList(factors, sizes.size(), kind, op)))
      return failure();
    for (int64_t factor : factors) {
      if (special.test(factor))
        return op->emitOpError()
               << "factor can be only one of reduction, need_replication and "
                  "permutation: "
               << getFactorName(factor);
      special.set(factor);
    }
  }
  if (failed(verifyFactorList(rule.getBlockedPropagationFactors(), sizes.size(),
                              "blocked_propagation", op)))
    return failure();
  for (int64_t factor : rule.getReductionFactors())
    if (inResults.test(factor))
      return op->emitOpError() << "reduction factor must not be in a result: "
                               << getFactorName(factor);
  return success();
}

static LogicalResult verifyReference(EdgeValueRefAttr reference, Operation *op,
                                     SmallVectorImpl<MeshAttr> &meshes) {
  bool isResult = reference.getType() == EdgeNodeType::RESULT;
  int64_t count = isResult ? op->getNumResults() : op->getNumOperands();
  int64_t index = reference.getIndex();
  // This op stands for all operands of its calls.
  if (isa<FuncDataFlowEdgeOp>(op) && index >= count)
    return success();
  if (index < 0 || index >= count)
    return op->emitOpError()
           << "propagation edges name "
           << (isResult ? "a result" : "an operand")
           << " that the op lacks: " << index << " of " << count;
  Value value = isResult ? Value(op->getResult(index)) : op->getOperand(index);
  if (TensorShardingAttr sharding = findSharding(value))
    if (MeshAttr mesh = sharding.lookupMesh(op))
      meshes.push_back(mesh);
  return success();
}

LogicalResult mlir::sdy::verifyPropagationEdges(PropagationEdgesAttr edges,
                                                Operation *op) {
  SmallVector<MeshAttr> meshes;
  for (PropagationOneStepAttr step : edges)
    for (AxisToPropagationDetailsAttr entry : step.getAxisEntries()) {
      if (failed(verifyReference(entry.getSource(), op, meshes)))
        return failure();
      for (EdgeValueRefAttr target : entry.getTargets())
        if (failed(verifyReference(target, op, meshes)))
          return failure();
    }
  if (meshes.empty())
    return op->emitOpError()
           << "propagation edges must name a value with a sharding: " << edges;
  if (!llvm::all_equal(meshes))
    return op->emitOpError()
           << "propagation edges must stay in one mesh: " << meshes.front()
           << " and others";
  for (PropagationOneStepAttr step : edges)
    for (AxisToPropagationDetailsAttr entry : step.getAxisEntries())
      if (!meshes.front().findAxis(entry.getAxisName().getName()))
        return op->emitOpError() << "mesh has no axis \""
                                 << entry.getAxisName().getName() << "\"";
  return success();
}
