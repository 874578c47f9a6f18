// Attention by tiles of rows (dialect/dispatch/attention.h), whose scores and
// weights stay in the cache of a core:
//   for each tile of rows (workgroups):
//     for each chunk of keys:
//       which of them a mask leaves
//       scores = queries × keys, changed; the maximum of each row
//       weights = exp(scores - maximum); the sum of each row
//       sums of values += weights × values
//     each sum of values / sum of weights → memory
// Where all keys are one chunk nothing is scaled to a maximum that has grown.
//
// Keys that a mask hides from all rows of a tile are not multiplied, if that
// changes nothing: their weights underflow to zero, and their values, times
// zero, are zero. Both are looked at when the program runs.

#include "compiler/kernel/attention_places.h"
#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/element/sum_types.h"
#include "compiler/target/cpu/kernel/families.h"
#include "compiler/target/cpu/kernel/product_call.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;
using alula::dispatch::Attention;
using alula::dispatch::AttentionOperand;
using alula::dispatch::MachineFacts;
using Predicate = arith::CmpIPredicate;

namespace {
/// Of keys that a mask hides or leaves as one.
constexpr int64_t keysOfBlock = 64;

/// How the work is cut.
struct Tiles {
  int64_t rows, keys;
};

Tiles chooseTiles(const Attention &attention, const MachineFacts &machine) {
  constexpr int64_t mostRows = 128, fewestRows = 16, fewestKeys = 256;
  int64_t keys = attention.count(attention.keys),
          rows = attention.count(attention.rows),
          batch = attention.count(attention.batch);
  int64_t cacheScores = machine.getCoreCacheBytes() / int64_t(sizeof(float));
  Tiles tiles{std::min(rows, mostRows), keys};
  // Fewer rows where scores would need more cache, or where cores would idle.
  while (tiles.rows >= 2 * fewestRows &&
         (tiles.rows * std::min(keys, fewestKeys) > cacheScores ||
          batch * int64_t(llvm::divideCeil(rows, tiles.rows)) < machine.cores))
    tiles.rows = llvm::divideCeil(tiles.rows, 2);
  // Rather all keys at once than in chunks, if they are nearly as few.
  if (tiles.rows * keys > 2 * cacheScores) {
    int64_t most = std::max(cacheScores / tiles.rows, keysOfBlock);
    int64_t chunks = llvm::divideCeil(keys, most);
    tiles.keys = llvm::alignTo(llvm::divideCeil(keys, chunks), keysOfBlock);
  }
  return tiles;
}

class AttentionEmitter {
public:
  AttentionEmitter(const Attention &attention, Lowering &lowering)
      : attention(attention), lowering(lowering), b(lowering.b),
        places(attention, lowering),
        tiles(chooseTiles(attention, lowering.machine)),
        keys(attention.count(attention.keys)), isOneChunk(tiles.keys >= keys),
        f32(b.getF32Type()) {
    Type element = getElementType(attention.queries.base);
    types = {element, element, f32};
  }

  void emit();

private:
  /// Keys of a chunk: from `first`, `count`; [low, high) of these are shown to
  /// some row.
  struct Chunk {
    Value first, count, low, high;
  };

