// Says calls that stand for ops with dynamic attributes in ops.
//
//   custom_call @stablehlo.dynamic_reduce_window(%x.., %init.., lists..)
//   →  dynamic_pad by the dynamic padding, reduce_window without padding
//
// What else is dynamic than the padding is left: who runs the call says so.
// Relies on input-refine-shapes, which makes lists that are known constants.

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DEF_INPUTLOWERDYNAMICCALL
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;

namespace {
class WindowLowering {
public:
  WindowLowering(stablehlo::CustomCallOp call, IRRewriter &rewriter)
      : call(call), rewriter(rewriter), location(call.getLoc()),
        count(call.getNumResults()) {}

  void run() {
    auto body = findBody();
    if (!body || !readLists())
      return;
    rewriter.setInsertionPoint(call);
    SmallVector<Value> padded;
    for (unsigned i = 0; i < count; ++i)
      padded.push_back(pad(call.getInputs()[i], call.getInputs()[count + i]));
    auto window = rewriter.create<stablehlo::ReduceWindowOp>(
        location, call->getResultTypes(), padded,
        call.getInputs().slice(count, count),
        rewriter.getDenseI64ArrayAttr(sizes),
        rewriter.getDenseI64ArrayAttr(strides), DenseI64ArrayAttr(),
        rewriter.getDenseI64ArrayAttr(dilations), DenseIntElementsAttr());
    IRMapping mapping;
    body.getBody().cloneInto(&window.getBody(), mapping);
    Operation *end = window.getBody().front().getTerminator();
    rewriter.setInsertionPoint(end);
    rewriter.replaceOpWithNewOp<stablehlo::ReturnOp>(end, end->getOperands());
    rewriter.replaceOp(call, window);
  }

private:
  func::FuncOp findBody() {
    if (count == 0 || call.getInputs().size() != 2 * count + 5 ||
        call.getCalledComputations().size() != 1)
      return {};
    auto symbol =
        dyn_cast<FlatSymbolRefAttr>(call.getCalledComputations()[0]);
    auto body = symbol ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                             call, symbol)
                       : func::FuncOp();
    return body && body.getBody().hasOneBlock() ? body : func::FuncOp();
  }

  bool readLists() {
    auto first = dyn_cast<RankedTensorType>(call.getInputs()[0].getType());
    if (!first)
      return false;
    rank = first.getRank();
    SmallVector<int64_t> *lists[] = {&sizes, &strides, &holes, &dilations};
    for (auto [i, list] : llvm::enumerate(lists)) {
      auto known = stablehlo::readConstant(
          call.getInputs()[static_cast<unsigned>(2 * count + i)]);
      if (!known || static_cast<int64_t>(known->size()) != rank)
        return false;
      list->assign(known->begin(), known->end());
    }
    auto padding = dyn_cast<RankedTensorType>(call.getInputs().back().getType());
    return padding && padding.getShape() == ArrayRef<int64_t>{rank, 2} &&
           llvm::all_of(call.getInputs().take_front(count), [&](Value input) {
             auto type = dyn_cast<RankedTensorType>(input.getType());
             return type && type.getRank() == rank;
           });
  }

  /// A column of the padding: low edges or high ones.
  Value getEdges(int64_t column) {
    Value padding = call.getInputs().back();
    Type element = getElementTypeOrSelf(padding.getType());
    Value slice = rewriter.create<stablehlo::SliceOp>(
        location, RankedTensorType::get({rank, 1}, element), padding,
        ArrayRef<int64_t>{0, column}, ArrayRef<int64_t>{rank, column + 1},
        ArrayRef<int64_t>{1, 1});
    return rewriter.create<stablehlo::ReshapeOp>(
        location, RankedTensorType::get({rank}, element), slice);
  }

  Value pad(Value input, Value init) {
    Type element =
        getElementTypeOrSelf(call.getInputs().back().getType());
    auto listType = RankedTensorType::get({rank}, element);
    SmallVector<APInt> between;
    for (int64_t hole : holes)
      between.emplace_back(element.isIndex() ? 64
                                             : element.getIntOrFloatBitWidth(),
                           static_cast<uint64_t>(hole - 1));
    Value interior = rewriter.create<stablehlo::ConstantOp>(
        location, listType, DenseElementsAttr::get(listType, between));
    SmallVector<int64_t> shape(static_cast<size_t>(rank),
                               ShapedType::kDynamic);
    return rewriter.create<stablehlo::DynamicPadOp>(
        location,
        RankedTensorType::get(shape, getElementTypeOrSelf(input.getType())),
        input, init, getEdges(0), getEdges(1), interior);
  }

  stablehlo::CustomCallOp call;
  IRRewriter &rewriter;
  Location location;
  unsigned count;
  int64_t rank = 0;
  SmallVector<int64_t> sizes, strides, holes, dilations;
};

struct LowerDynamicCall
    : public alula::input::impl::InputLowerDynamicCallBase<LowerDynamicCall> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](stablehlo::CustomCallOp call) {
      if (call.getCallTargetName() == "stablehlo.dynamic_reduce_window")
        WindowLowering(call, rewriter).run();
    });
  }
};
} // namespace
