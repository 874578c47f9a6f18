// Convolutions whose window is larger than their output, as those are that give
// the gradient of weights: products whose depth is the window.
//   out[h, w, c, f] = Σ over (n, i, j) of in[n, h + i, w + j, c] * kernel[n, i,
//   j, f]
// With features as neighbours, a row of the left side is one (w, c), since w
// and c are one dimension in memory; the next h is the next group. Inputs that
// are padded are copied first, which is a step of its own.

#include "compiler/kernel/plan/plan.h"
#include "compiler/target/cpu/kernel/block_convolution.h"
#include "compiler/target/cpu/kernel/convolution.h"
#include "compiler/target/cpu/kernel/product_call.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
class WindowProduct : Convolution {
public:
  WindowProduct(stablehlo::ConvolutionOp convolution, Lowering &lowering)
      : Convolution(convolution, lowering, getProductTypes(convolution).sum),
        types(getProductTypes(convolution)),
        final(lowering.getFinalResult(op->getResult(0))) {}

  void emit();

private:
  int64_t get(Value size) const { return *getConstantIntValue(size); }
  int64_t getExtent(const ConvWindow &window) const {
    return (get(window.outputSize) - 1) * window.stride +
           (get(window.kernelSize) - 1) * window.rhsDilation + 1;
  }
  bool isReadInPlace();
  void copyInputs(bool isStep);
  void emitBlock(ValueRange group, Value firstRow, Value firstFeature);

  void finish(Value tile, ValueRange group, Value firstRow, Value firstFeature,
              ValueRange counts);

  ProductTypes types;
  OpResult final;
  Value buffer;
  /// The inputs that windows lie in, the first one at number `first`.
  Value inputs, first;
  SmallVector<Value> strides;
  int64_t rowLimit = 0, rows = 0, featureLimit = 0;
};

bool WindowProduct::isReadInPlace() {
  return lowering.hasBuffer(lhs) &&
         llvm::all_of(windows, [&](const ConvWindow &window) {
           int64_t begin = -get(window.paddingLow);
           return begin >= 0 &&
                  begin + getExtent(window) <= get(window.inputSize);
         });
}

void WindowProduct::copyInputs(bool isStep) {
  SmallVector<Value> sizes{inputFeaturesOfGroup};
  for (const ConvWindow &window : windows)
    sizes.push_back(lowering.index(getExtent(window)));
  SmallVector<Value> places(sizes);
  sizes.push_back(numBatches);
  inputs = lowering.createTemporary(sizes, types.left);
  strides = lowering.getStrides(sizes);
  first = lowering.index(0);
  lowering.forEach(places, [&](ValueRange place) {
    if (isStep)
      b.getInsertionBlock()->getParentOp()->setAttr("kernel.step",
                                                    b.getI64IntegerAttr(0));
    Value isInside = lowering.makeTrue();
    SmallVector<Value> source(place);
    for (auto [i, window] : llvm::enumerate(windows)) {
      source[i + 1] = lowering.sub(place[i + 1], window.paddingLow);
      isInside = lowering.both(
          isInside, lowering.compare(arith::CmpIPredicate::ult, source[i + 1],
                                     window.inputSize));
    }
    auto fill = [&](llvm::function_ref<Value(ValueRange)> getAt) {
      lowering.forEach(numBatches, [&](ValueRange batch) {
        SmallVector<Value> from(source), to(place);
        from.push_back(batch.front());
        to.push_back(batch.front());
        b.create<memref::StoreOp>(getAt(from), inputs, to);
      });
      return SmallVector<Value>();
    };
    lowering.choose(
        isInside, {},
        [&] {
          return fill(
              [&](ValueRange from) { return lowering.getElement(lhs, from); });
        },
        [&] {
          return fill([&](ValueRange) { return lowering.zero(types.left); });
        });
  });
}

void WindowProduct::emit() {
  buffer = lowering.createResult(final);
  bool isStep = false;
  if (isReadInPlace()) {
    inputs = lowering.getBuffer(lhs);
    strides = lowering.getStrides(lowering.getShape(lhs));
    first = lowering.index(0);
    for (auto [i, window] : llvm::enumerate(windows))
      first = lowering.add(first, lowering.mul(lowering.sub(lowering.index(0),
                                                            window.paddingLow),
                                               strides[i + 1]));
  } else {
    isStep = isa<func::FuncOp>(b.getInsertionBlock()->getParentOp());
    copyInputs(isStep);
  }

  const ConvWindow &last = windows.back();
  rows = get(last.outputSize) * get(numBatches);
  ArrayRef<int64_t> tile = getStage(op).getTile();
  rowLimit = std::min(rows, tile[0]);
  featureLimit = std::min(get(featuresOfGroup), tile[1]);
  int64_t depth = get(inputFeaturesOfGroup);
  SmallVector<Value> grid;
  for (const ConvWindow &window : windows) {
    depth *= get(window.kernelSize);
    if (&window == &last)
      continue;
    grid.push_back(window.outputSize);
  }
  int64_t features = llvm::divideCeil(get(featuresOfGroup), featureLimit);
  grid.push_back(lowering.index(llvm::divideCeil(rows, rowLimit)));
  grid.push_back(lowering.index(features));
  lowering.forEachBlock(
      lowering.product(grid),
      rowLimit * featureLimit * depth / getProductsPerStep(lowering.machine),
      [&](Value number) {
        Operation *loop = b.getInsertionBlock()->getParentOp();
        if (isStep && isa<scf::ParallelOp>(loop))
          loop->setAttr("kernel.step", b.getI64IntegerAttr(1));
        SmallVector<Value> at = lowering.delinearize(number, grid);
        emitBlock(ValueRange(at).drop_back(2),
                  lowering.mul(at[at.size() - 2], lowering.index(rowLimit)),
                  lowering.mul(at.back(), lowering.index(featureLimit)));
      });
}

