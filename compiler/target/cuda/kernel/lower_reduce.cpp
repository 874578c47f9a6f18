// Reductions by many threads.
//   reduce x: [n, t] → [n]   →   parts[i, p] = x[i, p] + x[i, p + P] + …
//                                parts of parts, until few are left
//                                result[i] = initial + parts[i, 0] + …
// Sums of floats have no order: neighbouring threads read neighbours. What may
// only be bracketed is cut into runs. If there are enough results whose
// elements are neighbours, or the elements are few, each is a warp's (warps.h).
// All else is one thread for each result.

#include "compiler/kernel/element/associative.h"
#include "compiler/kernel/reduction.h"
#include "compiler/target/cpu/kernel/families.h"
#include "compiler/target/cuda/kernel/families.h"
#include "compiler/target/cuda/kernel/warps.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::cuda;
using namespace alula::kernel;
using Predicate = arith::CmpIPredicate;

namespace {
/// What one thread adds up without others, at least and at most, if there are
/// more threads that could.
constexpr int64_t leastTerms = 16, mostTerms = 64;
/// As many threads keep a device busy.
constexpr int64_t manyThreads = 1 << 16;
/// Fewer results with more elements are computed in parts.
constexpr int64_t manyWarps = 1 << 10, mostWarpTerms = 1 << 11;

class PartsEmitter {
public:
  PartsEmitter(stablehlo::ReduceOp reduce, Lowering &lowering)
      : reduce(reduce), lowering(lowering),
        reduction(reduce, reduce.getBody().front(), reduce.getInputs(),
                  reduce.getInitValues(), lowering) {
    auto type = cast<RankedTensorType>(reduce.getInputs()[0].getType());
    isStatic = type.hasStaticShape();
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      auto at = static_cast<int64_t>(dim);
      bool isReduced = llvm::is_contained(reduce.getDimensions(), at);
      (isReduced ? reduced : kept).push_back(at);
      (isReduced ? reducedSizes : keptSizes).push_back(lowering.index(size));
      if (isStatic)
        (isReduced ? terms : outputs) *= size;
    }
    rowsAreNeighbours =
        !reduced.empty() && reduced.back() + 1 == type.getRank();
  }

  /// Each result by a warp.
  bool emitByWarps() {
    if (!isStatic || !outputs || kept.empty() || !rowsAreNeighbours ||
        !mayUseWarps(lowering, terms) ||
        !isSharedByLanes(reduce, reduce.getBody().front()))
      return false;
    SmallVector<Value> buffers;
    for (Value result : reduce.getResults())
      buffers.push_back(lowering.createResult(result));
    forEachByWarps(lowering, keptSizes, [&](ValueRange place) {
      SmallVector<Value> values = reduceByLanes(
          lowering, reduction, reduce, terms,
          countWork(lowering, reduce.getOperation(), terms),
          [&](Value term, Value) { return getElementPlace(place, term); });
      doByFirstLane(lowering, [&] {
        for (auto [result, buffer, value] :
             llvm::zip_equal(reduce.getResults(), buffers, values))
          lowering.store(value, getElementType(result), buffer, place);
      });
    });
    return true;
  }

  /// Whether warps are too few for the elements of so few results.
  bool isLong() const { return terms > mostWarpTerms && outputs < manyWarps; }

  /// False if a thread for each result is enough, or all that is possible.
  bool emit() {
    if (!isStatic || !outputs || terms < 2 * leastTerms ||
        outputs >= manyThreads ||
        !(reduction.getFloatSum() || isAssociative(reduce.getBody().front())))
      return false;
    int64_t parts =
        std::clamp<int64_t>(manyThreads / outputs, 1, terms / leastTerms);
    if (parts < 2)
      return false;
    SmallVector<Value> states = addElements(parts);
    while (parts > mostTerms) {
      int64_t fewer = llvm::divideCeil(parts, mostTerms);
      states = addStates(states, parts, fewer);
      parts = fewer;
    }
    finish(states, parts);
    return true;
  }

private:
  /// Where part `part` of the result at `place` is: neighbouring threads have
  /// neighbours.
  SmallVector<Value> join(Value part, ValueRange place) {
    SmallVector<Value> all(place);
    all.insert(rowsAreNeighbours ? all.end() : all.begin(), part);
    return all;
  }

  void
  forEachPart(int64_t parts,
              llvm::function_ref<void(Value part, ValueRange place)> body) {
    lowering.forEach(join(lowering.index(parts), keptSizes),
                     [&](ValueRange indices) {
                       if (rowsAreNeighbours)
                         body(indices.back(), indices.drop_back());
                       else
                         body(indices.front(), indices.drop_front());
                     });
  }

