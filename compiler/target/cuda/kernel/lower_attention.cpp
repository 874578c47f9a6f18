// Attention by workgroups, each a tile of rows (dialect/dispatch/attention.h).
// The library multiplies and weighs (library/block_attention.inc); what the
// program does to scores is code for the scores that a thread has in registers.
//   for each tile of rows (workgroups):
//     queries = alula_attention_begin_bf16_64(…)
//     for each block of keys, carrying state:
//       scores = alula_attention_scores_bf16_64(queries, …)
//       each of them: mask(scale * score); -inf behind the last key
//       state = alula_attention_add_bf16_64(state, scores, …)
//     each of alula_attention_end_bf16_64(state) → memory

#include "compiler/kernel/attention_places.h"
#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/element/sum_types.h"
#include "compiler/kernel/share_threads.h"
#include "compiler/target/cuda/kernel/families.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace alula::cuda;
using namespace alula::kernel;
using alula::dispatch::Attention;
using alula::dispatch::AttentionOperand;
using Predicate = arith::CmpIPredicate;

namespace {
/// As the library has them.
constexpr int64_t keysAtOnce = 64;

/// Which rows and columns of a tile a thread has numbers of.
struct Fragment {
  /// Of a row, those side by side; how far apart the next ones are.
  int64_t rows, wide, distance, count;
};

class AttentionEmitter {
public:
  AttentionEmitter(const Attention &attention, Lowering &lowering)
      : attention(attention), lowering(lowering), b(lowering.b),
        element(getElementType(attention.queries.base)),
        isWords(element.isF32()), tileRows(isWords ? 64 : 128),
        headSize(llvm::alignTo(attention.getHeadSize(), 32)),
        keys(attention.count(attention.keys)),
        rows(attention.count(attention.rows)), places(attention, lowering) {}

