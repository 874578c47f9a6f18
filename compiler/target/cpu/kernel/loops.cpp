// Loops without an order are scf.parallel, which `kernel-distribute` shares
// among workgroups; the others are scf.for.

#include "compiler/target/cpu/kernel/loops.h"

#include "compiler/kernel/sequential_loop.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

void CpuLoops::forEach(ValueRange sizes, Body body) {
  SmallVector<Value> lower, upper, step, indices;
  for (Value size : sizes)
    if (getConstantIntValue(size) != 1) {
      lower.push_back(reader.index(0));
      upper.push_back(size);
      step.push_back(reader.index(1));
    }
  OpBuilder::InsertionGuard guard(reader.b);
  SmallVector<Value> variables;
  if (!upper.empty()) {
    auto loop = reader.b.create<scf::ParallelOp>(lower, upper, step);
    reader.b.setInsertionPoint(loop.getBody()->getTerminator());
    variables = loop.getInductionVars();
  }
  const Value *variable = variables.begin();
  for (Value size : sizes)
    indices.push_back(getConstantIntValue(size) != 1 ? *variable++
                                                     : reader.index(0));
  Reader::Scope scope(reader);
  body(indices);
}

void CpuLoops::forEachBlock(Value count, int64_t steps,
                            llvm::function_ref<void(Value number)> body) {
  if (getConstantIntValue(count) == 1)
    return forEach({}, [&](ValueRange) { body(reader.index(0)); });
  forEach(count, [&](ValueRange number) {
    Operation *loop = reader.b.getInsertionBlock()->getParentOp();
    loop->setAttr("kernel.block_steps", reader.b.getI64IntegerAttr(steps));
    body(number.front());
  });
}

SmallVector<Value> CpuLoops::foldRange(Value lower, Value upper,
                                       ValueRange initial, Fold body) {
  return createSequentialLoop(reader, lower, upper, initial, body);
}

SmallVector<Value> CpuLoops::fold(ValueRange sizes, ValueRange initial,
                                  Fold body) {
  SmallVector<Value> indices;
  std::function<SmallVector<Value>(ValueRange)> nest =
      [&](ValueRange carried) -> SmallVector<Value> {
    size_t depth = indices.size();
    if (depth == sizes.size())
      return body(indices, carried);
    if (getConstantIntValue(sizes[depth]) == 1) {
      indices.push_back(reader.index(0));
      SmallVector<Value> next = nest(carried);
      indices.pop_back();
      return next;
    }
    return foldRange(reader.index(0), sizes[depth], carried,
                     [&](ValueRange position, ValueRange inner) {
                       indices.push_back(position.front());
                       SmallVector<Value> next = nest(inner);
                       indices.pop_back();
                       return next;
                     });
  };
  return nest(initial);
}
