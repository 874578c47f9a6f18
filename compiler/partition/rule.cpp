#include "compiler/partition/rule.h"

#include "dialect/sdy/ops.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::partition;

Spans LocalSite::getSpans(const TensorFactors &tensor, size_t dim) const {
  Spans spans;
  for (unsigned factor : tensor[dim])
    append(spans, factors[factor]);
  return spans;
}

RankedTensorType alula::partition::getStaticType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type : RankedTensorType();
}

namespace {
bool hasNeutral(Value value, Reducer reducer) {
  RankedTensorType type = getStaticType(value);
  return type && getNeutral(reducer, type.getElementType(),
                            RankedTensorType::get({}, type.getElementType()));
}

/// Which factors may have padded pieces: those that are dimensions by
/// themselves, of elements that have a zero.
void settle(Rule &rule, Operation *op) {
  for (Factor &factor : rule.factors)
    factor.mayPad = rule.mayPad && factor.kind != FactorKind::Replicate;
  auto visit = [&](const TensorFactors &tensor, Value value, bool isOperand) {
    for (const auto &factors : tensor)
      for (unsigned number : factors) {
        Factor &factor = rule.factors[number];
        bool isReduced = factor.kind == FactorKind::Reduce && isOperand;
        factor.mayPad &= factors.size() == 1 &&
                         hasNeutral(value, Reducer::Sum) &&
                         (!isReduced || hasNeutral(value, rule.reducer));
      }
  };
  for (auto [tensor, value] : llvm::zip_equal(rule.operands, op->getOperands()))
    visit(tensor, value, true);
  for (auto [tensor, value] : llvm::zip_equal(rule.results, op->getResults()))
    visit(tensor, value, false);
  for (const Window &window : rule.windows)
    if (Factor &factor = rule.factors[window.factor]; !factor.mayPad)
      factor.kind = FactorKind::Replicate;
}
} // namespace

std::optional<Rule> alula::partition::getRule(Operation *op) {
  auto isUnknown = [](Value value) {
    return isa<ShapedType>(value.getType()) && !getStaticType(value);
  };
  if (llvm::any_of(op->getOperands(), isUnknown) ||
      llvm::any_of(op->getResults(), isUnknown))
    return std::nullopt;
  for (auto *family :
       {getElementwiseRule, getShapeRule, getSliceRule, getReduceRule,
        getDotRule, getConvRule, getGatherScatterRule, getRngRule, getCallRule})
    if (std::optional<Rule> rule = family(op)) {
      settle(*rule, op);
      return rule;
    }
  return std::nullopt;
}

Spans alula::partition::getFittingPrefix(ArrayRef<Span> spans,
                                         const Factor &factor) {
  return factor.mayPad ? getPaddablePrefix(spans, factor.size)
                       : getDividingPrefix(spans, factor.size);
}

const Window *alula::partition::findWindow(const Rule &rule, size_t operand,
                                           size_t dim) {
  const auto *found = llvm::find_if(rule.windows, [&](const Window &window) {
    return window.operand == operand && window.dim == dim;
  });
  return found == rule.windows.end() ? nullptr : found;
}

SmallVector<Value> alula::partition::buildLocal(LocalSite &site) {
  for (auto *family :
       {buildLocalShape, buildLocalSlice, buildLocalWindow, buildLocalConv,
        buildLocalGatherScatter, buildLocalRng, buildLocalCall})
    if (auto values = family(site))
      return *values;
  return site.clone(site, {});
}

std::optional<Reducer> alula::partition::findReducer(Region &region) {
  if (!region.hasOneBlock())
    return std::nullopt;
  Block &block = region.front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return std::nullopt;
  Operation &op = block.front(), *end = block.getTerminator();
  auto isBoth = [&] {
    return op.getNumOperands() == 2 &&
           ((op.getOperand(0) == block.getArgument(0) &&
             op.getOperand(1) == block.getArgument(1)) ||
            (op.getOperand(0) == block.getArgument(1) &&
             op.getOperand(1) == block.getArgument(0)));
  };
  if (!isBoth() || op.getNumResults() != 1 || end->getNumOperands() != 1 ||
      end->getOperand(0) != op.getResult(0))
    return std::nullopt;
  bool isFlag = getElementTypeOrSelf(op.getResult(0).getType()).isInteger(1);
  if (isa<stablehlo::AddOp>(op))
    return isFlag ? Reducer::Or : Reducer::Sum;
  if (isa<stablehlo::MulOp>(op))
    return isFlag ? Reducer::And : Reducer::Product;
  if (isa<stablehlo::MaxOp>(op))
    return isFlag ? Reducer::Or : Reducer::Max;
  if (isa<stablehlo::MinOp>(op))
    return isFlag ? Reducer::And : Reducer::Min;
  if (isa<stablehlo::AndOp>(op))
    return Reducer::And;
  if (isa<stablehlo::OrOp>(op))
    return Reducer::Or;
  return std::nullopt;
}

