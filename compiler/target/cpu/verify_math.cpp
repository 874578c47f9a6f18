// Kernels have no libm: what is left of math must be an instruction, or a short
// inline sequence, on every machine.

#include "compiler/target/cpu/passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"

namespace alula::cpu {
#define GEN_PASS_DEF_VERIFYMATH
#include "compiler/target/cpu/passes.h.inc"
} // namespace alula::cpu

using namespace mlir;

namespace {
bool isInstruction(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::FmaOp,
             math::SqrtOp, math::FloorOp, math::CeilOp, math::RoundEvenOp,
             math::TruncOp, math::CtPopOp, math::CountLeadingZerosOp>(op);
}

struct VerifyMath : public alula::cpu::impl::VerifyMathBase<VerifyMath> {
  void runOnOperation() override {
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
