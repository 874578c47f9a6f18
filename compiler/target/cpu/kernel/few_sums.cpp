// Sums of neighbours share what they read of one operand, and need nobody to
// store them between.

#include "compiler/target/cpu/kernel/few_sums.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

bool alula::cpu::keepsSumsInRegisters(const Lowering &lowering) {
  return lowering.machine.vectorRegisters == 0 &&
         lowering.machine.blockThreads == 1;
}

void alula::cpu::forEachFew(Lowering &lowering, Value size,
                            function_ref<void(ArrayRef<Value>)> body) {
  constexpr int64_t few = 4;
  auto known = getConstantIntValue(size);
  if (!known || *known < 2)
    return lowering.forEach(
        size, [&](ValueRange index) { body(llvm::to_vector(index)); });
  auto take = [&](Value first, int64_t count) {
    SmallVector<Value> indices;
    for (int64_t i = 0; i < count; ++i)
      indices.push_back(lowering.add(first, lowering.index(i)));
    body(indices);
  };
  int64_t whole = *known / few, rest = *known % few;
  if (whole)
    lowering.forEach(lowering.index(whole), [&](ValueRange index) {
      take(lowering.mul(index.front(), lowering.index(few)), few);
    });
  if (rest)
    lowering.forEach(lowering.index(1), [&](ValueRange) {
      take(lowering.index(whole * few), rest);
    });
}
