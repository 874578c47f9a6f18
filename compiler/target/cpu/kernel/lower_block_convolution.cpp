// Convolutions of reals as products, block by block of the output.
//
// A block is a range of output rows (the last spatial dimension) in a range of
// the dimension before it. A row of the left side are the inputs of one output:
// one piece of memory for each offset in the window. Where the features of the
// input are neighbours and nothing is padded, it is read in place; else the
// inputs of a block are copied first, with zeros around them.
//
// With a dilated input outputs of several phases (plan/convolution_phases.h)
// take turns. A block is a range of outputs of each phase: they read the same
// inputs, each phase with some elements of the window, and are products whose
// rows lie a period apart.

#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/library/product.h"
#include "compiler/kernel/plan/convolution_phases.h"
#include "compiler/kernel/plan/plan.h"
#include "compiler/target/cpu/kernel/block_convolution.h"
#include "compiler/target/cpu/kernel/convolution.h"
#include "compiler/target/cpu/kernel/product_call.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
class BlockConvolution : Convolution {
public:
  BlockConvolution(stablehlo::ConvolutionOp convolution, Lowering &lowering)
      : Convolution(convolution, lowering, getProductTypes(convolution).sum),
        types(getProductTypes(convolution)),
        kernel(std::in_place, op, rhs, getKernelDims(), types.right, lowering),
        final(lowering.getFinalResult(op->getResult(0))) {
    for (const ConvWindow &window : windows)
      phases.emplace_back(
          WindowNumbers{window.stride, window.lhsDilation, window.rhsDilation,
                        *getConstantIntValue(window.paddingLow),
                        *getConstantIntValue(window.kernelSize)});
    isDilated = llvm::any_of(windows, [](const ConvWindow &window) {
      return window.lhsDilation != 1;
    });
    // Elements of the window whose matrices lie apart.
    if (!kernel->isInPlace()) {
      MatrixOperand apart(op, rhs, getKernelDims(/*areApart=*/true),
                          types.right, lowering);
      isApart = apart.isInPlace();
      if (isApart)
        kernel.emplace(apart);
    }
  }

  void emit();

private:
  /// Where the inputs of a block are, and how far apart.
  struct Inputs {
    Value pointer;
    SmallVector<Value> strides;
  };

  /// The pieces of a row of the left side, which are the elements of the window
  /// that a phase reads: numbers in the code's own data. Of each combination of
  /// phases, in order, there is room for `most`.
  struct Pieces {
    /// Where they begin, and where their rows of the right side do.
    Value lefts, rights;
    /// How many a phase has: one number, or a table.
    Value counts;
    int64_t most = 1;
  };

  MatrixDims getKernelDims(bool areApart = false) const;
  bool isReadInPlace();
  Inputs findInputs(const ConvPosition &first);
  Inputs copyInputs(const ConvPosition &first);
  bool isCopiedByRoutine();
  ConvWindow getCopied(size_t dim) const;
  void copyByRoutine(Value copy, ArrayRef<Value> sizes,
                     const ConvPosition &first);
  void copyEach(Value copy, ArrayRef<Value> sizes, const ConvPosition &first);
  Value makeOffsets(ArrayRef<Value> strides, size_t dims);
  SmallVector<Value> getTapStrides(const MatrixBlock &right);
  Pieces makePieces(const Inputs &inputs, const MatrixBlock &right);
  SmallVector<Value> countPhases();
  Value countOutputs(size_t dim, Value phase);
  void emitBlock(const ConvPosition &first);
  void multiplyPhase(const ConvPosition &first, const Inputs &inputs,
                     const MatrixBlock &right, Value features,
                     const Pieces &pieces, ValueRange phase);
  ConvPosition getPlaceOf(const ConvPosition &first, ValueRange offsets,
                          ValueRange phase);
  void finish(Value tile, const ConvPosition &first, ValueRange counts,
              ValueRange phase);

  int64_t getKernelSize(size_t dim) const {
    return *getConstantIntValue(windows[dim].kernelSize);
  }
  int64_t getFeatures() const {
    return *getConstantIntValue(inputFeaturesOfGroup);
  }
  Value toInteger(Value index) {
    return b.create<arith::IndexCastOp>(b.getI64Type(), index);
  }

