// Fourier transforms: a call of the kernel library, with a plan that is made
// here and goes into the kernel as a constant.

#include "compiler/target/cpu/kernel/families.h"
#include "compiler/target/cpu/kernel/library_call.h"

#include "compiler/kernel/library/fft.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
/// What is more is made in each call: a kernel is there once for each machine.
constexpr int64_t mostPlanBytes = 20 << 20;

/// The kernel's constant with the plan; transforms of one kind share it.
Value makePlan(stablehlo::FftOp fft, int32_t kind, int64_t bytes,
               int64_t complexBytes, Lowering &lowering) {
  ArrayRef<int64_t> lengths = fft.getFftLength();
  auto rank = static_cast<int64_t>(lengths.size());
  ImplicitLocOpBuilder &b = lowering.b;
  auto type = MemRefType::get({bytes}, b.getI8Type());
  std::string name =
      "fft_plan_" + std::to_string(kind) + "_" + std::to_string(complexBytes);
  for (int64_t length : lengths)
    name += "_" + std::to_string(length);
  auto module = fft->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    // Words of 64 bits, as the functions want them.
    std::vector<int64_t> plan(static_cast<size_t>(bytes) / 8);
    std::vector<int64_t> scratch(plan.size());
    auto make = complexBytes == 8 ? alula_fft_plan_f32 : alula_fft_plan_f64;
    make(plan.data(), kind, rank, lengths.data(), scratch.data());
    auto data = DenseElementsAttr::getFromRawBuffer(
        RankedTensorType::get({bytes}, b.getI8Type()),
        ArrayRef(reinterpret_cast<const char *>(plan.data()),
                 static_cast<size_t>(bytes)));
    OpBuilder::atBlockBegin(module.getBody())
        .create<memref::GlobalOp>(fft.getLoc(), name,
                                  b.getStringAttr("private"), type, data,
                                  /*constant=*/true, b.getI64IntegerAttr(64));
  }
  return b.create<memref::GetGlobalOp>(type, name);
}
} // namespace

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

  LibraryCall names(lowering, "fft", real);
  int64_t complexBytes = 2 * names.getElementBytes();
  int64_t planBytes =
      alula_fft_plan_bytes(kind, rank, lengths.data(), complexBytes);
  int64_t scratchBytes =
      alula_fft_scratch_bytes(kind, rank, lengths.data(), complexBytes);
  bool isPlanned = planBytes <= mostPlanBytes;
  LibraryCall call(lowering, isPlanned ? "fft" : "fft_planned", real);
  call.addInput(fft.getOperand());
  call.addOutput(cast<OpResult>(fft.getResult()));
  if (isPlanned) {
    call.addMemory(makePlan(fft, kind, planBytes, complexBytes, lowering));
  } else {
    ImplicitLocOpBuilder &b = lowering.b;
    Value lengthMemory =
        lowering.createTemporary(lowering.index(rank), b.getI64Type());
    lowering.storeIntegers(lengthMemory, lengths);
    call.addMemory(
        lowering.createTemporary(lowering.index(planBytes), b.getI8Type()));
    call.addFlag(kind);
    call.addSize(lowering.index(rank));
    call.addMemory(lengthMemory);
    scratchBytes = std::max(scratchBytes, planBytes);
  }
  call.addBatch(fft.getOperand(), rank);
  call.addScratch(scratchBytes);
  call.run();
}
