//===- passes.td - passes of the cpu target -------------------------------===//

include "mlir/Pass/PassBase.td"

def VerifyMath : Pass<"cpu-verify-math", "::mlir::ModuleOp"> {
  let summary = "checks that math functions are instructions: no libm";
}

def MaterializeEntries : Pass<"cpu-materialize-entries", "::mlir::ModuleOp"> {
  let summary = "kernels get the calling convention of kernel_abi.h";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}