  ProductTypes types;
  std::optional<MatrixOperand> kernel;
  /// Whether the kernel is one matrix for each element of the window, in any
  /// order, instead of one whose rows follow each other.
  bool isApart = false;
  /// Of each spatial dimension; whether some have several.
  SmallVector<ConvolutionPhases> phases;
  bool isDilated = false;
  OpResult final;
  Value buffer;
  /// Outputs of a block, of each phase: in each spatial dimension, and
  /// features.
  SmallVector<int64_t> limits;
  int64_t featureLimit = 1;
  bool inPlace = false;
};

MatrixDims BlockConvolution::getKernelDims(bool areApart) const {
  MatrixDims dims;
  llvm::append_range(areApart ? dims.batch : dims.rows,
                     numbers.getKernelSpatialDimensions());
  dims.rows.push_back(numbers.getKernelInputFeatureDimension());
  dims.columns.push_back(numbers.getKernelOutputFeatureDimension());
  return dims;
}

bool BlockConvolution::isReadInPlace() {
  int64_t last = static_cast<int64_t>(windows.size()) + 1;
  if (!lowering.hasBuffer(lhs) || getElementType(lhs) != types.left ||
      numbers.getInputFeatureDimension() != last)
    return false;
  for (size_t i = 0; i < windows.size(); ++i) {
    const ConvWindow &window = windows[i];
    auto input = getConstantIntValue(window.inputSize),
         output = getConstantIntValue(window.outputSize);
    const ConvolutionPhases &of = phases[i];
    if (!input || !output || of.begin < 0 ||
        of.begin + of.getExtent(of.countOutputs(*output)) > *input)
      return false;
  }
  return true;
}

// Element (place, feature) of the input is at `pointer` + place * strides.
BlockConvolution::Inputs
BlockConvolution::findInputs(const ConvPosition &first) {
  if (!inPlace)
    return copyInputs(first);
  SmallVector<Value> distances = lowering.getStrides(lowering.getShape(lhs));
  Inputs inputs;
  auto distanceOf = [&](int64_t dim) {
    return distances[static_cast<size_t>(dim)];
  };
  Value number =
      lowering.mul(first.batch, distanceOf(numbers.getInputBatchDimension()));
  number =
      lowering.add(number, lowering.mul(first.group, inputFeaturesOfGroup));
  for (size_t i = 0; i < windows.size(); ++i) {
    inputs.strides.push_back(
        distanceOf(numbers.getInputSpatialDimensions()[i]));
    Value place = lowering.add(
        lowering.mul(first.place[i], lowering.index(phases[i].stride)),
        lowering.index(phases[i].begin));
    number = lowering.add(number, lowering.mul(place, inputs.strides[i]));
  }
  inputs.pointer = getElementPointer(lowering, lowering.getBuffer(lhs), number);
  return inputs;
}

BlockConvolution::Inputs
BlockConvolution::copyInputs(const ConvPosition &first) {
  SmallVector<Value> sizes;
  for (size_t i = 0; i < windows.size(); ++i)
    sizes.push_back(lowering.index(phases[i].getExtent(limits[i])));
  SmallVector<Value> all(sizes);
  all.push_back(inputFeaturesOfGroup);
  Value copy = lowering.createTemporary(all, getMemoryType(types.left));
  if (isCopiedByRoutine())
    copyByRoutine(copy, sizes, first);
  else
    copyEach(copy, sizes, first);
  Inputs inputs{lowering.getPointer(copy), lowering.getStrides(all)};
  inputs.strides.pop_back();
  return inputs;
}

/// Whether pixels are pieces of memory that are copied as they are.
bool BlockConvolution::isCopiedByRoutine() {
  return lowering.hasBuffer(lhs) && getElementType(lhs) == types.left &&
         numbers.getInputFeatureDimension() ==
             static_cast<int64_t>(windows.size()) + 1;
}

/// What a block reads, without the gaps of dilations.
ConvWindow BlockConvolution::getCopied(size_t dim) const {
  ConvWindow window = windows[dim];
  window.stride = phases[dim].stride;
  window.lhsDilation = window.rhsDilation = 1;
  window.paddingLow = lowering.index(-phases[dim].begin);
  return window;
}

