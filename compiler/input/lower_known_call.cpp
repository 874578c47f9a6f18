// Says custom calls that have a meaning everywhere in ops.
//
//   custom_call @ApproxTopK(%x.., %init..)  →  sort, slice
//   custom_call @mhlo.topk, @mhlo.erf       →  chlo.top_k, chlo.erf
//
// A call that is not as it should be is left: who runs it says what is wrong.

#include "dialect/chlo/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DEF_INPUTLOWERKNOWNCALL
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;

namespace {
DictionaryAttr getConfig(stablehlo::CustomCallOp call) {
  if (auto config =
          dyn_cast_or_null<DictionaryAttr>(call.getBackendConfigAttr()))
    return config;
  // Where JAX puts it for programs that must stay portable.
  return call->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
}

RankedTensorType getStaticType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type : RankedTensorType();
}

/// The function that says which of two comes first, if it fits the inputs.
func::FuncOp findComparator(stablehlo::CustomCallOp call, ValueRange inputs,
                            SymbolTable &symbols) {
  ArrayAttr computations = call.getCalledComputations();
  if (!computations || computations.size() != 1)
    return {};
  auto symbol = dyn_cast<FlatSymbolRefAttr>(computations[0]);
  auto function = symbol ? symbols.lookup<func::FuncOp>(symbol.getAttr())
                         : func::FuncOp();
  if (!function || !function.getBody().hasOneBlock())
    return {};
  SmallVector<Type> arguments;
  for (Value input : inputs)
    arguments.append(2, RankedTensorType::get(
                            {}, getElementTypeOrSelf(input.getType())));
  auto flag = RankedTensorType::get({}, IntegerType::get(call.getContext(), 1));
  if (function.getFunctionType() !=
      FunctionType::get(call.getContext(), arguments, flag))
    return {};
  return function;
}

/// Exact, and in order: the best answer there is.
bool lowerApproxTopK(stablehlo::CustomCallOp call, SymbolTable &symbols,
                     IRRewriter &rewriter) {
  size_t count = call.getNumResults();
  DictionaryAttr config = getConfig(call);
  auto dim = config ? config.getAs<IntegerAttr>("reduction_dim") : IntegerAttr();
  if (!dim || !count || call.getInputs().size() != 2 * count)
    return false;
  ValueRange inputs = call.getInputs().take_front(count);
  RankedTensorType first = getStaticType(inputs[0]);
  if (!first || dim.getInt() < 0 || dim.getInt() >= first.getRank())
    return false;
  auto number = static_cast<size_t>(dim.getInt());
  SmallVector<int64_t> starts(first.getShape().size(), 0);
  SmallVector<int64_t> strides(first.getShape().size(), 1);
  for (auto [input, result] : llvm::zip_equal(inputs, call.getResults())) {
    RankedTensorType from = getStaticType(input), to = getStaticType(result);
    if (!from || !to || from.getShape() != first.getShape() ||
        to.getRank() != from.getRank() ||
        to.getElementType() != from.getElementType())
      return false;
    for (size_t i = 0; i < starts.size(); ++i)
      if (i == number ? to.getShape()[i] > from.getShape()[i]
                      : to.getShape()[i] != from.getShape()[i])
        return false;
  }
  func::FuncOp comparator = findComparator(call, inputs, symbols);
  if (!comparator)
    return false;

  auto sort = rewriter.create<stablehlo::SortOp>(
      call.getLoc(), inputs.getTypes(), inputs,
      static_cast<uint64_t>(dim.getInt()), /*is_stable=*/true);
  IRMapping mapping;
  comparator.getBody().cloneInto(&sort.getComparator(), mapping);
  Operation *end = sort.getComparator().front().getTerminator();
  rewriter.setInsertionPoint(end);
  rewriter.replaceOpWithNewOp<stablehlo::ReturnOp>(end, end->getOperands());
  rewriter.setInsertionPointAfter(sort);
  SmallVector<Value> parts;
  for (auto [sorted, result] :
       llvm::zip_equal(sort.getResults(), call.getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    parts.push_back(rewriter.create<stablehlo::SliceOp>(
        call.getLoc(), type, sorted, starts, type.getShape(), strides));
  }
  rewriter.replaceOp(call, parts);
  return true;
}

bool lowerTopK(stablehlo::CustomCallOp call, IRRewriter &rewriter) {
  auto attributes = call->getAttrOfType<DictionaryAttr>("mhlo.attributes");
  auto k = attributes ? attributes.getAs<IntegerAttr>("k") : IntegerAttr();
  auto largest =
      attributes ? attributes.getAs<BoolAttr>("largest") : BoolAttr();
  if (!k || (largest && !largest.getValue()) || call.getInputs().size() != 1 ||
      call.getNumResults() != 2)
    return false;
  auto from = getStaticType(call.getInputs()[0]);
  auto values = getStaticType(call.getResult(0));
  auto indices = getStaticType(call.getResult(1));
  if (!from || !values || !indices || !from.getRank() ||
      k.getInt() > from.getShape().back())
    return false;
  SmallVector<int64_t> shape(from.getShape());
  shape.back() = k.getInt();
  if (values != from.clone(shape) ||
      indices != from.clone(shape, rewriter.getI32Type()))
    return false;
  rewriter.replaceOpWithNewOp<chlo::TopKOp>(
      call, TypeRange{values, indices}, call.getInputs()[0],
      static_cast<uint64_t>(k.getInt()));
  return true;
}

bool lowerErf(stablehlo::CustomCallOp call, IRRewriter &rewriter) {
  if (call.getInputs().size() != 1 || call.getNumResults() != 1 ||
      call.getInputs()[0].getType() != call.getResult(0).getType())
    return false;
  rewriter.replaceOpWithNewOp<chlo::ErfOp>(
      call, call.getResult(0).getType(), call.getInputs()[0]);
  return true;
}

struct LowerKnownCall
    : public alula::input::impl::InputLowerKnownCallBase<LowerKnownCall> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](stablehlo::CustomCallOp call) {
      rewriter.setInsertionPoint(call);
      if (call.getCallTargetName() == "ApproxTopK")
        lowerApproxTopK(call, symbols, rewriter);
      else if (call.getCallTargetName() == "mhlo.topk")
        lowerTopK(call, rewriter);
      else if (call.getCallTargetName() == "mhlo.erf")
        lowerErf(call, rewriter);
    });
  }
};
} // namespace
