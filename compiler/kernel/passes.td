//===- passes.td - passes of the kernel room ------------------------------===//

include "mlir/Pass/PassBase.td"

class KernelPass<string name> : Pass<name, "::alula::dispatch::ExecutableOp">;

def Bufferize : KernelPass<"kernel-bufferize"> {
  let summary = "kernels read and write the buffers of their bindings";
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def AssignScratch : KernelPass<"kernel-assign-scratch"> {
  let summary = "temporaries live in the scratch of the call";
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect"];
}