  Value toI64(Value number) {
    return b.create<arith::IndexCastOp>(b.getI64Type(), number);
  }
  Value lowest() { return number(-std::numeric_limits<double>::infinity()); }
  Value number(double value) { return makeNumber(lowering, f32, value); }
  Value getAddress(Value pointer, Type element, Value number) {
    if (getConstantIntValue(number) == 0)
      return pointer;
    return b.create<LLVM::GEPOp>(pointer.getType(), getMemoryType(element),
                                 pointer, ValueRange{toI64(number)});
  }
  /// The lines of a matrix from one on, and how far apart they and their
  /// elements are.
  MatrixBlock getLines(const AttentionOperand &matrix, Value pointer,
                       ArrayRef<int64_t> lines, Value firstLine,
                       ArrayRef<int64_t> columns) {
    int64_t stride = attention.getStride(matrix, lines);
    Value offset = lowering.mul(firstLine, lowering.index(stride));
    return {getAddress(pointer, types.left, offset), lowering.index(stride),
            lowering.index(attention.getStride(matrix, columns))};
  }
  /// From one row of scores to the next: rows whose distance is a power of two
  /// would share few lines of a cache.
  Value getLine() {
    return lowering.index(int64_t(llvm::alignTo(tiles.keys, 16)) + 16);
  }
  void store(Value value, Value memory, ValueRange at) {
    b.create<memref::StoreOp>(value, memory, at);
  }
  Value load(Value memory, ValueRange at) {
    return b.create<memref::LoadOp>(memory, at);
  }
  void forEachRow(llvm::function_ref<void(Value)> body) {
    lowering.forEach(tileRows, [&](ValueRange row) { body(row.front()); });
  }
  void setRow(Value row) {
    places.setIndices(attention.rows, lowering.add(firstRow, row));
  }

  void emitTile();
  void emitChunk(Chunk chunk);
  void findShown(Chunk &chunk);
  Value isShown(Value block, const Chunk &chunk);
  void multiplyKeys(const Chunk &chunk);
  void changeScores(const Chunk &chunk);
  void showAllIfNeeded(Chunk &chunk);
  void weigh(const Chunk &chunk);
  void multiplyValues(const Chunk &chunk);
  void finish();

