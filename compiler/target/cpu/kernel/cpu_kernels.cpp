#include "compiler/target/cpu/kernel/cpu_kernels.h"

#include "compiler/target/cpu/kernel/families.h"
#include "compiler/target/cpu/kernel/loops.h"
#include "compiler/target/cpu/kernel/memory.h"
#include "compiler/target/cpu/kernel/op_table.h"
#include "compiler/target/cpu/kernel/row_nest.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
class CpuKernels final : public TargetKernels {
  std::unique_ptr<Loops> createLoops(Reader &reader) const override {
    return std::make_unique<CpuLoops>(reader);
  }
  std::unique_ptr<Memory> createMemory(Lowering &lowering) const override {
    return std::make_unique<CpuMemory>(lowering);
  }
  OpEmitters findEmitters(Operation *op) const override {
    return alula::cpu::findEmitters(op);
  }
  void emitRowNest(const RowNest &nest, Lowering &lowering) const override {
    alula::cpu::emitRowNest(nest, lowering);
  }
  void emitAttention(const alula::dispatch::Attention &attention,
                     Lowering &lowering) const override {
    alula::cpu::emitAttention(attention, lowering);
  }
};
} // namespace

void alula::cpu::registerCpuKernels(DialectRegistry &registry) {
  registerTargetKernels(
      registry, "cpu", +[]() -> std::unique_ptr<TargetKernels> {
        return std::make_unique<CpuKernels>();
      });
}
