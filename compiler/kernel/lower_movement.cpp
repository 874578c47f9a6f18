// Movement that fills memory, or that moves nothing since memory is shared.

#include "compiler/kernel/element/slice_places.h"
#include "compiler/kernel/emitters.h"
#include "compiler/kernel/lowering.h"
#include "compiler/kernel/repeat_arithmetic.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::kernel;

// The same bytes: memory needs no copy.
bool alula::kernel::aliasReshape(Operation *op, Lowering &lowering) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  // Packed elements are found by their number, whatever the shape.
  if (lowering.hasPacked(operand)) {
    lowering.setAlias(result, operand);
    return true;
  }
  if (!lowering.hasBuffer(operand))
    return false;
  lowering.setBuffer(result, lowering.createView(lowering.getBuffer(operand),
                                                 lowering.getShape(result)));
  return true;
}

// Written in the order of the operand, so that nothing is divided.
void alula::kernel::emitReshape(Operation *op, Lowering &lowering) {
  Value operand = op->getOperand(0);
  Value buffer = lowering.createResult(op->getResult(0));
  lowering.fill(lowering.createView(buffer, lowering.getShape(operand)),
                operand);
}

void alula::kernel::emitIdentity(Operation *op, Lowering &lowering) {
  for (auto [operand, result] :
       llvm::zip_equal(op->getOperands(), op->getResults()))
    if (isa<RankedTensorType>(operand.getType()))
      lowering.setAlias(result, operand);
}

void alula::kernel::emitNothing(Operation *, Lowering &) {}

void alula::kernel::emitDynamicUpdateSlice(Operation *op, Lowering &lowering) {
  auto update = cast<stablehlo::DynamicUpdateSliceOp>(op);
  SmallVector<Value> sizes = lowering.getShape(update.getUpdate());
  SmallVector<Value> starts =
      getStarts(lowering, update.getOperand(), update.getStartIndices(), sizes);
  Value buffer = lowering.createUpdated(cast<OpResult>(update.getResult()),
                                        update.getOperand());
  lowering.forEach(sizes, [&](ValueRange indices) {
    lowering.store(lowering.getElement(update.getUpdate(), indices),
                   getElementType(update.getUpdate()), buffer,
                   addEach(lowering, starts, indices));
  });
}

/// A loop that fills a part of a result which no other one writes.
static void forEachOfPiece(Lowering &lowering, ArrayRef<Value> sizes,
                           function_ref<void(ValueRange)> body) {
  lowering.forEach(sizes, body);
  Block *block = lowering.b.getInsertionBlock();
  auto next = lowering.b.getInsertionPoint();
  if (next == block->begin())
    return;
  if (auto loop = dyn_cast<scf::ParallelOp>(*std::prev(next)))
    loop->setAttr(alula::kernel::pieceName, lowering.b.getUnitAttr());
}

/// Writes pieces one after the other, from a place on; those that are put
/// together themselves piece by piece.
static void emitPieces(stablehlo::ConcatenateOp concatenate, Value buffer,
                       SmallVector<Value> corner, Lowering &lowering) {
  auto dim = static_cast<size_t>(concatenate.getDimension());
  for (Value input : concatenate.getInputs()) {
    SmallVector<Value> sizes = lowering.getShape(input);
    auto inner = input.getDefiningOp<stablehlo::ConcatenateOp>();
    if (inner && lowering.isInlined(input))
      emitPieces(inner, buffer, corner, lowering);
    else
      forEachOfPiece(lowering, sizes, [&](ValueRange indices) {
        lowering.store(lowering.getElement(input, indices),
                       getElementType(input), buffer,
                       addEach(lowering, corner, indices));
      });
    corner[dim] = lowering.add(corner[dim], sizes[dim]);
  }
}

/// Pieces along the last dimension, those of pieces too.
static void collectPieces(stablehlo::ConcatenateOp concatenate,
                          SmallVector<Value> &pieces, Lowering &lowering) {
  for (Value input : concatenate.getInputs()) {
    auto inner = input.getDefiningOp<stablehlo::ConcatenateOp>();
    if (inner && lowering.isInlined(input) &&
        inner.getDimension() == concatenate.getDimension())
      collectPieces(inner, pieces, lowering);
    else
      pieces.push_back(input);
  }
}

/// Whether all pieces together are a few neighbours in memory.
static bool hasFewNeighbours(stablehlo::ConcatenateOp concatenate,
                             const Lowering &lowering) {
  constexpr int64_t few = 16;
  auto type = cast<RankedTensorType>(concatenate.getType());
  return lowering.machine.blockThreads <= 1 && type.hasStaticShape() &&
         type.getRank() > 1 && type.getShape().back() > 1 &&
         type.getShape().back() <= few &&
         static_cast<int64_t>(concatenate.getDimension()) + 1 == type.getRank();
}

