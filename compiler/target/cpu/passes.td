//===- passes.td - passes of the cpu target -------------------------------===//

include "mlir/Pass/PassBase.td"

def VerifyMath : Pass<"cpu-verify-math", "::mlir::ModuleOp"> {
  let summary = "checks that math functions are instructions: no libm";
}

def ExpandArithmetic : Pass<"cpu-expand-arithmetic", "::mlir::ModuleOp"> {
  let summary = "rounded divisions and conversions of bf16 by other ops";
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

def ConvertToLlvm : Pass<"cpu-convert-to-llvm", "::mlir::ModuleOp"> {
  let summary = "arithmetic, memory, control flow and functions as LLVM has them";
  let dependentDialects = ["::alula::dispatch::DispatchDialect",
                           "::mlir::LLVM::LLVMDialect"];
  let options = [Option<"indexBits", "index-bits", "unsigned", /*default=*/"64",
                        "bits of an index">];
}

def MaterializeEntries : Pass<"cpu-materialize-entries", "::mlir::ModuleOp"> {
  let summary = "kernels get the calling convention of kernel_abi.h";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}
