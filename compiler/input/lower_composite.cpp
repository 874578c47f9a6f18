// Turns composites into calls of the functions that say what they mean.
//
//   composite "name" %x {decomposition = @f}  →  call @f(%x)
//
// A later stage may know some names better than their decompositions; those
// that the option keeps stay.

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DECL_INPUTLOWERCOMPOSITE
#define GEN_PASS_DEF_INPUTLOWERCOMPOSITE
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;

#define DEBUG_TYPE "input-lower-composite"

namespace {
LogicalResult lowerComposite(stablehlo::CompositeOp op, SymbolTable &symbols,
                             IRRewriter &rewriter) {
  auto callee = symbols.lookup<func::FuncOp>(op.getDecomposition());
  if (!callee)
    return stablehlo::opError(op)
           << "decomposition must be a function of the module: "
           << op.getDecomposition() << " is none";
  auto type = FunctionType::get(op.getContext(), op->getOperandTypes(),
                                op->getResultTypes());
  if (callee.getFunctionType() != type)
    return stablehlo::opError(op)
           << "decomposition must have the composite's type: "
           << callee.getFunctionType() << " and " << type;
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<func::CallOp>(op, callee, op->getOperands());
  return success();
}

struct LowerComposite
    : alula::input::impl::InputLowerCompositeBase<LowerComposite> {
  using InputLowerCompositeBase::InputLowerCompositeBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](stablehlo::CompositeOp op) {
      if (!llvm::is_contained(keptNames, op.getName()) &&
          failed(lowerComposite(op, symbols, rewriter)))
        signalPassFailure();
    });
  }
};
} // namespace
