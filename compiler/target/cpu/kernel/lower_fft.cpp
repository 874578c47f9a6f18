// Fourier transforms: a call of the kernel library.

#include "compiler/target/cpu/kernel/families.h"
#include "compiler/target/cpu/kernel/library_call.h"

#include "compiler/kernel/library/fft.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

void alula::cpu::emitFft(Operation *op, Lowering &lowering) {
  auto fft = cast<stablehlo::FftOp>(op);
  auto kind = static_cast<int32_t>(fft.getFftType());
  ArrayRef<int64_t> lengths = fft.getFftLength();
  auto rank = static_cast<int64_t>(lengths.size());
  // The functions are named after the real type.
  Type real = getElementType(fft.getOperand());
  if (auto complex = dyn_cast<ComplexType>(real))
    real = complex.getElementType();
  auto type = cast<RankedTensorType>(fft.getType());
  if (llvm::is_contained(lengths, 0) ||
      (type.hasStaticShape() && !type.getNumElements())) {
    // Nothing to transform.
    lowering.createResult(fft.getResult());
    return;
  }

  ImplicitLocOpBuilder &b = lowering.b;
  LibraryCall call(lowering, "fft_planned", real);
  int64_t complexBytes = 2 * call.getElementBytes();
  int64_t planBytes =
      alula_fft_plan_bytes(kind, rank, lengths.data(), complexBytes);
  Value planMemory =
      lowering.createTemporary(lowering.index(planBytes), b.getI8Type());
  Value lengthMemory =
      lowering.createTemporary(lowering.index(rank), b.getI64Type());
  lowering.storeIntegers(lengthMemory, lengths);
  call.addInput(fft.getOperand());
  call.addOutput(cast<OpResult>(fft.getResult()));
  call.addMemory(planMemory);
  call.addFlag(kind);
  call.addSize(lowering.index(rank));
  call.addMemory(lengthMemory);
  call.addBatch(fft.getOperand(), rank);
  call.addScratch(std::max(
      planBytes,
      alula_fft_scratch_bytes(kind, rank, lengths.data(), complexBytes)));
  call.run();
}
