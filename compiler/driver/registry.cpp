// The one list of dialects and the one list of passes.

#include "compiler/driver/registry.h"

#include "compiler/dispatch/passes.h"
#include "compiler/driver/passes.h"
#include "compiler/input/passes.h"
#include "compiler/kernel/passes.h"
#include "compiler/kernel/plan/passes.h"
#include "compiler/optimize/passes.h"
#include "compiler/partition/passes.h"
#include "compiler/preprocess/test_pass.h"
#include "compiler/schedule/passes.h"
#include "compiler/target/cpu/kernel/cpu_kernels.h"
#include "compiler/target/cpu/machine.h"
#include "compiler/target/cpu/passes.h"
#include "compiler/target/cuda/kernel/cuda_kernels.h"

#include "dialect/chlo/ops.h"
#include "dialect/dispatch/ops.h"
#include "dialect/newer/dialect.h"
#include "dialect/plan/plan.h"
#include "dialect/sdy/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Quant/QuantOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

void alula::driver::registerDialects(mlir::DialectRegistry &registry) {
  // What programs hold.
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::chlo::ChloDialect,
                  mlir::func::FuncDialect,
                  mlir::ml_program::MLProgramDialect, mlir::quant::QuantizationDialect,
                  mlir::sdy::SdyDialect, mlir::shape::ShapeDialect,
                  mlir::sparse_tensor::SparseTensorDialect,
                  mlir::stablehlo::StablehloDialect,
                  mlir::tensor::TensorDialect, newer::NewerDialect>();
  // What stages of the compiler hold.
  registry.insert<dispatch::DispatchDialect, mlir::complex::ComplexDialect,
                  mlir::LLVM::LLVMDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::vector::VectorDialect,
                  plan::PlanDialect>();
  // The machine of programs that don't say for which one they are.
  registry.addExtension(
      +[](mlir::MLIRContext *, dispatch::DispatchDialect *dialect) {
        dialect->setDefaultMachine(cpu::getPortableFacts());
      });
  cpu::registerCpuKernels(registry);
  cuda::registerCudaKernels(registry);
  mlir::func::registerInlinerExtension(registry);
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
}

void alula::driver::registerPasses() {
  cpu::registerCpuPasses();
  dispatch::registerDispatchPasses();
  registerDriverPasses();
  input::registerInputPasses();
  kernel::registerKernelPasses();
  kernel::registerKernelPlanPasses();
  optimize::registerOptimizePasses();
  partition::registerPartitionPasses();
  preprocess::registerTestPass();
  schedule::registerSchedulePasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerInlinerPass();
  mlir::registerStripDebugInfoPass();
  mlir::registerSymbolDCEPass();
}
