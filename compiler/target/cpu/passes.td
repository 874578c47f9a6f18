//===- passes.td - passes of the cpu target -------------------------------===//

include "mlir/Pass/PassBase.td"

def ExpandMath : Pass<"cpu-expand-math", "::mlir::ModuleOp"> {
  let summary = "math functions become arithmetic: kernels have no libm";
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"];
}

def MaterializeEntries : Pass<"cpu-materialize-entries", "::mlir::ModuleOp"> {
  let summary = "kernels get the calling convention of kernel_abi.h";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}
