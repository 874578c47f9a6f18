#include "compiler/partition/choose_factors.h"

#include "compiler/partition/propagation.h"
#include "compiler/partition/reshard.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::partition;

Sharding alula::partition::projectFactors(const Rule &rule,
                                          const TensorFactors &tensor,
                                          ArrayRef<Spans> factors,
                                          int64_t rank) {
  if (tensor.empty())
    return Sharding(rank);
  return projectBack(rule, tensor, [&](unsigned factor) {
    return ArrayRef<Span>(factors[factor]);
  });
}

Spans alula::partition::getPartSpans(const Rule &rule,
                                     ArrayRef<Spans> factors) {
  Spans spans;
  for (auto [factor, split] : llvm::zip_equal(rule.factors, factors))
    if (factor.kind == FactorKind::Reduce)
      spans.append(split.begin(), split.end());
  return sortSpans(spans);
}

namespace {
class Chooser {
public:
  Chooser(Operation *op, const Rule &rule, ArrayRef<TensorUse> tensors,
          ArrayRef<Span> forbidden)
      : op(op), rule(rule), tensors(tensors), forbidden(forbidden) {
    for (const TensorUse &tensor : tensors)
      projections.push_back(
          tensor.factors->empty()
              ? Projection()
              : project(rule, *tensor.factors, tensor.sharding));
  }

  SmallVector<Spans> run() {
    SmallVector<Spans> best = getAgreed();
    const SmallVector<Spans> agreed = best;
    double bestCost = getCost(best);
    auto offer = [&](SmallVector<Spans> choice) {
      dropGaps(choice);
      double cost = getCost(choice);
      if (cost < bestCost) {
        bestCost = cost;
        best = std::move(choice);
      }
    };
    // Each tensor as it is, first alone, then with what the others add.
    constexpr size_t most = 6;
    for (size_t i = 0; i < std::min(tensors.size(), most); ++i) {
      SmallVector<Spans> choice = agreed;
      take(choice, i);
      offer(choice);
      for (bool resultsFirst : {false, true}) {
        SmallVector<Spans> more = choice;
        for (bool isResult : {resultsFirst, !resultsFirst})
          for (size_t j = 0; j < tensors.size(); ++j)
            if (tensors[j].isResult == isResult)
              take(more, j);
        offer(std::move(more));
      }
    }
    return best;
  }

private:
  /// What all operands and results that have a factor agree about, or all
  /// operands where results have none: nobody gathers that.
  SmallVector<Spans> getAgreed() const {
    SmallVector<Spans> choice(rule.factors.size());
    for (unsigned factor = 0; factor < choice.size(); ++factor) {
      if (rule.factors[factor].kind == FactorKind::Replicate)
        continue;
      const Spans *common = nullptr;
      bool isCommon = true;
      for (const Projection &projection : projections) {
        auto found = projection.factors.find(factor);
        if (found == projection.factors.end())
          continue;
        isCommon &= !common || *common == found->second;
        common = &found->second;
      }
      if (!common || !isCommon)
        continue;
      Spans used(forbidden.begin(), forbidden.end());
      for (const Spans &spans : choice)
        used.append(spans.begin(), spans.end());
      choice[factor] = getDividingPrefix(cutBefore(*common, used),
                                         rule.factors[factor].size);
    }
    dropGaps(choice);
    return choice;
  }

  /// What is split in a tensor and not yet in the choice.
  void take(SmallVector<Spans> &choice, size_t tensor) const {
    for (const auto &factors : *tensors[tensor].factors)
      for (unsigned factor : factors) {
        if (rule.factors[factor].kind == FactorKind::Replicate)
          continue;
        auto found = projections[tensor].factors.find(factor);
        if (found == projections[tensor].factors.end() ||
            !isPrefix(choice[factor], found->second))
          continue;
        Spans used(forbidden.begin(), forbidden.end());
        for (auto [other, spans] : llvm::enumerate(choice))
          if (other != factor)
            used.append(spans.begin(), spans.end());
        choice[factor] = getDividingPrefix(cutBefore(found->second, used),
                                           rule.factors[factor].size);
      }
  }

  /// Behind a factor that is not split to the end the next one of the dimension
  /// can't be: pieces would have gaps.
  void dropGaps(SmallVector<Spans> &choice) const {
    for (bool hasChanged = true; hasChanged;) {
      hasChanged = false;
      for (const TensorUse &tensor : tensors)
        for (const auto &factors : *tensor.factors) {
          bool isFull = true;
          for (unsigned factor : factors) {
            hasChanged |= !isFull && !choice[factor].empty();
            if (!isFull)
              choice[factor].clear();
            isFull &= countShards(choice[factor]) == rule.factors[factor].size;
          }
        }
    }
  }

  double getCost(ArrayRef<Spans> choice) const {
    double cost = 0;
    Spans parts = getPartSpans(rule, choice);
    for (const TensorUse &tensor : tensors) {
      Sharding here =
          projectFactors(rule, *tensor.factors, choice, tensor.type.getRank());
      cost += getBytes(here.getLocalType(tensor.type)) / 8;
      if (tensor.isResult)
        here.unreduced = parts;
      const Sharding &from = tensor.isResult ? here : tensor.sharding,
                     &to = tensor.isResult ? tensor.sharding : here;
      cost += alula::partition::getCost(planReshard(tensor.type, from, to),
                                        tensor.type, from);
    }
    return cost + getWork(choice);
  }

  static double getBytes(RankedTensorType type) {
    Type element = type.getElementType();
    double bytes =
        element.isIntOrFloat() ? element.getIntOrFloatBitWidth() / 8.0 : 8;
    return bytes * static_cast<double>(type.getNumElements());
  }

  /// Of products, whose work is in all factors together.
  double getWork(ArrayRef<Spans> choice) const {
    if (!isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op))
      return 0;
    double steps = 1;
    for (auto [factor, split] : llvm::zip_equal(rule.factors, choice))
      steps *= static_cast<double>(factor.size) /
               static_cast<double>(countShards(split));
    return steps / 32;
  }

  Operation *op;
  const Rule &rule;
  ArrayRef<TensorUse> tensors;
  ArrayRef<Span> forbidden;
  SmallVector<Projection> projections;
};
} // namespace

SmallVector<Spans> alula::partition::chooseFactors(Operation *op,
                                                   const Rule &rule,
                                                   ArrayRef<TensorUse> tensors,
                                                   ArrayRef<Span> forbidden) {
  bool isWhole = llvm::all_of(tensors, [](const TensorUse &tensor) {
    return tensor.sharding.isWhole();
  });
  if (isWhole)
    return SmallVector<Spans>(rule.factors.size());
  return Chooser(op, rule, tensors, forbidden).run();
}
