// Reductions.

#include "compiler/kernel/library/sums.h"
#include "compiler/kernel/plan/forms.h"
#include "compiler/kernel/plan/plan.h"
#include "compiler/kernel/reduction.h"
#include "compiler/target/cpu/kernel/families.h"
#include "compiler/target/cpu/kernel/narrow_matrix.h"
#include "compiler/target/cpu/kernel/reduce_columns.h"
#include "compiler/target/cpu/kernel/sum_call.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
class ReduceEmitter {
public:
  ReduceEmitter(stablehlo::ReduceOp reduce, Lowering &lowering)
      : reduce(reduce), lowering(lowering),
        reduction(reduce, reduce.getBody().front(), reduce.getInputs(),
                  reduce.getInitValues(), lowering) {
    auto rank =
        cast<RankedTensorType>(reduce.getInputs()[0].getType()).getRank();
    for (int64_t dim = 0; dim < rank; ++dim)
      (llvm::is_contained(reduce.getDimensions(), dim) ? reduced : kept)
          .push_back(dim);
    // Scalars have none.
    if (alula::plan::StageAttr stage = getStage(reduce)) {
      partCount = stage.getParts();
      if (!stage.getTile().empty())
        rowsTogether = stage.getTile().front();
      if (stage.getTerms())
        maxTerms = stage.getTerms();
      mayCall = stage.getTerms() >= ALULA_SUM_TERMS;
    }
  }

  void emit();

private:
  SmallVector<Value> getSizes(ArrayRef<int64_t> dims) {
    SmallVector<Value> sizes;
    for (int64_t dim : dims)
      sizes.push_back(lowering.getDim(reduce.getInputs()[0], dim));
    return sizes;
  }
  std::optional<int64_t> countTerms(ArrayRef<int64_t> dims) {
    return getConstantIntValue(lowering.product(getSizes(dims)));
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
    SmallVector<Value> sizes = getSizes(reduced), at;
    if (reduction.getFloatSum())
      return reduction.finish(
          sum(keptIndices, sizes, at, reduction.getInitial()[0]));
    if (partCount)
      return reduceInParts(keptIndices);
    SmallVector<Value> state =
        lowering.fold(sizes, reduction.getInitial(),
                      [&](ValueRange reducedIndices, ValueRange carried) {
                        return step(keptIndices, reducedIndices, carried);
                      });
    return reduction.finish(state);
  }

  SmallVector<Value> reduceInParts(ValueRange keptIndices) {
    return reduction.foldInParts(
        partCount, *countTerms(reduced), [&](Value place) {
          SmallVector<Value> indices(keptIndices);
          indices.insert(indices.begin() + reduced[0], place);
          return indices;
        });
  }

  /// `initial` and all elements at `at`, the first reduced indices. No sum has
  /// so many terms that their errors add up: sums of parts are added.
  Value sum(ValueRange keptIndices, ArrayRef<Value> sizes,
            SmallVector<Value> &at, Value initial) {
    size_t depth = at.size();
    if (depth == sizes.size())
      return step(keptIndices, at, initial)[0];
    auto addRange = [&](Value first, Value count, Value start) {
      return lowering.foldRange(
          lowering.index(0), count, start,
          [&](ValueRange place, ValueRange carried) -> SmallVector<Value> {
            at.push_back(lowering.add(first, place.front()));
            Value next = depth + 1 == sizes.size()
                             ? sum(keptIndices, sizes, at, carried[0])
                             : reduction.addSums(carried[0],
                                                 sum(keptIndices, sizes, at,
                                                     reduction.getNeutral()));
            at.pop_back();
            return {next};
          })[0];
    };
    auto addPart = [&](Value first, Value count, Value start) {
      return reduction.addSums(start,
                               addRange(first, count, reduction.getNeutral()));
    };
    Value size = sizes[depth];
    auto known = getConstantIntValue(size);
    if (known.value_or(INT64_MAX) <= maxTerms)
      return addRange(lowering.index(0), size, initial);
    int64_t length = known ? getPartLength(*known) : maxTerms;
    Value step = lowering.index(length);
    // Of known length are the last part too and those before it.
    Value parts =
        known ? lowering.index(*known / length) : lowering.ceilDiv(size, step);
    Value total = lowering.foldRange(
        lowering.index(0), parts, initial,
        [&](ValueRange part, ValueRange carried) -> SmallVector<Value> {
          Value first = lowering.mul(part.front(), step);
          Value count =
              known ? step : lowering.min(step, lowering.sub(size, first));
          return {addPart(first, count, carried[0])};
        })[0];
    if (known.value_or(0) % length == 0)
      return total;
    return addPart(lowering.index(*known / length * length),
                   lowering.index(*known % length), total);
  }

  /// Of parts of a sum: about the same for all, and as vectors like it.
  int64_t getPartLength(int64_t terms) const {
    auto round = static_cast<uint64_t>(lowering.machine.lineBytes);
    int64_t parts = llvm::divideCeil(terms, maxTerms);
    return llvm::alignTo(llvm::divideCeil(terms, parts), round);
  }