/// The last two dimensions at once, for each position in those before.
void BlockConvolution::copyByRoutine(Value copy, ArrayRef<Value> sizes,
                                     const ConvPosition &first) {
  SmallVector<Value> distances = lowering.getStrides(lowering.getShape(lhs));
  auto distanceOf = [&](int64_t dim) {
    return distances[static_cast<size_t>(dim)];
  };
  auto spatial = numbers.getInputSpatialDimensions();
  Value elementBytes =
      lowering.index(getMemoryType(types.left).getIntOrFloatBitWidth() / 8);
  auto toBytes = [&](Value elements) {
    return toInteger(lowering.mul(elements, elementBytes));
  };
  size_t last = sizes.size() - 1, outer = sizes.size() < 2 ? 0 : last - 1;
  Value image = lowering.add(
      lowering.mul(first.batch, distanceOf(numbers.getInputBatchDimension())),
      lowering.mul(first.group, inputFeaturesOfGroup));
  lowering.forEach(sizes.take_front(outer), [&](ValueRange offsets) {
    Value isInside = lowering.makeTrue(), ignored = isInside, from = image;
    SmallVector<Value> target(offsets);
    target.resize(sizes.size() + 1, lowering.index(0));
    auto getPlace = [&](size_t dim, Value offset, Value &inside) {
      return getInputPlace(getCopied(dim), first.place[dim], offset, inside);
    };
    for (size_t i = 0; i < outer; ++i)
      from = lowering.add(from, lowering.mul(getPlace(i, offsets[i], isInside),
                                             distanceOf(spatial[i])));
    SmallVector<Value> shape(sizes);
    shape.push_back(inputFeaturesOfGroup);
    Value zero = lowering.index(0), one = lowering.index(1);
    // An image of one dimension has one row.
    bool hasRows = sizes.size() > 1;
    Value rowLimit = hasRows ? windows[last - 1].inputSize : one;
    rowLimit = lowering.select(isInside, rowLimit, zero);
    lowering.callLibrary(
        "alula_copy_window",
        {getElementPointer(lowering, copy, lowering.linearize(target, shape)),
         toInteger(hasRows ? sizes[last - 1] : one), toInteger(sizes[last]),
         toBytes(inputFeaturesOfGroup),
         getElementPointer(lowering, lowering.getBuffer(lhs), from),
         toBytes(hasRows ? distanceOf(spatial[last - 1]) : zero),
         toBytes(distanceOf(spatial[last])),
         toInteger(hasRows ? getPlace(last - 1, zero, ignored) : zero),
         toInteger(rowLimit), toInteger(getPlace(last, zero, ignored)),
         toInteger(windows[last].inputSize)});
  });
}

void BlockConvolution::copyEach(Value copy, ArrayRef<Value> sizes,
                                const ConvPosition &first) {
  lowering.forEach(sizes, [&](ValueRange offsets) {
    Value isInside = lowering.makeTrue();
    SmallVector<Value> indices(windows.size() + 2);
    for (size_t i = 0; i < windows.size(); ++i)
      indices[static_cast<size_t>(numbers.getInputSpatialDimensions()[i])] =
          getInputPlace(getCopied(i), first.place[i], offsets[i], isInside);
    indices[static_cast<size_t>(numbers.getInputBatchDimension())] =
        first.batch;
    auto fillFeatures = [&](llvm::function_ref<Value(Value feature)> get) {
      lowering.forEach(inputFeaturesOfGroup, [&](ValueRange feature) {
        SmallVector<Value> target(offsets);
        target.push_back(feature.front());
        Value value = get(lowering.add(
            lowering.mul(first.group, inputFeaturesOfGroup), feature.front()));
        b.create<memref::StoreOp>(value, copy, target);
      });
      return SmallVector<Value>();
    };
    lowering.choose(
        isInside, {},
        [&] {
          return fillFeatures([&](Value feature) {
            indices[static_cast<size_t>(numbers.getInputFeatureDimension())] =
                feature;
            Value value = lowering.getElement(lhs, indices);
            return getElementType(lhs) == types.left
                       ? value
                       : widenForSum(lowering, op, value, getElementType(lhs),
                                     types.left);
          });
        },
        [&] {
          return fillFeatures(
              [&](Value) { return lowering.zero(getMemoryType(types.left)); });
        });
  });
}

