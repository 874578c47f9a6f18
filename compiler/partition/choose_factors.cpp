#include "compiler/partition/choose_factors.h"

#include "compiler/partition/propagation.h"
#include "compiler/partition/windows.h"

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
      offer(getSpread(agreed, i));
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
      choice[factor] =
          getFittingPrefix(cutBefore(*common, used), rule.factors[factor]);
    }
    dropGaps(choice);
    return choice;
  }

  /// What the op needs whole, along dimensions where it doesn't: those that
  /// all have.
  SmallVector<Spans> getSpread(ArrayRef<Spans> agreed, size_t tensor) const {
    SmallVector<Spans> choice(agreed);
    take(choice, tensor);
    Spans freed;
    for (auto [dim, factors] : llvm::enumerate(*tensors[tensor].factors))
      if (factors.size() == 1 &&
          rule.factors[factors[0]].kind == FactorKind::Replicate)
        llvm::append_range(freed, tensors[tensor].sharding.dims[dim]);
    for (unsigned factor = 0; factor < choice.size() && !freed.empty();
         ++factor) {
      bool isShared =
          rule.factors[factor].kind == FactorKind::Pass &&
          llvm::all_of(projections, [&](const Projection &projection) {
            return projection.factors.empty() ||
                   projection.factors.contains(factor);
          });
      if (!isShared)
        continue;
      Spans used(forbidden.begin(), forbidden.end());
      for (const Spans &spans : choice)
        used.append(spans.begin(), spans.end());
      Spans taken = getDividingPrefix(cutBefore(freed, used),
                                      rule.factors[factor].size /
                                          countShards(choice[factor]));
      append(choice[factor], taken);
      freed = removePrefix(freed, taken);
    }
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
        choice[factor] = getFittingPrefix(cutBefore(found->second, used),
                                          rule.factors[factor]);
      }
  }

  /// Behind a factor that is not split to the end the next one of the dimension
  /// can't be: pieces would have gaps.
  void dropGaps(SmallVector<Spans> &choice) const {
    for (const Window &window : rule.windows)
      if (!choice[window.factor].empty() && !readWindow(choice, window))
        choice[window.factor].clear();
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

  std::optional<double> readWindow(ArrayRef<Spans> choice,
                                   const Window &window) const {
    const TensorUse &tensor = tensors[window.operand];
    return getWindowCost(
        window, tensor.type,
        projectFactors(rule, *tensor.factors, choice, tensor.type.getRank()));
  }

  double getCost(ArrayRef<Spans> choice) const {
    double cost = 0;
    for (const Window &window : rule.windows)
      if (!choice[window.factor].empty())
        cost += readWindow(choice, window).value_or(0);
    Spans parts = getPartSpans(rule, choice);
    for (const TensorUse &tensor : tensors) {
      Sharding here =
          projectFactors(rule, *tensor.factors, choice, tensor.type.getRank());
      cost +=
          static_cast<double>(alula::partition::getBytes(tensor.type, here)) /
          8;
      if (tensor.isResult)
        here.unreduced = parts;
      const Sharding &from = tensor.isResult ? here : tensor.sharding,
                     &to = tensor.isResult ? tensor.sharding : here;
      cost += alula::partition::getCost(planReshard(tensor.type, from, to),
                                        tensor.type, from);
    }
    return cost + getWork(choice);
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
