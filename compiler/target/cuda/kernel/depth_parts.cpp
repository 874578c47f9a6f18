#include "compiler/target/cuda/kernel/depth_parts.h"

#include "compiler/target/cuda/kernel/warps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace alula::cuda;
using alula::kernel::Lowering;

bool DepthParts::mayBeUsed(Lowering &lowering) {
  return isa<func::FuncOp>(lowering.b.getInsertionBlock()->getParentOp());
}

void DepthParts::create(int64_t parts, ValueRange places, Type ofSums) {
  if (parts < 2)
    return;
  type = ofSums;
  sizes.push_back(lowering.index(parts));
  llvm::append_range(sizes, places);
  sums = lowering.createTemporary(sizes, type);
}

void DepthParts::store(Value sum, Value part, ValueRange place) {
  SmallVector<Value> at{part};
  llvm::append_range(at, place);
  lowering.store(sum, type, sums, at);
}

void DepthParts::addUp(
    llvm::function_ref<void(Value sum, ValueRange place)> storeSum) {
  lowering.forEach(ArrayRef(sizes).drop_front(), [&](ValueRange place) {
    auto load = [&](Value part) {
      SmallVector<Value> at{part};
      llvm::append_range(at, place);
      return lowering.load(sums, at, type);
    };
    Value sum = lowering.foldRange(
        lowering.index(1), sizes.front(), load(lowering.index(0)),
        [&](ValueRange part, ValueRange carried) {
          return SmallVector<Value>{
              addNumbers(lowering, carried.front(), load(part.front()))};
        })[0];
    storeSum(sum, place);
  });
}