  void emit() {
    queries = lowering.getBuffer(attention.queries.base);
    keyMatrix = lowering.getBuffer(attention.keyMatrix.base);
    values = lowering.getBuffer(attention.values.base);
    buffer = lowering.createResult(attention.result);
    SmallVector<Value> grid = places.getSizes(attention.batch);
    grid.push_back(lowering.index(llvm::divideCeil(rows, tileRows)));

    OpBuilder::InsertionGuard guard(b);
    // A loop of one iteration would be folded, and its threads with it.
    Value tiles = lowering.product(grid);
    bool isSingle = getConstantIntValue(tiles) == 1;
    auto loop = b.create<scf::ParallelOp>(
        ValueRange{lowering.index(0)},
        ValueRange{isSingle ? lowering.index(2) : tiles},
        ValueRange{lowering.index(1)});
    setForWorkgroups(loop, lowering.machine.blockThreads);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    Reader::Scope scope(lowering);
    Value number = loop.getInductionVars().front();
    if (isSingle) {
      auto branch = b.create<scf::IfOp>(
          lowering.compare(Predicate::eq, number, lowering.index(0)));
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    SmallVector<Value> place = lowering.delinearize(number, grid);
    places.setIndices(attention.batch, lowering.div(number, grid.back()));
    firstRow = lowering.mul(place.back(), lowering.index(tileRows));
    thread = lowering.callLibrary("alula_block_thread", b.getIndexType(), {});
    for (Operation *op : attention.elementwise)
      lowering.setInlined(op->getResult(0));
    emitTile();
  }

private:
  // ---- Places ----

  /// As the library numbers what a thread has: see there.
  Fragment getFragment(int64_t columns) const {
    if (!isWords)
      return {2, 2, 8, columns / 2};
    int64_t wide = columns % 64 ? 2 : 4;
    return {4, wide, 16 * wide, columns / 4};
  }
  /// Row and column in the tile of number `i`.
  std::pair<Value, Value> locate(const Fragment &fragment, int64_t i) {
    auto index = [&](int64_t value) { return lowering.index(value); };
    int64_t of = fragment.count / fragment.rows;
    int64_t row = i / of, inRow = i % of;
    if (!isWords) {
      row = i % 4 / 2;
      inRow = i / 4 * 2 + i % 2;
    }
    Value column = index(inRow / fragment.wide * fragment.distance +
                         inRow % fragment.wide);
    int64_t lanes = isWords ? 16 : 4;
    Value lane = lowering.rem(thread, index(lanes));
    column = lowering.add(lowering.mul(lane, index(fragment.wide)), column);
    if (isWords)
      return {
          lowering.add(lowering.mul(lowering.div(thread, index(16)), index(4)),
                       index(row)),
          column};
    Value first =
        lowering.add(lowering.mul(lowering.div(thread, index(32)), index(16)),
                     lowering.div(lowering.rem(thread, index(32)), index(4)));
    return {lowering.add(first, index(8 * row)), column};
  }

  // ---- Calls ----

  Value toI64(Value number) {
    return b.create<arith::IndexCastOp>(b.getI64Type(), number);
  }

  /// The matrix of a batch, its lines, and how these lie.
  void addLines(SmallVectorImpl<Value> &arguments, Value memory,
                const AttentionOperand &matrix, ArrayRef<int64_t> lines,
                ArrayRef<int64_t> depth) {
    arguments.push_back(places.getPointer(matrix, memory));
    for (int64_t number :
         {attention.count(lines), attention.getStride(matrix, lines),
          attention.count(depth), attention.getStride(matrix, depth)})
      arguments.push_back(makeInteger(lowering, b.getI64Type(), number));
  }

  Value call(StringRef what, Type result, ValueRange arguments) {
    StringRef type = element.isBF16()  ? "bf16"
                     : element.isF16() ? "f16"
                                       : "f32";
    return lowering.callLibrary("alula_attention_" + what + "_" + type + "_" +
                                    Twine(headSize),
                                result, arguments);
  }

  VectorType makeType(int64_t count, Type type) {
    return VectorType::get({count}, type);
  }

  Value extract(Value vector, int64_t i) {
    return b.create<LLVM::ExtractElementOp>(
        vector, makeInteger(lowering, b.getI32Type(), i));
  }
  Value insert(Value vector, Value number, int64_t i) {
    return b.create<LLVM::InsertElementOp>(
        vector, number, makeInteger(lowering, b.getI32Type(), i));
  }

  // ---- A tile ----

  void emitTile() {
    Type f32 = b.getF32Type();
    Fragment ofScores = getFragment(keysAtOnce),
             ofResult = getFragment(headSize);
    int64_t statistics = 2 * ofScores.rows;
    VectorType stateType = makeType(statistics + ofResult.count, f32);
    SmallVector<Value> queryLines, keyLines, valueLines;
    addLines(queryLines, queries, attention.queries, attention.rows,
             attention.depth);
    addLines(keyLines, keyMatrix, attention.keyMatrix, attention.keys,
             attention.depth);
    addLines(valueLines, values, attention.values, attention.keys,
             attention.columns);
    Value loaded;
    if (!isWords) {
      SmallVector<Value> arguments(queryLines);
      llvm::append_range(arguments, keyLines);
      arguments.push_back(toI64(firstRow));
      loaded = call("begin", makeType(headSize / 4, b.getI32Type()), arguments);
    }
    SmallVector<float> initial(static_cast<size_t>(stateType.getDimSize(0)), 0);
    for (int64_t row = 0; row < ofScores.rows; ++row)
      initial[static_cast<size_t>(row)] =
          -std::numeric_limits<float>::infinity();
    Value state = b.create<arith::ConstantOp>(
        DenseElementsAttr::get(stateType, ArrayRef(initial)));
    auto loop = b.create<scf::ForOp>(
        lowering.index(0), lowering.index(llvm::alignTo(keys, keysAtOnce)),
        lowering.index(keysAtOnce), ValueRange{state});
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Reader::Scope scope(lowering);
      Value key = loop.getInductionVar();
      SmallVector<Value> arguments;
      if (isWords) {
        llvm::append_range(arguments, queryLines);
        llvm::append_range(arguments, keyLines);
        arguments.push_back(toI64(firstRow));
      } else {
        arguments.push_back(loaded);
        llvm::append_range(arguments, valueLines);
      }
      arguments.push_back(toI64(key));
      Value scores = call("scores", makeType(ofScores.count, f32), arguments);
      scores = changeScores(scores, ofScores, key);
      arguments.assign({loop.getRegionIterArg(0), scores});
      llvm::append_range(arguments, isWords ? valueLines : keyLines);
      arguments.push_back(toI64(key));
      Value next = call("add", stateType, arguments);
      b.create<scf::YieldOp>(ValueRange{next});
    }
    Value result = call("end", makeType(ofResult.count, f32),
                        ValueRange{loop.getResult(0)});
    store(result, ofResult);
  }

