// Custom calls: factorizations of each matrix of a batch, calls that say how
// they may be split, arrays that are turned. Collectives of programs, which
// work on each element or block.

#include "compiler/partition/turn.h"
#include "compiler/partition/windows.h"

#include "dialect/sdy/dialect.h"
#include "dialect/sdy/ops.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::partition;

namespace {
/// How many dimensions of its first operand a known call works on together;
/// those before are a batch in all operands and results.
std::optional<int64_t> getInnerRank(stablehlo::CustomCallOp call) {
  StringRef name = call.getCallTargetName();
  for (StringRef known :
       {"alula.eig", "alula.eigh", "alula.geqp3", "alula.geqrf", "Qr",
        "alula.hessenberg", "alula.householder_product",
        "ProductOfElementaryHouseholderReflectors", "alula.lu", "alula.ormqr",
        "alula.schur", "alula.svd", "alula.tridiagonal"})
    if (name == known)
      return 2;
  if (name == "alula.lu_pivots_to_permutation" ||
      name == "alula.tridiagonal_solve")
    return 1;
  return std::nullopt;
}

/// How many dimensions JAX says that a call of a user's function has for a
/// batch (`jax.ffi.register_ffi_target_as_batch_partitionable`): the first ones
/// of all its arrays.
std::optional<int64_t> getNamedBatch(stablehlo::CustomCallOp call) {
  auto said = call->getAttrOfType<DictionaryAttr>("mhlo.frontend_attributes");
  auto text = said ? said.getAs<StringAttr>("num_batch_dims") : StringAttr();
  int64_t batch;
  if (!text || text.getValue().getAsInteger(10, batch) || batch < 1)
    return std::nullopt;
  // They must come first in memory too.
  if (auto orders = call->getAttrOfType<ArrayAttr>("alula.orders"))
    for (auto order : orders.getAsRange<DenseI64ArrayAttr>())
      for (int64_t dim = 0; dim < batch && dim < order.size(); ++dim)
        if (order[dim] != dim)
          return std::nullopt;
  return batch;
}

std::optional<Rule> getBatchRule(stablehlo::CustomCallOp call, int64_t batch) {
  RankedTensorType first = getStaticType(call.getOperand(0));
  if (batch < 0 || first.getRank() < batch)
    return std::nullopt;
  Rule rule;
  auto shape = first.getShape().take_front(static_cast<size_t>(batch));
  for (int64_t size : shape)
    rule.add(size);
  bool isAlike = true;
  auto extend = [&](Value value) {
    TensorFactors tensor;
    RankedTensorType type = getStaticType(value);
    if (!type || type.getRank() < batch ||
        type.getShape().take_front(shape.size()) != shape) {
      isAlike = false;
      return tensor;
    }
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      tensor.push_back({dim < shape.size()
                            ? static_cast<unsigned>(dim)
                            : rule.add(size, FactorKind::Replicate)});
    return tensor;
  };
  for (Value operand : call->getOperands())
    rule.operands.push_back(extend(operand));
  for (Value result : call->getResults())
    rule.results.push_back(extend(result));
  if (!isAlike)
    return std::nullopt;
  return rule;
}

/// What `sdy.sharding_rule` says. Padding is not for others to see.
Rule readRule(sdy::OpShardingRuleAttr attribute) {
  Rule rule;
  for (int64_t size : attribute.getFactorSizes())
    rule.add(size);
  auto set = [&](ArrayRef<int64_t> factors, FactorKind kind) {
    for (int64_t factor : factors)
      rule.factors[static_cast<size_t>(factor)].kind = kind;
  };
  set(attribute.getReductionFactors(), FactorKind::Reduce);
  set(attribute.getNeedReplicationFactors(), FactorKind::Replicate);
  // Nobody knows what the call wants of its neighbours.
  set(attribute.getPermutationFactors(), FactorKind::Replicate);
  auto read = [](ArrayRef<sdy::TensorMappingAttr> mappings) {
    SmallVector<TensorFactors> tensors;
    for (sdy::TensorMappingAttr mapping : mappings) {
      TensorFactors &tensor = tensors.emplace_back();
      for (sdy::DimMappingAttr dim : mapping.getDimMappings()) {
        tensor.emplace_back();
        for (int64_t factor : dim.getFactorIndices())
          tensor.back().push_back(static_cast<unsigned>(factor));
      }
    }
    return tensors;
  };
  rule.operands = read(attribute.getOperandMappings());
  rule.results = read(attribute.getResultMappings());
  return rule;
}

std::optional<Rule> getCustomRule(stablehlo::CustomCallOp call) {
  if (auto attribute = call->getAttrOfType<sdy::OpShardingRuleAttr>(
          sdy::shardingRuleAttrName)) {
    Rule rule = readRule(attribute);
    if (rule.operands.size() == call->getNumOperands() &&
        rule.results.size() == call->getNumResults())
      return rule;
    return std::nullopt;
  }
  RankedTensorType first = call->getNumOperands()
                               ? getStaticType(call.getOperand(0))
                               : RankedTensorType();
  if (!first)
    return std::nullopt;
  if (std::optional<int64_t> inner = getInnerRank(call)) {
    std::optional<Rule> rule = getBatchRule(call, first.getRank() - *inner);
    // What becomes of padding is nobody's business.
    if (rule)
      rule->mayPad = true;
    return rule;
  }
  if (std::optional<int64_t> batch = getNamedBatch(call))
    return getBatchRule(call, *batch);
  return std::nullopt;
}

/// Groups of a collective in a computation that handles some axes by itself are
/// of devices that have the same along all others: each element, or each block,
/// goes its way however the other dimensions are split.
std::optional<Rule> getCollectiveRule(Operation *op) {
  SmallVector<int64_t> whole;
  if (auto gather = dyn_cast<stablehlo::AllGatherOp>(op))
    whole = {static_cast<int64_t>(gather.getAllGatherDim())};
  else if (auto scatter = dyn_cast<stablehlo::ReduceScatterOp>(op))
    whole = {static_cast<int64_t>(scatter.getScatterDimension())};
  else if (auto exchange = dyn_cast<stablehlo::AllToAllOp>(op))
    whole = {static_cast<int64_t>(exchange.getSplitDimension()),
             static_cast<int64_t>(exchange.getConcatDimension())};
  else if (!isa<stablehlo::AllReduceOp, stablehlo::CollectivePermuteOp,
                stablehlo::CollectiveBroadcastOp>(op))
    return std::nullopt;
  if (op->getNumOperands() != op->getNumResults())
    return std::nullopt;
  Rule rule;
  for (auto [operand, result] :
       llvm::zip_equal(op->getOperands(), op->getResults())) {
    RankedTensorType from = getStaticType(operand), to = getStaticType(result);
    if (!from || !to || from.getRank() != to.getRank())
      return std::nullopt;
    TensorFactors &before = rule.operands.emplace_back(),
                  &after = rule.results.emplace_back();
    for (int64_t dim = 0; dim < from.getRank(); ++dim) {
      auto at = static_cast<size_t>(dim);
      if (llvm::is_contained(whole, dim)) {
        before.push_back(
            {rule.add(from.getShape()[at], FactorKind::Replicate)});
        after.push_back({rule.add(to.getShape()[at], FactorKind::Replicate)});
        continue;
      }
      before.push_back({rule.add(from.getShape()[at])});
      after.push_back(before.back());
    }
  }
  return rule;
}
} // namespace

std::optional<Rule> alula::partition::getCallRule(Operation *op) {
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op)) {
    if (std::optional<Turn> turn = getTurn(op))
      return getTurnRule(op, *turn);
    return getCustomRule(call);
  }
  return getCollectiveRule(op);
}

std::optional<SmallVector<Value>>
alula::partition::buildLocalCall(LocalSite &site) {
  std::optional<Turn> turn = getTurn(site.op);
  if (!turn)
    return std::nullopt;
  auto at = static_cast<size_t>(turn->dim);
  if (!site.getSpans(site.rule.results[0], at).empty()) {
    site.readWindows([](const Window &) { return Value(); },
                     [](const Window &, int64_t, int64_t) {});
    return SmallVector<Value>{site.operands[0]};
  }
  return SmallVector<Value>{buildTurn(site.builder, site.operands[0], *turn)};
}
