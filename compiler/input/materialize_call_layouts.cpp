// Says layouts of custom calls in transposes: afterwards operands and results
// are row-major arrays of the dimensions in the order in which they lie.
//
//   custom_call @f(%x) {operand_layouts = [dense<[0, 1]>], …} : tensor<2x3xf32>
//     →  %t = transpose %x, dims = [1, 0]
//        custom_call @f(%t) {alula.orders = [array<i64: 1, 0>, …]}
//
// `alula.orders` has for each operand, then each result, the order of its
// dimensions, the major one first: who makes the call names dimensions as the
// program does. It is left out where all are row-major.

#include "dialect/stablehlo/ops.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DEF_INPUTMATERIALIZECALLLAYOUTS
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;

namespace {
using Order = SmallVector<int64_t>;

/// The verifier has seen that layouts are permutations of their arrays.
SmallVector<Order> readOrders(ArrayAttr layouts) {
  SmallVector<Order> orders;
  for (auto layout : layouts.getAsRange<DenseIntElementsAttr>()) {
    Order &order = orders.emplace_back();
    for (const APInt &dim : layout.getValues<APInt>())
      order.push_back(dim.getSExtValue());
    std::reverse(order.begin(), order.end());
  }
  return orders;
}

bool isRowMajor(ArrayRef<int64_t> order) { return llvm::is_sorted(order); }

Order invert(ArrayRef<int64_t> order) {
  Order inverse(order.size());
  for (auto [place, dim] : llvm::enumerate(order))
    inverse[static_cast<size_t>(dim)] = static_cast<int64_t>(place);
  return inverse;
}

class LayoutMaterializer {
public:
  LayoutMaterializer(stablehlo::CustomCallOp call, IRRewriter &rewriter)
      : call(call), rewriter(rewriter),
        operands(readOrders(*call.getOperandLayouts())),
        results(readOrders(*call.getResultLayouts())) {}

  void run() {
    call.removeOperandLayoutsAttr();
    call.removeResultLayoutsAttr();
    if (llvm::all_of(operands, isRowMajor) && llvm::all_of(results, isRowMajor))
      return;
    rewriter.setInsertionPoint(call);
    for (auto [number, order] : llvm::enumerate(operands)) {
      OpOperand &operand = call->getOpOperand(static_cast<unsigned>(number));
      if (!isRowMajor(order))
        operand.set(transpose(operand.get(), order));
    }
    for (unsigned number = 0; number < results.size(); ++number)
      if (!isRowMajor(results[number]))
        turnSizes(number);
    rewriter.setInsertionPointAfter(call);
    for (auto [result, order] : llvm::zip_equal(call.getResults(), results))
      if (!isRowMajor(order))
        turnResult(result, order);
    SmallVector<Attribute> all;
    for (ArrayRef<Order> list : {ArrayRef(operands), ArrayRef(results)})
      for (const Order &order : list)
        all.push_back(rewriter.getDenseI64ArrayAttr(order));
    call->setAttr("alula.orders", rewriter.getArrayAttr(all));
  }

private:
  Value transpose(Value value, ArrayRef<int64_t> order) {
    return rewriter.create<stablehlo::TransposeOp>(call.getLoc(), value, order);
  }

  void turnResult(OpResult result, ArrayRef<int64_t> order) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape;
    for (int64_t dim : order)
      shape.push_back(type.getDimSize(static_cast<unsigned>(dim)));
    result.setType(type.clone(shape));
    Value turned = transpose(result, invert(order));
    result.replaceAllUsesExcept(turned, turned.getDefiningOp());
  }

  /// The operand that lists the sizes of a dynamic result.
  void turnSizes(unsigned number) {
    auto indices =
        call->getAttrOfType<DenseIntElementsAttr>("indices_of_shape_operands");
    if (!indices || number >= indices.size())
      return;
    auto index = indices.getValues<APInt>()[number].getZExtValue();
    if (index >= call->getNumOperands())
      return;
    OpOperand &operand = call->getOpOperand(static_cast<unsigned>(index));
    SmallVector<Value> sizes;
    for (int64_t dim : results[number])
      sizes.push_back(rewriter.create<stablehlo::SliceOp>(
          call.getLoc(), operand.get(), dim, dim + 1, int64_t(1)));
    operand.set(rewriter.create<stablehlo::ConcatenateOp>(
        call.getLoc(), operand.get().getType(), sizes, 0));
  }

  stablehlo::CustomCallOp call;
  IRRewriter &rewriter;
  SmallVector<Order> operands, results;
};

struct MaterializeCallLayouts
    : public alula::input::impl::InputMaterializeCallLayoutsBase<
          MaterializeCallLayouts> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](stablehlo::CustomCallOp call) {
      // Its layout is all that this one says.
      if (call.getOperandLayouts() && call.getResultLayouts() &&
          call.getCallTargetName() != "LayoutConstraint")
        LayoutMaterializer(call, rewriter).run();
    });
  }
};
} // namespace
