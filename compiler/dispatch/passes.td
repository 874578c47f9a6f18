//===- passes.td - passes of the dispatch room ----------------------------===//

include "mlir/Pass/PassBase.td"

def FormKernels : Pass<"dispatch-form-kernels", "::mlir::ModuleOp"> {
  let summary = "groups ops into kernels and launches them";
  let dependentDialects = ["::alula::dispatch::DispatchDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumberRandomStreams
    : Pass<"dispatch-number-random-streams", "::mlir::ModuleOp"> {
  let summary = "gives each op that draws random numbers a stream of its own";
}

def VerifyDispatchOutput
    : Pass<"dispatch-verify-output", "::mlir::ModuleOp"> {
  let summary = "checks what the next rooms rely on";
}