/// Where the pieces of a row begin: one for each offset in the first `dims`
/// dimensions of the window.
Value BlockConvolution::makeOffsets(ArrayRef<Value> strides, size_t dims) {
  SmallVector<int64_t> sizes, steps = getNumbers(strides), offsets;
  for (size_t i = 0; i < dims; ++i)
    sizes.push_back(getKernelSize(i));
  forEachPlace(sizes, [&](ArrayRef<int64_t> at) {
    int64_t number = 0;
    for (size_t i = 0; i < dims; ++i)
      number += (windows[i].isReversed ? sizes[i] - 1 - at[i] : at[i]) *
                windows[i].rhsDilation * steps[i];
    offsets.push_back(number);
  });
  return lowering.createTable(offsets);
}

/// How far apart the rows of neighbouring elements of the window are.
SmallVector<Value> BlockConvolution::getTapStrides(const MatrixBlock &right) {
  SmallVector<Value> strides(windows.size());
  if (isApart) {
    for (auto [stride, dim] :
         llvm::zip_equal(strides, numbers.getKernelSpatialDimensions()))
      stride = kernel->getStride(dim);
    return strides;
  }
  Value row = right.rowStride;
  if (!row)
    row = lowering.index(ALULA_PANEL_BYTES * 8 /
                         getMemoryType(types.right).getIntOrFloatBitWidth());
  Value stride = lowering.mul(row, inputFeaturesOfGroup);
  for (size_t i = windows.size(); i-- > 0;) {
    strides[i] = stride;
    stride = lowering.mul(stride, windows[i].kernelSize);
  }
  return strides;
}

BlockConvolution::Pieces
BlockConvolution::makePieces(const Inputs &inputs, const MatrixBlock &right) {
  SmallVector<int64_t> steps = getNumbers(inputs.strides),
                       tapSteps = getNumbers(getTapStrides(right)), periods;
  Pieces pieces;
  for (const ConvolutionPhases &of : phases) {
    pieces.most *= std::max<int64_t>(of.mostTaps, 1);
    periods.push_back(static_cast<int64_t>(of.phases.size()));
  }
  SmallVector<int64_t> lefts, rights, counts;
  forEachPlace(periods, [&](ArrayRef<int64_t> numbers) {
    SmallVector<int64_t> taps;
    auto phaseOf = [&](size_t dim) {
      return phases[dim].phases[static_cast<size_t>(numbers[dim])];
    };
    for (size_t i = 0; i < windows.size(); ++i)
      taps.push_back(phaseOf(i).numTaps);
    counts.push_back(computeProduct(taps));
    forEachPlace(taps, [&](ArrayRef<int64_t> tap) {
      int64_t left = 0, place = 0;
      for (auto [i, of] : llvm::enumerate(phases)) {
        left += (phaseOf(i).first - of.begin + tap[i] * of.tapStep) * steps[i];
        int64_t element = phaseOf(i).firstTap + tap[i] * of.tapPeriod;
        place +=
            (windows[i].isReversed ? getKernelSize(i) - 1 - element : element) *
            tapSteps[i];
      }
      lefts.push_back(left);
      rights.push_back(place);
    });
    auto size = counts.size() * static_cast<size_t>(pieces.most);
    lefts.resize(size);
    rights.resize(size);
  });
  pieces.lefts = lowering.createTable(lefts);
  pieces.rights = lowering.createTable(rights);
  pieces.counts = llvm::all_equal(counts) ? lowering.index(counts.front())
                                          : lowering.createTable(counts);
  return pieces;
}

/// Of each dimension.
SmallVector<Value> BlockConvolution::countPhases() {
  return llvm::map_to_vector(phases, [&](const ConvolutionPhases &of) {
    return lowering.index(static_cast<int64_t>(of.phases.size()));
  });
}

void BlockConvolution::emit() {
  if (!lowering.hasBuffer(lhs) && !lhs.hasOneUse())
    lowering.getBuffer(lhs);
  buffer = lowering.createResult(final);
  inPlace = isReadInPlace();
  ArrayRef<int64_t> tile = getStage(op).getTile();
  limits = llvm::to_vector(tile.drop_back());
  featureLimit = tile.back();
  SmallVector<Value> grid{numBatches, numGroups}, sizes;
  auto addBlocks = [&](Value size, int64_t limit) {
    sizes.push_back(lowering.index(limit));
    grid.push_back(lowering.ceilDiv(size, sizes.back()));
  };
  int64_t outputs = featureLimit, products = getFeatures();
  for (auto [i, window] : llvm::enumerate(windows)) {
    addBlocks(
        lowering.ceilDiv(window.outputSize, lowering.index(phases[i].period)),
        limits[i]);
    // All phases together multiply by each element of the window once.
    outputs *= limits[i];
    products *= getKernelSize(i);
  }
  addBlocks(featuresOfGroup, featureLimit);
  int64_t steps = outputs * products / getProductsPerStep(lowering.machine);
  lowering.forEachBlock(lowering.product(grid), steps, [&](Value number) {
    SmallVector<Value> at = lowering.delinearize(number, grid);
    ConvPosition first{at[0], at[1], lowering.mul(at.back(), sizes.back()), {}};
    for (size_t i = 0; i < windows.size(); ++i)
      first.place.push_back(lowering.mul(at[i + 2], sizes[i]));
    emitBlock(first);
  });
}

