//===- passes.td - passes of the dispatch room ----------------------------===//

include "mlir/Pass/PassBase.td"

def FormKernels : Pass<"dispatch-form-kernels", "::mlir::ModuleOp"> {
  let summary = "groups ops into kernels and launches them";
  let dependentDialects = ["::alula::dispatch::DispatchDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LimitSorts : Pass<"dispatch-limit-sorts", "::mlir::ModuleOp"> {
  let summary = "says how much of a sort is read";
}

def NumberRandomStreams
    : Pass<"dispatch-number-random-streams", "::mlir::ModuleOp"> {
  let summary = "gives each op that draws random numbers a stream of its own";
}

def OrderTerms : Pass<"dispatch-order-terms", "::mlir::ModuleOp"> {
  let summary = "sums the terms of products in the order of memory";
}

def TurnProducts : Pass<"dispatch-turn-products", "::mlir::ModuleOp"> {
  let summary = "gives products the sides that lie as they are read";
  let dependentDialects = ["::alula::dispatch::DispatchDialect"];
}

def SumProducts : Pass<"dispatch-sum-products", "::mlir::ModuleOp"> {
  let summary = "makes sums of products of vectors";
  let dependentDialects = ["::alula::dispatch::DispatchDialect"];
}

def PackWeights : Pass<"dispatch-pack-weights", "::mlir::ModuleOp"> {
  let summary = "puts constants into the panels that products read";
  let dependentDialects = ["::alula::dispatch::DispatchDialect"];
  let options = [
    Option<"minElements", "min-elements", "int64_t", /*default=*/"4096",
           "of a constant; less is packed faster than it is found">
  ];
}

def RepeatBroadcasts : Pass<"dispatch-repeat-broadcasts", "::mlir::ModuleOp"> {
  let summary = "gives each op that maps elements a broadcast of its own";
}

def SplitConcatenations
    : Pass<"dispatch-split-concatenations", "::mlir::ModuleOp"> {
  let summary = "puts many small pieces together in steps";
}

def ShareKernels : Pass<"dispatch-share-kernels", "::mlir::ModuleOp"> {
  let summary = "makes one of kernels that are equal, or differ in numbers alone";
}

def VerifyDispatchOutput
    : Pass<"dispatch-verify-output", "::mlir::ModuleOp"> {
  let summary = "checks what the next rooms rely on";
}