  SmallVector<Value> getElementPlace(ValueRange place, Value term) {
    SmallVector<Value> indices(kept.size() + reduced.size());
    for (auto [dim, index] : llvm::zip_equal(kept, place))
      indices[static_cast<size_t>(dim)] = index;
    for (auto [dim, index] :
         llvm::zip_equal(reduced, lowering.delinearize(term, reducedSizes)))
      indices[static_cast<size_t>(dim)] = index;
    return indices;
  }

  SmallVector<Value> combine(ValueRange a, ValueRange b) {
    if (reduction.getFloatSum())
      return {reduction.addSums(a[0], b[0])};
    return reduction.combine(a, b);
  }

  SmallVector<Value> addElements(int64_t parts) {
    SmallVector<Value> states =
        reduction.createTemporaries(join(lowering.index(parts), keptSizes));
    Value all = lowering.index(terms), step = lowering.index(parts);
    forEachPart(parts, [&](Value part, ValueRange place) {
      if (reduction.getFloatSum()) {
        Value count = lowering.ceilDiv(lowering.sub(all, part), step);
        SmallVector<Value> state = lowering.foldRange(
            lowering.index(0), count, reduction.getNeutral(),
            [&](ValueRange number, ValueRange carried) {
              Value term =
                  lowering.add(part, lowering.mul(number.front(), step));
              return reduction.append(carried, getElementPlace(place, term));
            });
        return reduction.store(state, states, join(part, place));
      }
      // As even as whole numbers can be: none is empty.
      auto bound = [&](Value number) {
        return lowering.div(lowering.mul(number, all), step);
      };
      Value begin = bound(part);
      Value end = bound(lowering.add(part, lowering.index(1)));
      SmallVector<Value> state = lowering.foldRange(
          lowering.add(begin, lowering.index(1)), end,
          reduction.begin(getElementPlace(place, begin)),
          [&](ValueRange term, ValueRange carried) {
            return reduction.append(carried,
                                    getElementPlace(place, term.front()));
          });
      reduction.store(state, states, join(part, place));
    });
    return states;
  }

  SmallVector<Value> addStates(ValueRange states, int64_t parts,
                               int64_t fewer) {
    SmallVector<Value> next =
        reduction.createTemporaries(join(lowering.index(fewer), keptSizes));
    Value all = lowering.index(parts), most = lowering.index(mostTerms);
    forEachPart(fewer, [&](Value part, ValueRange place) {
      Value begin = lowering.mul(part, most);
      Value end = lowering.min(lowering.add(begin, most), all);
      SmallVector<Value> state = lowering.foldRange(
          lowering.add(begin, lowering.index(1)), end,
          reduction.load(states, join(begin, place)),
          [&](ValueRange at, ValueRange carried) {
            return combine(carried,
                           reduction.load(states, join(at.front(), place)));
          });
      reduction.store(state, next, join(part, place));
    });
    return next;
  }

  void finish(ValueRange states, int64_t parts) {
    auto reduceParts = [&](ValueRange place) {
      return reduction.finish(lowering.foldRange(
          lowering.index(0), lowering.index(parts), reduction.getInitial(),
          [&](ValueRange at, ValueRange carried) {
            return combine(carried,
                           reduction.load(states, join(at.front(), place)));
          }));
    };
    if (kept.empty()) {
      for (auto [result, value] :
           llvm::zip_equal(reduce.getResults(), reduceParts({})))
        lowering.setScalar(result, value);
      return;
    }
    SmallVector<Value> buffers;
    for (Value result : reduce.getResults())
      buffers.push_back(lowering.createResult(result));
    lowering.forEach(keptSizes, [&](ValueRange place) {
      for (auto [result, buffer, value] :
           llvm::zip_equal(reduce.getResults(), buffers, reduceParts(place)))
        lowering.store(value, getElementType(result), buffer, place);
    });
  }

  stablehlo::ReduceOp reduce;
  Lowering &lowering;
  Reduction reduction;
  bool isStatic = false, rowsAreNeighbours = false;
  SmallVector<int64_t> kept, reduced;
  SmallVector<Value> keptSizes, reducedSizes;
  int64_t outputs = 1, terms = 1;
};
} // namespace

void alula::cuda::emitReduce(Operation *op, Lowering &lowering) {
  // Inside of a loop over elements there is one thread.
  bool isAlone =
      !lowering.b.getInsertionBlock()
           ->getParentOp()
           ->getParentOfType<scf::ParallelOp>() &&
      !isa<scf::ParallelOp>(lowering.b.getInsertionBlock()->getParentOp());
  PartsEmitter emitter(cast<stablehlo::ReduceOp>(op), lowering);
  if (!isAlone || !((emitter.isLong() && emitter.emit()) ||
                    emitter.emitByWarps() || emitter.emit()))
    alula::cpu::emitReduce(op, lowering);
}
