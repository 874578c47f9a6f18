// Turns math functions into arithmetic, as kernels link with no libm.
//   math.tanh %x : f32  →  a rational polynomial
// A function without an expansion for its type is an error at its op.

#include "compiler/target/cpu/passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace alula::cpu {
#define GEN_PASS_DEF_EXPANDMATH
#include "compiler/target/cpu/passes.h.inc"
} // namespace alula::cpu

using namespace mlir;

namespace {
/// Each machine has an instruction or a short inline sequence for these.
bool isInstruction(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::FmaOp,
             math::SqrtOp, math::FloorOp, math::CeilOp, math::RoundEvenOp,
             math::TruncOp, math::CtPopOp, math::CountLeadingZerosOp>(op);
}

struct ExpandMath : public alula::cpu::impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns);
    if (failed(applyPatternsAndFoldGreedily(getOperation(),
                                            std::move(patterns))))
      return signalPassFailure();
    WalkResult result = getOperation().walk([](Operation *op) {
      if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
          isInstruction(op))
        return WalkResult::advance();
      op->emitError() << "'" << op->getName().getStringRef()
                      << "': no native code: for elements of type "
                      << op->getResult(0).getType();
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
