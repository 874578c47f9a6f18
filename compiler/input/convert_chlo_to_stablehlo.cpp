// Says chlo ops in stablehlo, but for functions that keep their name: named ones
// always, special ones if an option says so. ragged_dot may become a call.
//
//   chlo.f %x        →  stablehlo ops that compute f(%x)
//   chlo.ragged_dot  →  custom_call @alula.ragged_rows_product, by an option
//
// Relies on verified ops. The order is inside out, so that the body of a scan
// is stablehlo when the scan becomes a loop.

#include "compiler/input/convert_chlo.h"

#include "dialect/chlo/functions.h"
#include "dialect/chlo/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DECL_INPUTCONVERTCHLOTOSTABLEHLO
#define GEN_PASS_DEF_INPUTCONVERTCHLOTOSTABLEHLO
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;
using namespace alula::input;

#define DEBUG_TYPE "input-convert-chlo-to-stablehlo"

namespace {
struct ConvertChloToStablehlo
    : alula::input::impl::InputConvertChloToStablehloBase<
          ConvertChloToStablehlo> {
  using InputConvertChloToStablehloBase::InputConvertChloToStablehloBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    // Made of constants alone: what is computed from them is folded, formula
    // and all.
    DenseSet<Operation *> constants;
    getOperation()->walk([&](Operation *op) {
      if (isMadeOf(constants, op))
        constants.insert(op);
      if (isa_and_nonnull<chlo::ChloDialect>(op->getDialect()) &&
          !chlo::isNamedFunction(op) &&
          !(keepFunctions && mayStay(op) && !constants.contains(op)))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    bool mayCall = raggedCalls && !isSplit();
    for (Operation *op : ops)
      if (!(mayCall && convertRaggedDotToCall(op, rewriter)) &&
          failed(convert(op, rewriter)))
        signalPassFailure();
  }

  /// Whether devices share the program: each can have some of the groups, which
  /// is said by ops only.
  bool isSplit() {
    auto count = getOperation()->getAttrOfType<IntegerAttr>(
        "mhlo.num_partitions");
    return count && count.getInt() > 1;
  }

  static bool isMadeOf(const DenseSet<Operation *> &ops, Operation *op) {
    return op->getNumResults() && !op->getNumRegions() &&
           isMemoryEffectFree(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return ops.contains(operand.getDefiningOp());
           });
  }

  static bool mayStay(Operation *op) {
    return chlo::isSpecialFunction(op) &&
           cast<ShapedType>(op->getResult(0).getType()).hasStaticShape();
  }

  static LogicalResult convert(Operation *op, IRRewriter &rewriter) {
    for (auto family :
         {convertChloElementwise, convertChloBroadcast, convertChloCompound}) {
      rewriter.setInsertionPoint(op);
      if (Outcome outcome = family(op, rewriter))
        return *outcome;
    }
    // The verifier admits no unknown op of the dialect.
    llvm_unreachable("an op that no family converts");
  }
};
} // namespace