  Value changeScores(Value scores, const Fragment &fragment, Value firstKey) {
    Type f32 = b.getF32Type();
    Value outside =
        makeNumber(lowering, f32, -std::numeric_limits<double>::infinity());
    Type scoreType = getElementType(attention.scores->getResult(0));
    Value changed = scores;
    for (int64_t i = 0; i < fragment.count; ++i) {
      Reader::Scope scope(lowering);
      auto [inTile, inBlock] = locate(fragment, i);
      Value row = lowering.add(firstRow, inTile);
      Value key = lowering.add(firstKey, inBlock), wholeKey = key;
      // What is not there is computed like its neighbours, and not used.
      if (rows % tileRows)
        row = lowering.min(row, lowering.index(rows - 1));
      if (keys % keysAtOnce)
        key = lowering.min(key, lowering.index(keys - 1));
      places.setIndices(attention.rows, row);
      places.setIndices(attention.keys, key);
      lowering.setScalar(attention.scores->getResult(0),
                         roundSum(lowering, extract(scores, i), scoreType));
      Value score = widenFloat(
          lowering,
          lowering.getElement(attention.score,
                              places.getPlace(attention.scoreLayout)));
      if (keys % keysAtOnce)
        score = lowering.select(
            lowering.compare(Predicate::ult, wholeKey, lowering.index(keys)),
            score, outside);
      changed = insert(changed, score, i);
    }
    return changed;
  }

  void store(Value result, const Fragment &fragment) {
    int64_t columns = attention.count(attention.columns);
    OpResult product = attention.product->getResult(0);
    for (int64_t i = 0; i < fragment.count; ++i) {
      Reader::Scope scope(lowering);
      auto [inTile, column] = locate(fragment, i);
      Value row = lowering.add(firstRow, inTile);
      places.setIndices(attention.rows, row);
      places.setIndices(attention.columns, column);
      auto storeOne = [&] {
        lowering.setScalar(product, roundSum(lowering, extract(result, i),
                                             getElementType(product)));
        SmallVector<Value> place = places.getPlace(attention.resultLayout);
        Value last = attention.result == product
                         ? lowering.getElement(product, place)
                         : lowering.getElement(attention.result, place);
        lowering.store(last, getElementType(attention.result), buffer, place);
      };
      Value isInside = lowering.makeTrue();
      bool isSure = rows % tileRows == 0 && columns == headSize;
      if (rows % tileRows)
        isInside = lowering.compare(Predicate::ult, row, lowering.index(rows));
      if (columns != headSize)
        isInside =
            lowering.both(isInside, lowering.compare(Predicate::ult, column,
                                                     lowering.index(columns)));
      if (isSure) {
        storeOne();
        continue;
      }
      lowering.choose(
          isInside, {},
          [&] {
            Reader::Scope inner(lowering);
            storeOne();
            return SmallVector<Value>();
          },
          [] { return SmallVector<Value>(); });
    }
  }

  const Attention &attention;
  Lowering &lowering;
  ImplicitLocOpBuilder &b;
  Type element;
  bool isWords;
  int64_t tileRows, headSize, keys, rows;
  Value queries, keyMatrix, values, buffer, firstRow, thread;
  AttentionPlaces places;
};
} // namespace

void alula::cuda::emitAttention(const Attention &attention,
                                Lowering &lowering) {
  AttentionEmitter(attention, lowering).emit();
}