/// Outputs of a phase in one dimension.
Value BlockConvolution::countOutputs(size_t dim, Value phase) {
  Value size = windows[dim].outputSize;
  if (phases[dim].period == 1)
    return size;
  return lowering.ceilDiv(lowering.sub(size, lowering.min(phase, size)),
                          lowering.index(phases[dim].period));
}

void BlockConvolution::emitBlock(const ConvPosition &first) {
  Value features = lowering.min(lowering.index(featureLimit),
                                lowering.sub(featuresOfGroup, first.feature));
  Inputs inputs = findInputs(first);
  Value firstColumn =
      lowering.add(lowering.mul(first.group, featuresOfGroup), first.feature);
  Value rows = inputFeaturesOfGroup;
  SmallVector<Value> begin;
  if (isApart)
    begin.assign(windows.size(), lowering.index(0));
  else
    for (const ConvWindow &window : windows)
      rows = lowering.mul(rows, window.kernelSize);
  MatrixBlock right =
      kernel->getBlock(begin, lowering.index(0), rows, firstColumn, features,
                       rows, lowering.index(featureLimit));
  Pieces pieces;
  if (isDilated || isApart)
    pieces = makePieces(inputs, right);
  // In the order of their outputs.
  lowering.fold(countPhases(), {}, [&](ValueRange phase, ValueRange) {
    multiplyPhase(first, inputs, right, features, pieces, phase);
    return SmallVector<Value>();
  });
}