  const Attention &attention;
  Lowering &lowering;
  ImplicitLocOpBuilder &b;
  AttentionPlaces places;
  Tiles tiles;
  int64_t keys;
  bool isOneChunk;
  Type f32;
  ProductTypes types;
  Value queries, keyMatrix, values, buffer;
  /// Of a tile: its first row and how many there are.
  Value firstRow, tileRows;
  /// [row][key]; weights of f32 lie where scores are.
  Value scores, weights;
  /// Of each row.
  Value maxima, weightSums, valueSums;
  /// The maxima that sums are scaled to.
  Value references;
};

void AttentionEmitter::emit() {
  queries = lowering.getBuffer(attention.queries.base);
  keyMatrix = lowering.getBuffer(attention.keyMatrix.base);
  values = lowering.getBuffer(attention.values.base);
  buffer = lowering.createResult(attention.result);
  int64_t rows = attention.count(attention.rows);
  Value tilesOfRows = lowering.index(llvm::divideCeil(rows, tiles.rows));
  SmallVector<Value> grid = places.getSizes(attention.batch);
  grid.push_back(tilesOfRows);
  int64_t steps =
      tiles.rows * keys *
      (attention.count(attention.depth) + attention.count(attention.columns)) /
      getProductsPerStep(lowering.machine);
  lowering.forEachBlock(lowering.product(grid), steps, [&](Value tile) {
    places.setIndices(attention.batch, lowering.div(tile, tilesOfRows));
    firstRow = lowering.mul(lowering.rem(tile, tilesOfRows),
                            lowering.index(tiles.rows));
    tileRows = lowering.min(lowering.index(tiles.rows),
                            lowering.sub(lowering.index(rows), firstRow));
    for (Operation *op : attention.elementwise)
      lowering.setInlined(op->getResult(0));
    emitTile();
  });
}

void AttentionEmitter::emitTile() {
  Value rows = lowering.index(tiles.rows), line = getLine();
  scores = lowering.createTemporary({rows, line}, f32);
  weights =
      types.left.isF32()
          ? scores
          : lowering.createTemporary({rows, line}, getMemoryType(types.left));
  maxima = lowering.createTemporary({rows}, f32);
  weightSums = lowering.createTemporary({rows}, f32);
  if (!isOneChunk)
    references = lowering.createTemporary({rows}, f32);
  Value columns = lowering.index(attention.count(attention.columns));
  valueSums = lowering.createTemporary({rows, columns}, f32);
  if (isOneChunk) {
    emitChunk({lowering.index(0), lowering.index(keys), {}, {}});
    return finish();
  }
  forEachRow([&](Value row) {
    store(lowest(), maxima, row);
    store(lowest(), references, row);
    store(number(0), weightSums, row);
    lowering.forEach(columns, [&](ValueRange column) {
      store(number(0), valueSums, {row, column.front()});
    });
  });
  Value most = lowering.index(tiles.keys), all = lowering.index(keys);
  lowering.fold(
      {lowering.ceilDiv(all, most)}, {},
      [&](ValueRange chunk, ValueRange) -> SmallVector<Value> {
        Value first = lowering.mul(chunk.front(), most);
        emitChunk(
            {first, lowering.min(most, lowering.sub(all, first)), {}, {}});
        return {};
      });
  finish();
}

void AttentionEmitter::emitChunk(Chunk chunk) {
  findShown(chunk);
  multiplyKeys(chunk);
  changeScores(chunk);
  showAllIfNeeded(chunk);
  weigh(chunk);
  multiplyValues(chunk);
}

// ---- What a mask leaves ----

/// From the first block that some row sees to the last: steps from the end to
/// that one, then from the beginning.
void AttentionEmitter::findShown(Chunk &chunk) {
  chunk.low = lowering.index(0);
  chunk.high = chunk.count;
  if (!attention.mask)
    return;
  Type size = b.getIndexType(), boolean = b.getI1Type();
  Value block = lowering.index(keysOfBlock), one = lowering.index(1),
        none = lowering.index(0), no = makeInteger(lowering, boolean, 0);
  SmallVector<Value> initial{none, lowering.ceilDiv(chunk.count, block), no};
  auto loop = b.create<scf::WhileOp>(TypeRange{size, size, boolean}, initial);
  {
    OpBuilder::InsertionGuard guard(b);
    Reader::Scope scope(lowering);
    SmallVector<Location> locations(3, b.getLoc());
    Block *before =
        b.createBlock(&loop.getBefore(), {}, loop.getResultTypes(), locations);
    Value begin = before->getArgument(0), end = before->getArgument(1),
          isInFront = before->getArgument(2);
    Value isInside = lowering.compare(Predicate::ult, begin, end);
    Value isSeen = lowering.choose(
        isInside, boolean,
        [&]() -> SmallVector<Value> {
          Value number =
              lowering.select(isInFront, begin, lowering.sub(end, one));
          return {isShown(number, chunk)};
        },
        [&]() -> SmallVector<Value> { return {no}; })[0];
    Value isHidden = lowering.select(isSeen, no, isInside);
    Value step = b.create<arith::IndexCastUIOp>(size, isHidden);
    // The block that was met from the end is met from the front at last.
    Value goesOn = lowering.select(isInFront, isHidden, isInside);
    b.create<scf::ConditionOp>(
        goesOn,
        ValueRange{lowering.add(begin, lowering.select(isInFront, step, none)),
                   lowering.sub(end, lowering.select(isInFront, none, step)),
                   b.create<arith::OrIOp>(isInFront, isSeen)});
    Block *after =
        b.createBlock(&loop.getAfter(), {}, loop.getResultTypes(), locations);
    b.create<scf::YieldOp>(after->getArguments());
  }
  chunk.low = lowering.mul(loop.getResult(0), block);
  chunk.high =
      lowering.min(lowering.mul(loop.getResult(1), block), chunk.count);
}

/// Whether some row of the tile sees some key of the block.
Value AttentionEmitter::isShown(Value block, const Chunk &chunk) {
  Type i32 = b.getI32Type();
  Value first = lowering.mul(block, lowering.index(keysOfBlock));
  Value end = lowering.min(lowering.add(first, lowering.index(keysOfBlock)),
                           chunk.count);
  Value zero = makeInteger(lowering, i32, 0);
  Value count = lowering.foldRange(
      lowering.index(0), tileRows, zero,
      [&](ValueRange row, ValueRange carried) {
        setRow(row.front());
        return lowering.foldRange(
            first, end, carried, [&](ValueRange key, ValueRange seen) {
              places.setIndices(attention.keys,
                                lowering.add(chunk.first, key.front()));
              Value keeps =
                  lowering.getElement(attention.mask->predicate,
                                      places.getPlace(attention.mask->layout));
              if (!attention.mask->keepsWhereTrue)
                keeps = b.create<arith::XOrIOp>(
                    keeps, makeInteger(lowering, b.getI1Type(), 1));
              Value next = b.create<arith::ExtUIOp>(i32, keeps);
              return SmallVector<Value>{
                  b.create<arith::OrIOp>(seen.front(), next)};
            });
      })[0];
  return lowering.compare(Predicate::ne, count, zero);
}

// ---- Scores ----

void AttentionEmitter::multiplyKeys(const Chunk &chunk) {
  ProductCall call;
  call.output = getElementPointer(lowering, scores, chunk.low);
  call.outputRow = getLine();
  call.left =
      getLines(attention.queries, places.getPointer(attention.queries, queries),
               attention.rows, firstRow, attention.depth);
  MatrixBlock lines = getLines(
      attention.keyMatrix, places.getPointer(attention.keyMatrix, keyMatrix),
      attention.keys, lowering.add(chunk.first, chunk.low), attention.depth);
  call.right = {lines.pointer, lines.columnStride, lines.rowStride};
  call.depth = lowering.index(attention.count(attention.depth));
  call.rows = tileRows;
  call.columns = lowering.sub(chunk.high, chunk.low);
  call.columnLimit = tiles.keys;
  callProduct(lowering, types, call);
}

void AttentionEmitter::changeScores(const Chunk &chunk) {
  Value product = attention.scores->getResult(0);
  Value hidden, isSomeHidden;
  if (attention.mask) {
    hidden = number(attention.mask->hidden);
    isSomeHidden = lowering.compare(
        Predicate::ne, lowering.sub(chunk.high, chunk.low), chunk.count);
  }
  forEachRow([&](Value row) {
    setRow(row);
    Value most = lowering.foldRange(
        chunk.low, chunk.high, {isOneChunk ? lowest() : load(maxima, row)},
        [&](ValueRange key, ValueRange carried) {
          places.setIndices(attention.keys,
                            lowering.add(chunk.first, key.front()));
          SmallVector<Value> at{row, key.front()};
          Value sum = load(scores, at);
          lowering.setScalar(product,
                             roundSum(lowering, sum, getElementType(product)));
          Value score = widenFloat(
              lowering,
              lowering.getElement(attention.score,
                                  places.getPlace(attention.scoreLayout)));
          if (score != sum)
            store(score, scores, at);
          return SmallVector<Value>{
              b.create<arith::MaximumFOp>(carried.front(), score)};
        })[0];
    if (hidden)
      most = lowering.select(isSomeHidden,
                             b.create<arith::MaximumFOp>(most, hidden), most);
    store(most, maxima, row);
  });
}

/// Hidden keys count where their weights or values are such that products
/// with them are not zero.
void AttentionEmitter::showAllIfNeeded(Chunk &chunk) {
  if (!attention.mask)
    return;
  MatrixBlock lines =
      getLines(attention.values, places.getPointer(attention.values, values),
               attention.keys, chunk.first, attention.columns);
  RoutineArguments arguments(lowering, number(attention.mask->hidden));
  arguments.add(lowering.getPointer(scores));
  for (Value size : {getLine(), tileRows, chunk.low, chunk.high, chunk.count})
    arguments.addSize(size);
  arguments.add(lowering.getPointer(maxima));
  arguments.add(lines.pointer);
  arguments.addSize(lines.rowStride);
  arguments.addSize(lines.columnStride);
  arguments.addSize(attention.count(attention.columns));
  Type i64 = b.getI64Type();
  Value count = lowering.callLibrary(
      "alula_attention_show_" + getLibraryName(types.right), i64, arguments);
  Value isAll =
      lowering.compare(Predicate::ne, count, makeInteger(lowering, i64, 0));
  chunk.low = lowering.select(isAll, lowering.index(0), chunk.low);
  chunk.high = lowering.select(isAll, chunk.count, chunk.high);
}

// ---- Weights ----

void AttentionEmitter::weigh(const Chunk &chunk) {
  Value none =
      b.create<LLVM::ZeroOp>(LLVM::LLVMPointerType::get(b.getContext()));
  RoutineArguments arguments(lowering, lowering.getPointer(scores));
  arguments.add(lowering.getPointer(weights));
  for (Value size : {getLine(), tileRows, chunk.low, chunk.high})
    arguments.addSize(size);
  arguments.add(lowering.getPointer(maxima));
  arguments.add(lowering.getPointer(weightSums));
  arguments.add(isOneChunk ? none : lowering.getPointer(references));
  arguments.add(lowering.getPointer(valueSums));
  arguments.addSize(attention.count(attention.columns));
  lowering.callLibrary("alula_attention_weigh_" + getLibraryName(types.left),
                       arguments);
}

void AttentionEmitter::multiplyValues(const Chunk &chunk) {
  ProductCall call;
  call.output = lowering.getPointer(valueSums);
  int64_t columns = attention.count(attention.columns);
  call.outputRow = call.columns = lowering.index(columns);
  call.left.pointer = getElementPointer(lowering, weights, chunk.low);
  call.left.rowStride = getLine();
  call.left.columnStride = lowering.index(1);
  call.right = getLines(
      attention.values, places.getPointer(attention.values, values),
      attention.keys, lowering.add(chunk.first, chunk.low), attention.columns);
  call.depth = lowering.sub(chunk.high, chunk.low);
  call.rows = tileRows;
  call.columnLimit = columns;
  if (!isOneChunk)
    call.adds = makeInteger(lowering, b.getI32Type(), 1);
  callProduct(lowering, types, call);
}

void AttentionEmitter::finish() {
  OpResult product = attention.product->getResult(0);
  Value columns = lowering.index(attention.count(attention.columns));
  Type element = getElementType(attention.result);
  auto moved = attention.getMovedResult();
  if (moved && (element.isF32() || element.isBF16())) {
    int64_t line = attention.getStride(*moved, attention.rows);
    Value first = getAddress(places.getPointer(*moved, buffer), element,
                             lowering.mul(firstRow, lowering.index(line)));
    RoutineArguments arguments(lowering, first);
    arguments.addSize(line);
    arguments.addSize(attention.getStride(*moved, attention.columns));
    arguments.add(lowering.getPointer(valueSums));
    arguments.add(lowering.getPointer(weightSums));
    arguments.addSize(tileRows);
    arguments.addSize(columns);
    return lowering.callLibrary(
        "alula_attention_finish_" + getLibraryName(element), arguments);
  }
  // The loop inside goes along memory.
  bool rowsAreNeighbours = false;
  for (const auto &dim : attention.resultLayout)
    if (!dim.empty())
      rowsAreNeighbours = llvm::is_contained(attention.rows, dim.back().axis);
  SmallVector<Value> sizes{tileRows, columns};
  if (rowsAreNeighbours)
    std::swap(sizes[0], sizes[1]);
  lowering.forEach(sizes, [&](ValueRange at) {
    Value row = at[rowsAreNeighbours], column = at[!rowsAreNeighbours];
    setRow(row);
    places.setIndices(attention.columns, column);
    Value mean = b.create<arith::DivFOp>(load(valueSums, {row, column}),
                                         load(weightSums, row));
    lowering.setScalar(product,
                       roundSum(lowering, mean, getElementType(product)));
    SmallVector<Value> place = places.getPlace(attention.resultLayout);
    lowering.store(lowering.getElement(attention.result, place), element,
                   buffer, place);
  });
}
} // namespace

void alula::cpu::emitAttention(const Attention &attention, Lowering &lowering) {
  AttentionEmitter(attention, lowering).emit();
}
