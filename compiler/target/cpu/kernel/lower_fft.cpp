// Fourier transforms: calls of the kernel library, with a plan that is made
// here and goes into the kernel as a constant. Each step is a loop over blocks,
// which workgroups share; of many arrays each is a block.

#include "compiler/target/cpu/kernel/families.h"

#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/library/fft.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemAlloc.h"

#include <sys/mman.h>

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
/// What is more is made in each call.
constexpr int64_t mostPlanBytes = 64 << 20;
/// From here on a plan is a constant of the host's program.
constexpr int64_t leastHoistedBytes = 64 << 10;

/// Memory that is written at once. Until the system has made small pages of
/// tens of megabytes, they could be filled several times.
void *allocatePages(int64_t wanted) {
  constexpr size_t page = size_t(2) << 20;
  auto bytes = static_cast<size_t>(std::max<int64_t>(wanted, 1));
  if (bytes < 2 * page)
    return llvm::safe_calloc(bytes, 1);
  bytes = llvm::alignTo(bytes, page);
  void *memory = std::aligned_alloc(page, bytes);
  if (!memory)
    llvm::report_bad_alloc_error("a plan of a Fourier transform");
#ifdef MADV_HUGEPAGE
  madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

class FftEmitter {
public:
  FftEmitter(stablehlo::FftOp fft, Type real, Lowering &lowering)
      : fft(fft), lowering(lowering), b(lowering.b),
        kind(static_cast<int32_t>(fft.getFftType())),
        lengths(fft.getFftLength()), rank(static_cast<int64_t>(lengths.size())),
        complexBytes(real.getIntOrFloatBitWidth() / 4),
        type(getLibraryName(real)) {}

  void emit() {
    input = lowering.getBuffer(fft.getOperand());
    output = lowering.createResult(fft.getResult());
    SmallVector<Value> sizes = lowering.getShape(fft.getOperand());
    batch = lowering.product(
        ValueRange(sizes).drop_back(static_cast<size_t>(rank)));
    bool isShared = isa<func::FuncOp>(b.getInsertionBlock()->getParentOp());
    auto known = getConstantIntValue(batch);
    plan(known.value_or(0));
    if (rank > 1 || numSteps > 1) {
      int64_t cost = getCost();
      if (!known || *known >= ALULA_FFT_MANY || !isShared ||
          cost < 2 * lowering.machine.workgroupSteps) {
        plan(1);
        return forEachArray();
      }
    }
    if (planBytes > mostPlanBytes)
      return makeInCall();
    Value shared = createMemory(sharedBytes);
    for (int64_t step = 0; step < numSteps; ++step) {
      int64_t count = countBlocks(arrays, step);
      Value blocks = lowering.index(count);
      if (!known)
        blocks = divideUp(batch, countLinesOfBlock());
      forEachBlock(blocks, getCost() / (numSteps * std::max<int64_t>(count, 1)),
                   numSteps > 1 ? step : -1, [&](Value block) {
                     call(batch, makeConstant(step), block, shared);
                   });
    }
  }

private:
  void plan(int64_t count) {
    arrays = count;
    const int64_t *sizes = lengths.data();
    planBytes = alula_fft_plan_bytes(kind, rank, sizes, count, complexBytes);
    scratchBytes =
        alula_fft_scratch_bytes(kind, rank, sizes, count, complexBytes);
    sharedBytes =
        alula_fft_shared_bytes(kind, rank, sizes, count, complexBytes);
    numSteps = alula_fft_steps(kind, rank, sizes, count, complexBytes);
  }

  int64_t countBlocks(int64_t count, int64_t step) const {
    return alula_fft_blocks(kind, rank, lengths.data(), count, complexBytes,
                            step);
  }
  bool isSplit() const {
    return alula_fft_last_of(kind, rank, lengths.data(), arrays, complexBytes)
        .is_split;
  }
  int64_t countLinesOfBlock() const {
    int64_t lines = isSplit() ? 1 : ALULA_FFT_NUMBERS / complexBytes;
    return alula_fft_together(kind, lengths.back()) * lines;
  }
  int64_t getCost() const {
    return alula_fft_cost(kind, rank, lengths.data(),
                          std::max<int64_t>(arrays, 1), complexBytes);
  }

  Value divideUp(Value count, int64_t divisor) {
    return lowering.div(lowering.add(count, lowering.index(divisor - 1)),
                        lowering.index(divisor));
  }
  Value makeConstant(int64_t value) {
    return b.create<arith::ConstantIntOp>(value, b.getI64Type());
  }
  Value toInteger(Value value) {
    return b.create<arith::IndexCastOp>(b.getI64Type(), value);
  }
  Value createMemory(int64_t bytes) {
    return lowering.createTemporary(
        lowering.index(std::max<int64_t>(bytes, 64)), b.getI8Type());
  }

  void forEachBlock(Value count, int64_t cost, int64_t step,
                    llvm::function_ref<void(Value block)> body) {
    // One thread for all: what each needs of memory would be needed often.
    if (lowering.machine.blockThreads > 1) {
      lowering.fold({count}, {},
                    [&](ValueRange block, ValueRange) -> SmallVector<Value> {
                      body(block.front());
                      return {};
                    });
      return;
    }
    lowering.forEachBlock(count, std::max<int64_t>(cost, 1), [&](Value block) {
      Operation *loop = b.getInsertionBlock()->getParentOp();
      if (step >= 0 && !isa<func::FuncOp>(loop))
        loop->setAttr("kernel.step", b.getI64IntegerAttr(step));
      body(block);
    });
  }

  /// All steps of one array after the other.
  void forEachArray() {
    if (planBytes > mostPlanBytes)
      return makeInCall();
    forEachBlock(batch, getCost(), -1, [&](Value array) {
      call(lowering.index(1), makeConstant(ALULA_FFT_ALL_STEPS), array,
           createMemory(sharedBytes));
    });
  }

  void call(Value count, Value step, Value block, Value shared) {
    Value scratch = createMemory(scratchBytes);
    lowering.callLibrary("alula_fft_" + type,
                         {lowering.getPointer(input),
                          lowering.getPointer(output),
                          lowering.getPointer(getPlan()), toInteger(count),
                          step, toInteger(block), lowering.getPointer(shared),
                          lowering.getPointer(scratch)});
  }

  /// The kernel's constant with the plan; transforms of one kind share it.
  Value getPlan() {
    auto memory = MemRefType::get({planBytes}, b.getI8Type());
    std::string name =
        "fft_plan_" + std::to_string(kind) + "_" + std::to_string(complexBytes);
    for (int64_t length : lengths)
      name += "_" + std::to_string(length);
    name += "_of_" + std::to_string(arrays);
    return lowering.createData(memory, name, [&] { return makePlan(name); });
  }

  /// A small plan is data of the code; a large one is held once, and hoisted.
  ElementsAttr makePlan(StringRef name) {
    // The function fills both.
    auto *plan = static_cast<int64_t *>(allocatePages(planBytes));
    void *scratch = allocatePages(
        alula_fft_plan_scratch_bytes(kind, rank, lengths.data(), complexBytes));
    auto make = complexBytes == 8 ? alula_fft_plan_f32 : alula_fft_plan_f64;
    make(plan, kind, rank, lengths.data(), arrays, scratch);
    std::free(scratch);
    auto type = RankedTensorType::get({planBytes}, b.getI8Type());
    AsmResourceBlob blob(
        ArrayRef(reinterpret_cast<const char *>(plan),
                 static_cast<size_t>(planBytes)),
        alignof(int64_t), [plan](void *, size_t, size_t) { std::free(plan); },
        /*dataIsMutable=*/false);
    if (planBytes < leastHoistedBytes)
      return DenseElementsAttr::getFromRawBuffer(type, blob.getData());
    return DenseResourceElementsAttr::get(type, name, std::move(blob));
  }

  void makeInCall() {
    plan(1);
    int64_t bytes = std::max(
        scratchBytes,
        alula_fft_plan_scratch_bytes(kind, rank, lengths.data(), complexBytes));
    lowering.callLibrary(
        "alula_fft_planned_" + type,
        {lowering.getPointer(input), lowering.getPointer(output),
         lowering.getPointer(createMemory(planBytes)),
         b.create<arith::ConstantIntOp>(kind, b.getI32Type()),
         makeConstant(rank), lowering.getPointer(lowering.createTable(lengths)),
         toInteger(batch), lowering.getPointer(createMemory(sharedBytes)),
         lowering.getPointer(createMemory(bytes))});
  }

  stablehlo::FftOp fft;
  Lowering &lowering;
  ImplicitLocOpBuilder &b;
  int32_t kind;
  ArrayRef<int64_t> lengths;
  int64_t rank, complexBytes;
  std::string type;
  Value input, output, batch;
  /// That the plan is for; 0 is unknown.
  int64_t arrays = 0;
  int64_t planBytes = 0, scratchBytes = 0, sharedBytes = 0, numSteps = 0;
};
} // namespace

void alula::cpu::emitFft(Operation *op, Lowering &lowering) {
  auto fft = cast<stablehlo::FftOp>(op);
  // The functions are named after the real type.
  Type real = getElementType(fft.getOperand());
  if (auto complex = dyn_cast<ComplexType>(real))
    real = complex.getElementType();
  auto type = cast<RankedTensorType>(fft.getType());
  if (llvm::is_contained(fft.getFftLength(), 0) ||
      (type.hasStaticShape() && !type.getNumElements())) {
    // Nothing to transform.
    lowering.createResult(fft.getResult());
    return;
  }
  FftEmitter(fft, real, lowering).emit();
}