Value alula::partition::buildReducer(OpBuilder &builder, Location location,
                                     Reducer reducer, Value a, Value b) {
  switch (reducer) {
  case Reducer::Sum:
    return builder.create<stablehlo::AddOp>(location, a, b);
  case Reducer::Product:
    return builder.create<stablehlo::MulOp>(location, a, b);
  case Reducer::Max:
    return builder.create<stablehlo::MaxOp>(location, a, b);
  case Reducer::Min:
    return builder.create<stablehlo::MinOp>(location, a, b);
  case Reducer::And:
    return builder.create<stablehlo::AndOp>(location, a, b);
  case Reducer::Or:
    return builder.create<stablehlo::OrOp>(location, a, b);
  }
  llvm_unreachable("every reducer has an op");
}

namespace {
/// The number that changes nothing.
std::optional<APInt> getNeutralInteger(Reducer reducer, IntegerType type) {
  unsigned width = type.getWidth();
  bool isUnsigned = type.isUnsigned() || width == 1;
  switch (reducer) {
  case Reducer::Sum:
  case Reducer::Or:
    return APInt::getZero(width);
  case Reducer::Product:
    return APInt(width, 1);
  case Reducer::And:
    return APInt::getAllOnes(width);
  case Reducer::Max:
    return isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  case Reducer::Min:
    return isUnsigned ? APInt::getAllOnes(width)
                      : APInt::getSignedMaxValue(width);
  }
  llvm_unreachable("every reducer is listed");
}

std::optional<APFloat> getNeutralFloat(Reducer reducer, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  switch (reducer) {
  case Reducer::Sum:
    return APFloat::getZero(semantics);
  case Reducer::Product:
    return APFloat::getOne(semantics);
  case Reducer::Max:
  case Reducer::Min:
    // Small types may have no infinity.
    if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
      return std::nullopt;
    return APFloat::getInf(semantics, reducer == Reducer::Max);
  case Reducer::And:
  case Reducer::Or:
    return std::nullopt;
  }
  llvm_unreachable("every reducer is listed");
}
} // namespace

TypedAttr alula::partition::getNeutral(Reducer reducer, Type element,
                                       RankedTensorType type) {
  if (auto integer = dyn_cast<IntegerType>(element))
    if (auto value = getNeutralInteger(reducer, integer))
      return SplatElementsAttr::get(type, *value);
  if (auto real = dyn_cast<FloatType>(element))
    if (auto value = getNeutralFloat(reducer, real))
      return SplatElementsAttr::get(type, *value);
  if (auto complex = dyn_cast<ComplexType>(element))
    if (auto part = dyn_cast<FloatType>(complex.getElementType());
        part && reducer == Reducer::Sum) {
      APFloat zero = APFloat::getZero(part.getFloatSemantics());
      return SplatElementsAttr::get(type, std::complex<APFloat>(zero, zero));
    }
  return {};
}

/// What a value is made of, through ops that hand all elements on.
static Value findSource(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<sdy::ShardingConstraintOp, sdy::ReshardOp,
             stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

bool alula::partition::isNeutral(Value value, Reducer reducer) {
  auto constant = findSource(value).getDefiningOp<stablehlo::ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue())
                        : SplatElementsAttr();
  if (!splat)
    return false;
  auto type = cast<RankedTensorType>(splat.getType());
  if (getNeutral(reducer, type.getElementType(), type) == splat)
    return true;
  // -0 too is neutral in sums.
  auto real = dyn_cast<FloatType>(type.getElementType());
  return real && reducer == Reducer::Sum &&
         splat.getSplatValue<APFloat>().isZero();
}

Value alula::partition::buildNumber(OpBuilder &builder, Location location,
                                    int64_t number, Type element) {
  auto type = RankedTensorType::get({}, element);
  return builder.create<stablehlo::ConstantOp>(
      location,
      SplatElementsAttr::get(type, APInt(element.getIntOrFloatBitWidth(),
                                         static_cast<uint64_t>(number), true)));
}
