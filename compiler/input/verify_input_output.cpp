// Checks what this room promises: stablehlo of today's specification and the
// functions of chlo that keep their name, static, without tuples and composites
// that nothing kept; without quantized types if an option says so.

#include "compiler/input/lower_quantized.h"

#include "dialect/chlo/functions.h"
#include "dialect/chlo/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DECL_INPUTVERIFYINPUTOUTPUT
#define GEN_PASS_DEF_INPUTVERIFYINPUTOUTPUT
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;
using namespace alula::input;

#define DEBUG_TYPE "input-verify-input-output"

namespace {
/// What is wrong with a type, empty if nothing is.
StringRef getProblem(Type type, bool plainTypes, bool dynamicShapes) {
  if (isa<TupleType>(type))
    return "tuples must be taken apart";
  auto shaped = dyn_cast<ShapedType>(type);
  if (plainTypes && shaped && getStorageType(shaped.getElementType()))
    return "quantized types must be lowered";
  if (shaped && !shaped.hasRank())
    return "shapes must have a rank";
  if (shaped && !shaped.hasStaticShape() && !dynamicShapes)
    return "shapes must be static";
  return "";
}

struct VerifyInputOutput
    : alula::input::impl::InputVerifyInputOutputBase<VerifyInputOutput> {
  using InputVerifyInputOutputBase::InputVerifyInputOutputBase;

  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (failed(verifyOp(op)))
        signalPassFailure();
    });
  }

  LogicalResult verifyOp(Operation *op) {
    if (isa_and_nonnull<chlo::ChloDialect>(op->getDialect()) &&
        !chlo::isTensorOp(op))
      return stablehlo::opError(op) << "chlo ops must be converted: has one";
    if (isa<stablehlo::BroadcastOp, stablehlo::CreateTokenOp,
            stablehlo::CrossReplicaSumOp, stablehlo::DotOp, stablehlo::EinsumOp,
            stablehlo::UnaryEinsumOp, stablehlo::TorchIndexSelectOp>(op) ||
        (isa<stablehlo::RealDynamicSliceOp>(op) && !dynamicShapes))
      return stablehlo::opError(op)
             << "deprecated ops must be lowered: has one";
    if (auto composite = dyn_cast<stablehlo::CompositeOp>(op);
        composite && !llvm::is_contained(keptNames, composite.getName()))
      return stablehlo::opError(op)
             << "composites must be lowered: " << composite.getName()
             << " is not";
    SmallVector<Type> types(op->getResultTypes());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(types, block.getArgumentTypes());
    for (Type type : types)
      if (StringRef problem = getProblem(type, plainTypes, dynamicShapes);
          !problem.empty())
        return stablehlo::opError(op) << problem << ": has " << type;
    return success();
  }
};
} // namespace
