// Loops and calls are emitted as for one thread, by the emitters that ask for
// facts of the machine; `kernel-form-launches` shares them among threads.

#include "compiler/target/cuda/kernel/cuda_kernels.h"

#include "compiler/target/cpu/kernel/loops.h"
#include "compiler/target/cpu/kernel/op_table.h"
#include "compiler/target/cpu/kernel/row_nest.h"
#include "compiler/target/cuda/kernel/families.h"
#include "compiler/target/cuda/kernel/memory.h"
#include "compiler/target/cuda/kernel/warp_nest.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::cuda;
using namespace alula::kernel;

namespace {
class CudaKernels final : public TargetKernels {
  std::unique_ptr<Loops> createLoops(Reader &reader) const override {
    return std::make_unique<alula::cpu::CpuLoops>(reader);
  }
  std::unique_ptr<Memory> createMemory(Lowering &lowering) const override {
    return std::make_unique<CudaMemory>(lowering);
  }
  OpEmitters findEmitters(Operation *op) const override {
    if (isa<stablehlo::DotGeneralOp>(op))
      return {emitDotGeneral};
    if (isa<stablehlo::ReduceOp>(op))
      return {emitReduce};
    return alula::cpu::findEmitters(op);
  }
  void emitRowNest(const RowNest &nest, Lowering &lowering) const override {
    if (!alula::cuda::emitRowNest(nest, lowering))
      alula::cpu::emitRowNest(nest, lowering);
  }
  void emitAttention(const alula::dispatch::Attention &attention,
                     Lowering &lowering) const override {
    alula::cuda::emitAttention(attention, lowering);
  }
};
} // namespace

void alula::cuda::registerCudaKernels(DialectRegistry &registry) {
  registerTargetKernels(
      registry, "cuda", +[]() -> std::unique_ptr<TargetKernels> {
        return std::make_unique<CudaKernels>();
      });
}
