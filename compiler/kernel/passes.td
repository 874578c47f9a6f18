//===- passes.td - passes of the kernel room ------------------------------===//

include "mlir/Pass/PassBase.td"

class KernelPass<string name> : Pass<name, "::alula::dispatch::ExecutableOp">;

def ConvertStablehloToLoops : KernelPass<"kernel-convert-stablehlo-to-loops"> {
  let summary = "kernel bodies from StableHLO on tensors to loops over buffers";
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::chlo::ChloDialect",
    "::mlir::complex::ComplexDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::alula::plan::PlanDialect"];
}

def Canonicalize : Pass<"kernel-canonicalize"> {
  let summary = "MLIR's canonicalization, whose patterns a context keeps";
  let dependentDialects = ["::alula::dispatch::DispatchDialect"];
}

def HoistConstants : Pass<"kernel-hoist-constants", "::mlir::ModuleOp"> {
  let summary = "large data of kernels is a constant that launches read";
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::stablehlo::StablehloDialect"];
}

def FormLaunches : Pass<"kernel-form-launches", "::mlir::ModuleOp"> {
  let summary = "launches of a kernel on machines whose workgroups have threads";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def SplitSteps : Pass<"kernel-split-steps", "::mlir::ModuleOp"> {
  let summary = "loops that wait for each other are launches of their own";
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def Distribute : Pass<"kernel-distribute", "::mlir::ModuleOp"> {
  let summary = "large loops are shared by the workgroups of a launch";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::alula::plan::PlanDialect"];
}

def PlaceTemporaries
    : Pass<"kernel-place-temporaries", "::mlir::ModuleOp"> {
  let summary = "temporaries of unknown size are results of their launch";
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect"];
}

def VerifyKernelOutput : KernelPass<"kernel-verify-output"> {
  let summary = "checks what targets rely on";
}

def AssignScratch : KernelPass<"kernel-assign-scratch"> {
  let summary = "temporaries live in the scratch of the call";
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect"];
}
