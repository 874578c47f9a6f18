// Reductions.

#include "compiler/kernel/families.h"
#include "compiler/kernel/reduction.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
class ReduceEmitter {
public:
  ReduceEmitter(stablehlo::ReduceOp reduce, Lowering &lowering)
      : reduce(reduce), lowering(lowering),
        reduction(reduce, reduce.getBody().front(), reduce.getInputs(),
                  reduce.getInitValues(), lowering) {
    auto rank = cast<RankedTensorType>(reduce.getInputs()[0].getType()).getRank();
    for (int64_t dim = 0; dim < rank; ++dim)
      (llvm::is_contained(reduce.getDimensions(), dim) ? reduced : kept)
          .push_back(dim);
  }

  void emit();

private:
  SmallVector<Value> getSizes(ArrayRef<int64_t> dims) {
    SmallVector<Value> sizes;
    for (int64_t dim : dims)
      sizes.push_back(lowering.getDim(reduce.getInputs()[0], dim));
    return sizes;
  }
  /// One more element of each input.
  SmallVector<Value> step(ValueRange keptIndices, ValueRange reducedIndices,
                          ValueRange state) {
    SmallVector<Value> indices(kept.size() + reduced.size());
    for (auto [dim, index] : llvm::zip_equal(kept, keptIndices))
      indices[static_cast<size_t>(dim)] = index;
    for (auto [dim, index] : llvm::zip_equal(reduced, reducedIndices))
      indices[static_cast<size_t>(dim)] = index;
    return reduction.append(state, indices);
  }
  SmallVector<Value> reduceAll(ValueRange keptIndices) {
    SmallVector<Value> state = lowering.fold(
        getSizes(reduced), reduction.getInitial(),
        [&](ValueRange reducedIndices, ValueRange carried) {
          return step(keptIndices, reducedIndices, carried);
        });
    return reduction.finish(state);
  }

  void emitInRegisters();
  void emitInMemory();

  stablehlo::ReduceOp reduce;
  Lowering &lowering;
  Reduction reduction;
  SmallVector<int64_t> kept, reduced;
};

// The innermost loop reduces: its state stays in registers.
void ReduceEmitter::emitInRegisters() {
  SmallVector<Value> buffers;
  for (Value result : reduce.getResults())
    buffers.push_back(lowering.createResult(result));
  lowering.forEach(getSizes(kept), [&](ValueRange keptIndices) {
    for (auto [result, buffer, value] : llvm::zip_equal(
             reduce.getResults(), buffers, reduceAll(keptIndices)))
      lowering.store(value, getElementType(result), buffer, keptIndices);
  });
}

// The innermost loop goes over neighbours that are kept; state is in memory.
void ReduceEmitter::emitInMemory() {
  // Kept dimensions before the first reduced one are an outer loop.
  size_t numOuter = 0;
  while (numOuter < kept.size() && kept[numOuter] < reduced.front())
    ++numOuter;
  ArrayRef<int64_t> outer = ArrayRef(kept).take_front(numOuter);
  ArrayRef<int64_t> inner = ArrayRef(kept).drop_front(numOuter);
  SmallVector<Value> initial = reduction.getInitial();
  reduction.createStates();
  lowering.forEach(getSizes(outer), [&](ValueRange outerIndices) {
    auto join = [&](ValueRange innerIndices) {
      SmallVector<Value> all(outerIndices);
      llvm::append_range(all, innerIndices);
      return all;
    };
    lowering.forEach(getSizes(inner), [&](ValueRange innerIndices) {
      reduction.store(initial, join(innerIndices));
    });
    lowering.fold(
        getSizes(reduced), {},
        [&](ValueRange reducedIndices, ValueRange) -> SmallVector<Value> {
          lowering.forEach(getSizes(inner), [&](ValueRange innerIndices) {
            SmallVector<Value> indices = join(innerIndices);
            reduction.store(
                step(indices, reducedIndices, reduction.load(indices)),
                indices);
          });
          return {};
        });
  });
  reduction.finishStates();
}

void ReduceEmitter::emit() {
  if (kept.empty()) {
    SmallVector<Value> results = reduceAll({});
    for (auto [result, value] : llvm::zip_equal(reduce.getResults(), results))
      lowering.setScalar(result, value);
    return;
  }
  if (reduced.empty() || reduced.back() > kept.back())
    return emitInRegisters();
  emitInMemory();
}
} // namespace

void alula::kernel::emitReduce(Operation *op, Lowering &lowering) {
  ReduceEmitter(cast<stablehlo::ReduceOp>(op), lowering).emit();
}
