// Says calls that stand for ops with dynamic attributes in ops.
//
//   custom_call @stablehlo.dynamic_reduce_window(%x.., %init.., lists..)
//   →  dynamic_pad by the dynamic padding, reduce_window without padding
//   custom_call @stablehlo.dynamic_top_k(%x, %k)
//   →  sort, real_dynamic_slice
//
// A call that is not as it should be is left: who runs it says so.
// Relies on input-refine-shapes, which makes lists that are known constants.

#include "compiler/input/convert_chlo.h"
#include "compiler/input/dynamic_window.h"
#include "compiler/input/list_arithmetic.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DEF_INPUTLOWERDYNAMICCALL
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;
using namespace alula::input;

namespace {
/// Of the last dimension, the largest first.
void lowerDynamicTopK(stablehlo::CustomCallOp call, IRRewriter &rewriter) {
  if (call.getInputs().size() != 2 || call.getNumResults() != 2)
    return;
  Value operand = call.getInputs()[0], k = call.getInputs()[1];
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  auto kType = dyn_cast<RankedTensorType>(k.getType());
  auto i32 = rewriter.getI32Type();
  auto indices = dyn_cast<RankedTensorType>(call.getResult(1).getType());
  if (!type || type.getRank() == 0 || !kType || kType.getRank() != 0 ||
      !kType.getElementType().isSignlessInteger() || !indices ||
      indices.getElementType() != i32 ||
      !(isa<IntegerType>(type.getElementType()) ||
        stablehlo::isFloatElement(type.getElementType())))
    return;
  Location location = call.getLoc();
  ListArithmetic math(rewriter, location);
  int64_t last = type.getRank() - 1;
  SmallVector<Value> sizes, starts, strides;
  for (int64_t dim = 0; dim <= last; ++dim) {
    sizes.push_back(math.getDim(operand, dim));
    starts.push_back(math.make(0));
    strides.push_back(math.make(1));
  }
  auto indexType = RankedTensorType::get(type.getShape(), i32);
  Value index = rewriter.create<stablehlo::DynamicIotaOp>(
      location, indexType, math.makeList(sizes), last);
  auto sort = rewriter.create<stablehlo::SortOp>(
      location, TypeRange{type, indexType}, ValueRange{operand, index},
      static_cast<uint64_t>(last), /*is_stable=*/true);
  buildDescending(sort.getComparator(), {type.getElementType(), i32}, rewriter,
                  location);
  sizes.back() = math.getElement(k, {});
  Value start = math.makeList(starts), limit = math.makeList(sizes),
        stride = math.makeList(strides);
  SmallVector<Value> parts;
  for (auto [sorted, result] :
       llvm::zip_equal(sort.getResults(), call.getResults()))
    parts.push_back(rewriter.create<stablehlo::RealDynamicSliceOp>(
        location, result.getType(), sorted, start, limit, stride));
  rewriter.replaceOp(call, parts);
}

struct LowerDynamicCall
    : public alula::input::impl::InputLowerDynamicCallBase<LowerDynamicCall> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](stablehlo::CustomCallOp call) {
      rewriter.setInsertionPoint(call);
      if (call.getCallTargetName() == "stablehlo.dynamic_reduce_window")
        lowerDynamicReduceWindow(call, rewriter);
      else if (call.getCallTargetName() == "stablehlo.dynamic_top_k")
        lowerDynamicTopK(call, rewriter);
    });
  }
};
} // namespace