void WindowProduct::emitBlock(ValueRange group, Value firstRow,
                              Value firstFeature) {
  ProductCall call;
  // Pieces are rows of windows.
  SmallVector<Value> pieceSizes{inputFeaturesOfGroup};
  for (const ConvWindow &window : ArrayRef(windows).drop_back())
    pieceSizes.push_back(window.kernelSize);
  call.pieces = lowering.product(pieceSizes);
  Value offsets = lowering.createTemporary(call.pieces, b.getI64Type());
  call.offsets = lowering.getPointer(offsets);
  lowering.forEach(pieceSizes, [&](ValueRange piece) {
    Value number = lowering.mul(piece[0], strides[0]);
    for (size_t i = 1; i < piece.size(); ++i)
      number = lowering.add(
          number, lowering.mul(piece[i],
                               lowering.mul(strides[i],
                                            lowering.index(
                                                windows[i - 1].rhsDilation))));
    b.create<memref::StoreOp>(
        b.create<arith::IndexCastOp>(b.getI64Type(), number), offsets,
        lowering.linearize(piece, pieceSizes));
  });
  const ConvWindow &last = windows.back();
  call.depth = last.kernelSize;
  Value begin = lowering.add(first, firstRow);
  for (auto [i, place] : llvm::enumerate(group))
    begin = lowering.add(
        begin,
        lowering.mul(place, lowering.mul(strides[i + 1],
                                         lowering.index(windows[i].stride))));
  call.left = {getElementPointer(lowering, inputs, begin), lowering.index(1),
               lowering.mul(numBatches, lowering.index(last.rhsDilation))};
  call.rows = lowering.min(lowering.index(rowLimit),
                           lowering.sub(lowering.index(rows), firstRow));
  call.columns = lowering.min(lowering.index(featureLimit),
                              lowering.sub(featuresOfGroup, firstFeature));
  call.columnLimit = featureLimit;
  call.right = {
      getElementPointer(lowering, lowering.getBuffer(rhs), firstFeature),
      featuresOfGroup, lowering.index(1)};
  if (final != op->getResult(0)) {
    call.outputRow = lowering.index(featureLimit);
    Value tile = lowering.createTemporary(
        {lowering.index(rowLimit), call.outputRow}, types.sum);
    call.output = lowering.getPointer(tile);
    callProduct(lowering, types, call);
    finish(tile, group, firstRow, firstFeature, {call.rows, call.columns});
    return;
  }
  call.outputRow = featuresOfGroup;
  SmallVector<Value> outerSizes;
  for (const ConvWindow &window : ArrayRef(windows).drop_back())
    outerSizes.push_back(window.outputSize);
  Value row = lowering.add(
      lowering.mul(lowering.linearize(group, outerSizes), lowering.index(rows)),
      firstRow);
  call.output = getElementPointer(
      lowering, buffer,
      lowering.add(lowering.mul(row, featuresOfGroup), firstFeature));
  callProduct(lowering, types, call);
}

/// The epilogue of each sum of a block. A row is a place of the last dimension
/// and a feature of the input.
void WindowProduct::finish(Value tile, ValueRange group, Value firstRow,
                           Value firstFeature, ValueRange counts) {
  lowering.forEach(counts, [&](ValueRange offsets) {
    SmallVector<Value> indices(group);
    llvm::append_range(
        indices, lowering.delinearize(lowering.add(firstRow, offsets[0]),
                                      {windows.back().outputSize, numBatches}));
    indices.push_back(lowering.add(firstFeature, offsets[1]));
    Value sum = b.create<memref::LoadOp>(tile, offsets);
    lowering.storeFinal(op->getResult(0), sum, buffer, indices);
  });
}
} // namespace

void alula::cpu::emitWindowProduct(stablehlo::ConvolutionOp convolution,
                                   Lowering &lowering) {
  WindowProduct(convolution, lowering).emit();
}