  void emitInRegisters();
  void emitTogether();
  void emitCalls();
  void storeResults(ValueRange values, ValueRange buffers, ValueRange at) {
    for (auto [result, buffer, value] :
         llvm::zip_equal(reduce.getResults(), buffers, values))
      lowering.store(value, getElementType(result), buffer, at);
  }

  stablehlo::ReduceOp reduce;
  Lowering &lowering;
  Reduction reduction;
  SmallVector<int64_t> kept, reduced;
  /// Of a row, reduced side by side; 0: it isn't cut.
  int64_t partCount = 0;
  /// Rows that are reduced side by side; 0: one after the other.
  int64_t rowsTogether = 0;
  /// Of one sum of floats.
  int64_t maxTerms = INT64_MAX;
  /// Whether the plan asks for sums of parts, of no fewer terms than those of
  /// the library have.
  bool mayCall = false;
};

// The innermost loop reduces: its state stays in registers.
void ReduceEmitter::emitInRegisters() {
  SmallVector<Value> buffers;
  for (Value result : reduce.getResults())
    buffers.push_back(lowering.createResult(result));
  lowering.forEach(getSizes(kept), [&](ValueRange keptIndices) {
    storeResults(reduceAll(keptIndices), buffers, keptIndices);
  });
}

// Each call has rows enough to be worth it.
void ReduceEmitter::emitCalls() {
  constexpr int64_t fewTerms = 1 << 13;
  Value buffer = lowering.createResult(reduce.getResults()[0]);
  Value operand = lowering.getBuffer(reduce.getInputs()[0]);
  Value rows = lowering.product(getSizes(kept));
  int64_t columns = *countTerms(reduced);
  int64_t together = llvm::divideCeil(fewTerms, columns);
  if (auto known = getConstantIntValue(rows))
    together = std::clamp<int64_t>(*known, 1, together);
  Value block = lowering.index(together), row = lowering.index(columns);
  lowering.forEachBlock(
      lowering.ceilDiv(rows, block), together * columns, [&](Value number) {
        Value first = lowering.mul(number, block);
        callRowSums(
            lowering,
            {getElementPointer(lowering, buffer, first),
             getElementPointer(lowering, operand, lowering.mul(first, row)),
             row, lowering.min(block, lowering.sub(rows, first)), row,
             reduction.getInitial()[0]});
      });
}

// The innermost loop goes over rows, each with a state of its own, the next one
// along them; rows that are left over come one by one.
void ReduceEmitter::emitTogether() {
  SmallVector<Value> buffers;
  for (Value result : reduce.getResults())
    buffers.push_back(lowering.createResult(result));
  SmallVector<Value> sizes = getSizes(kept), outer(sizes);
  Value rows = sizes.back(), together = lowering.index(rowsTogether);
  Value blocks = lowering.div(rows, together);
  auto getPlace = [&](ValueRange outside, Value row) {
    SmallVector<Value> place(outside.drop_back());
    place.push_back(row);
    return place;
  };
  outer.back() = blocks;
  lowering.forEach(outer, [&](ValueRange number) {
    Value first = lowering.mul(number.back(), together);
    SmallVector<Value> memory = reduction.createTemporaries(together);
    auto forEachRow = [&](llvm::function_ref<void(Value, ValueRange)> body) {
      lowering.forEach({together}, [&](ValueRange row) {
        body(row[0], getPlace(number, lowering.add(first, row[0])));
      });
    };
    forEachRow([&](Value row, ValueRange) {
      reduction.store(reduction.getInitial(), memory, row);
    });
    lowering.foldRange(lowering.index(0), getSizes(reduced)[0], {},
                       [&](ValueRange place, ValueRange) -> SmallVector<Value> {
                         forEachRow([&](Value row, ValueRange at) {
                           reduction.store(
                               step(at, place, reduction.load(memory, row)),
                               memory, row);
                         });
                         return {};
                       });
    forEachRow([&](Value row, ValueRange at) {
      storeResults(reduction.finish(reduction.load(memory, row)), buffers, at);
    });
  });
  Value done = lowering.mul(blocks, together);
  if (getConstantIntValue(lowering.sub(rows, done)) == 0)
    return;
  outer.back() = lowering.sub(rows, done);
  lowering.forEach(outer, [&](ValueRange number) {
    SmallVector<Value> at = getPlace(number, lowering.add(done, number.back()));
    storeResults(reduceAll(at), buffers, at);
  });
}

void ReduceEmitter::emit() {
  if (kept.empty()) {
    SmallVector<Value> results = reduceAll({});
    for (auto [result, value] : llvm::zip_equal(reduce.getResults(), results))
      lowering.setScalar(result, value);
    return;
  }
  if (mayCall && isSumOfLibrary(reduce, reduction, lowering))
    return emitCalls();
  if (rowsTogether)
    return emitTogether();
  emitInRegisters();
}
} // namespace

void alula::cpu::emitReduce(Operation *op, Lowering &lowering) {
  auto reduce = cast<stablehlo::ReduceOp>(op);
  if (reducesColumns(reduce))
    return reduceColumns(reduce, lowering);
  ReduceEmitter(reduce, lowering).emit();
}