/// Writes the neighbours of each place together: loops over single pieces
/// would go over memory once for each.
static void emitNeighbours(stablehlo::ConcatenateOp concatenate, Value buffer,
                           Lowering &lowering) {
  SmallVector<Value> pieces;
  collectPieces(concatenate, pieces, lowering);
  SmallVector<Value> sizes = lowering.getShape(concatenate.getResult());
  lowering.forEach(ArrayRef(sizes).drop_back(), [&](ValueRange outer) {
    SmallVector<Value> elements;
    for (Value piece : pieces) {
      int64_t count = cast<RankedTensorType>(piece.getType()).getShape().back();
      for (int64_t i = 0; i < count; ++i) {
        SmallVector<Value> indices(outer);
        indices.push_back(lowering.index(i));
        elements.push_back(lowering.getElement(piece, indices));
      }
    }
    for (auto [i, element] : llvm::enumerate(elements)) {
      SmallVector<Value> indices(outer);
      indices.push_back(lowering.index(static_cast<int64_t>(i)));
      lowering.store(element, getElementType(concatenate.getResult()), buffer,
                     indices);
    }
  });
}

void alula::kernel::emitConcatenate(Operation *op, Lowering &lowering) {
  auto concatenate = cast<stablehlo::ConcatenateOp>(op);
  if (hasFewNeighbours(concatenate, lowering))
    return emitNeighbours(
        concatenate, lowering.createResult(concatenate.getResult()), lowering);
  Value buffer = lowering.createResult(concatenate.getResult());
  auto rank = cast<RankedTensorType>(concatenate.getType()).getRank();
  emitPieces(concatenate, buffer,
             SmallVector<Value>(static_cast<size_t>(rank), lowering.index(0)),
             lowering);
}

/// Padding around an operand, dimension by dimension: what lies before and
/// behind it in one, within it in those before, everywhere in those after.
static void padEdges(stablehlo::PadOp pad, Value padding, Value buffer,
                     Lowering &lowering) {
  SmallVector<Value> corner(pad.getEdgePaddingLow().size(), lowering.index(0));
  SmallVector<Value> sizes = lowering.getShape(pad.getResult());
  SmallVector<Value> inner = lowering.getShape(pad.getOperand());
  auto fill = [&](size_t dim, Value start, int64_t size) {
    SmallVector<Value> from(corner), count(sizes);
    from[dim] = start;
    count[dim] = lowering.index(size);
    if (size)
      forEachOfPiece(lowering, count, [&](ValueRange indices) {
        lowering.store(padding, getElementType(pad.getResult()), buffer,
                       addEach(lowering, from, indices));
      });
  };
  for (auto [dim, low, high] :
       llvm::enumerate(pad.getEdgePaddingLow(), pad.getEdgePaddingHigh())) {
    Value begin = lowering.index(low);
    fill(dim, lowering.index(0), low);
    fill(dim, lowering.add(begin, inner[dim]), high);
    corner[dim] = begin;
    sizes[dim] = inner[dim];
  }
}

void alula::kernel::emitPad(Operation *op, Lowering &lowering) {
  auto pad = dyn_cast<stablehlo::PadOp>(op);
  bool isCutting = !pad || llvm::any_of(pad.getEdgePaddingLow(), [](int64_t n) {
    return n < 0;
  }) || llvm::any_of(pad.getEdgePaddingHigh(), [](int64_t n) { return n < 0; });
  Value result = op->getResult(0);
  // Where elements are cut off each one must be asked for its place.
  if (isCutting)
    return lowering.materialize(result);
  Type element = getElementType(result);
  Value buffer = lowering.createResult(result);
  Value padding = lowering.getScalar(pad.getPaddingValue());
  bool isOnlyAround =
      lowering.machine.blockThreads <= 1 &&
      llvm::all_of(pad.getInteriorPadding(), [](int64_t n) { return n == 0; });
  if (isOnlyAround)
    padEdges(pad, padding, buffer, lowering);
  else
    lowering.forEach(lowering.getShape(result), [&](ValueRange indices) {
      lowering.store(padding, element, buffer, indices);
    });
  auto forEach = [&](ArrayRef<Value> shape,
                     function_ref<void(ValueRange)> body) {
    if (isOnlyAround)
      forEachOfPiece(lowering, shape, body);
    else
      lowering.forEach(shape, body);
  };
  forEach(lowering.getShape(pad.getOperand()), [&](ValueRange indices) {
    SmallVector<Value> target;
    for (auto [dim, index] : llvm::enumerate(indices)) {
      Padding edges = getPadding(lowering, op, dim);
      target.push_back(
          lowering.add(edges.low, lowering.mul(index, edges.step)));
    }
    lowering.store(lowering.getElement(pad.getOperand(), indices), element,
                   buffer, target);
  });
}