void BlockConvolution::multiplyPhase(const ConvPosition &first,
                                     const Inputs &inputs,
                                     const MatrixBlock &right, Value features,
                                     const Pieces &pieces, ValueRange phase) {
  size_t last = windows.size() - 1;
  // How many outputs there are in this block.
  SmallVector<Value> counts;
  for (size_t i = 0; i < windows.size(); ++i) {
    Value size = countOutputs(i, phase[i]);
    // A block may begin behind the last output of a phase.
    if (phases[i].period > 1)
      size = lowering.sub(size, lowering.min(size, first.place[i]));
    else
      size = lowering.sub(size, first.place[i]);
    counts.push_back(lowering.min(lowering.index(limits[i]), size));
  }
  counts.push_back(features);

  ProductCall call;
  call.right = right;
  if (pieces.lefts) {
    Value number = lowering.linearize(phase, countPhases());
    Value at = lowering.mul(number, lowering.index(pieces.most));
    call.depth = inputFeaturesOfGroup;
    call.pieces = pieces.counts;
    if (isa<MemRefType>(call.pieces.getType()))
      call.pieces = b.create<arith::IndexCastOp>(
          b.getIndexType(),
          b.create<memref::LoadOp>(pieces.counts, ValueRange(number)));
    call.offsets = getElementPointer(lowering, pieces.lefts, at);
    call.rightOffsets = getElementPointer(lowering, pieces.rights, at);
  } else {
    // The last dimension of the window is part of a piece where it goes over
    // neighbours.
    bool joins = !windows[last].isReversed && windows[last].rhsDilation == 1 &&
                 inputs.strides[last] == inputFeaturesOfGroup;
    size_t offsetDims = windows.size() - joins;
    call.depth = inputFeaturesOfGroup;
    if (joins)
      call.depth = lowering.mul(call.depth, windows[last].kernelSize);
    call.pieces = lowering.index(1);
    for (size_t i = 0; i < offsetDims; ++i)
      call.pieces = lowering.mul(call.pieces, windows[i].kernelSize);
    if (offsetDims)
      call.offsets =
          lowering.getPointer(makeOffsets(inputs.strides, offsetDims));
  }
  call.columns = features;
  call.columnLimit = featureLimit;

  auto stepOf = [&](size_t dim) {
    return lowering.mul(inputs.strides[dim],
                        lowering.index(phases[dim].stride));
  };
  call.rows = counts[last];
  // A block has one place of each dimension further out, or none where the
  // phase has fewer outputs.
  for (size_t i = 0; i + 2 < windows.size(); ++i)
    if (phases[i].period > 1)
      call.rows = lowering.mul(call.rows, counts[i]);
  call.left = {inputs.pointer, stepOf(last), lowering.index(1)};
  if (windows.size() > 1) {
    call.groups = counts[last - 1];
    call.leftGroup = stepOf(last - 1);
  }

  auto isLastDims = [&] {
    for (size_t i = 0; i < windows.size(); ++i)
      if (numbers.getOutputSpatialDimensions()[i] !=
          static_cast<int64_t>(i) + 1)
        return false;
    return numbers.getOutputBatchDimension() == 0;
  };
  bool direct = final == op->getResult(0) &&
                getMemoryType(getElementType(final)) == sumType && isLastDims();
  Value tile;
  if (direct) {
    SmallVector<Value> sizes = lowering.getShape(final);
    auto periodOf = [&](size_t dim) {
      return lowering.index(phases[dim].period);
    };
    call.outputRow = lowering.mul(sizes.back(), periodOf(last));
    if (windows.size() > 1)
      call.outputGroup =
          lowering.mul(lowering.mul(sizes.back(), windows[last].outputSize),
                       periodOf(last - 1));
    SmallVector<Value> origin(windows.size(), lowering.index(0));
    call.output = getElementPointer(
        lowering, buffer,
        lowering.linearize(getOutputIndices(getPlaceOf(first, origin, phase)),
                           sizes));
  } else {
    SmallVector<Value> sizes;
    for (int64_t limit : limits)
      sizes.push_back(lowering.index(limit));
    sizes.push_back(lowering.index(featureLimit));
    tile = lowering.createTemporary(sizes, sumType);
    call.output = lowering.getPointer(tile);
    call.outputRow = sizes.back();
    call.outputGroup = lowering.mul(call.outputRow, sizes[last]);
  }
  callProduct(lowering, types, call);
  if (!direct)
    finish(tile, first, counts, phase);
}

/// Outputs of the phase, counted from the block's first one.
ConvPosition BlockConvolution::getPlaceOf(const ConvPosition &first,
                                          ValueRange offsets,
                                          ValueRange phase) {
  ConvPosition at = first;
  for (auto [i, offset] : llvm::enumerate(offsets))
    at.place[i] =
        lowering.add(lowering.mul(lowering.add(first.place[i], offset),
                                  lowering.index(phases[i].period)),
                     phase[i]);
  return at;
}

// Goes over the tile in the order of the output.
void BlockConvolution::finish(Value tile, const ConvPosition &first,
                              ValueRange counts, ValueRange phase) {
  size_t rank = windows.size() + 2;
  // Which dimension of the tile is which of the output; the batch is none.
  SmallVector<size_t> tileDims;
  SmallVector<Value> sizes;
  for (size_t dim = 0; dim < rank; ++dim) {
    auto outputDim = static_cast<int64_t>(dim);
    if (outputDim == numbers.getOutputBatchDimension())
      continue;
    auto spatial = numbers.getOutputSpatialDimensions();
    auto *found = llvm::find(spatial, outputDim);
    tileDims.push_back(static_cast<size_t>(found - spatial.begin()));
    sizes.push_back(counts[tileDims.back()]);
  }
  lowering.forEach(sizes, [&](ValueRange offsets) {
    SmallVector<Value> position(windows.size() + 1);
    for (auto [dim, offset] : llvm::zip_equal(tileDims, offsets))
      position[dim] = offset;
    ConvPosition at = getPlaceOf(first, ArrayRef(position).drop_back(), phase);
    at.feature = lowering.add(first.feature, position.back());
    Value sum = b.create<memref::LoadOp>(tile, position);
    lowering.storeFinal(op->getResult(0), roundSum(lowering, sum, element),
                        buffer, getOutputIndices(at));
  });
}
} // namespace

void alula::cpu::emitBlockConvolution(stablehlo::ConvolutionOp convolution,
                                      Lowering &lowering) {
  BlockConvolution(convolution, lowering).emit();
}
