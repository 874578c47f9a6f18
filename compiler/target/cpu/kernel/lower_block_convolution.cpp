// Convolutions of reals as products, block by block of the output.
//
// A block is a range of output rows (the last spatial dimension) in a range of
// the dimension before it. A row of the left side are the inputs of one output:
// one piece of memory for each offset in the window. Where the features of the
// input are neighbours and nothing is padded, it is read in place; else the
// inputs of a block are copied first, with zeros around them.

#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/plan/plan.h"
#include "compiler/target/cpu/kernel/block_convolution.h"
#include "compiler/target/cpu/kernel/convolution.h"
#include "compiler/target/cpu/kernel/product_call.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
class BlockConvolution : Convolution {
public:
  BlockConvolution(stablehlo::ConvolutionOp convolution, Lowering &lowering)
      : Convolution(convolution, lowering, getProductTypes(convolution).sum),
        types(getProductTypes(convolution)),
        kernel(op, rhs, getKernelDims(), types.right, lowering),
        final(lowering.getFinalResult(op->getResult(0))) {}

  void emit();

private:
  /// Where the inputs of a block are, and how far apart.
  struct Inputs {
    Value pointer;
    SmallVector<Value> strides;
  };

  MatrixDims getKernelDims() const;
  bool isReadInPlace();
  int64_t getExtent(size_t dim, int64_t outputs) const;
  Inputs findInputs(const ConvPosition &first);
  Inputs copyInputs(const ConvPosition &first);
  bool isCopiedByRoutine();
  void copyByRoutine(Value copy, ArrayRef<Value> sizes,
                     const ConvPosition &first);
  void copyEach(Value copy, ArrayRef<Value> sizes, const ConvPosition &first);
  Value writeOffsets(ArrayRef<Value> strides, size_t dims);
  void emitBlock(const ConvPosition &first);
  void finish(Value tile, const ConvPosition &first, ValueRange counts);

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
  MatrixOperand kernel;
  OpResult final;
  Value buffer;
  /// Outputs of a block: in each spatial dimension, and features.
  SmallVector<int64_t> limits;
  int64_t featureLimit = 1;
  bool inPlace = false;
};

MatrixDims BlockConvolution::getKernelDims() const {
  MatrixDims dims;
  llvm::append_range(dims.rows, numbers.getKernelSpatialDimensions());
  dims.rows.push_back(numbers.getKernelInputFeatureDimension());
  dims.columns.push_back(numbers.getKernelOutputFeatureDimension());
  return dims;
}

/// Inputs that so many neighbouring outputs need.
int64_t BlockConvolution::getExtent(size_t dim, int64_t outputs) const {
  return (outputs - 1) * windows[dim].stride +
         (getKernelSize(dim) - 1) * windows[dim].rhsDilation + 1;
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
    if (window.lhsDilation != 1 || getConstantIntValue(window.paddingLow) != 0 ||
        !input || !output || getExtent(i, *output) > *input)
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
  Value number = lowering.mul(first.batch,
                              distanceOf(numbers.getInputBatchDimension()));
  number = lowering.add(number, lowering.mul(first.group, inputFeaturesOfGroup));
  for (size_t i = 0; i < windows.size(); ++i) {
    inputs.strides.push_back(distanceOf(numbers.getInputSpatialDimensions()[i]));
    Value place =
        lowering.mul(first.place[i], lowering.index(windows[i].stride));
    number = lowering.add(number, lowering.mul(place, inputs.strides[i]));
  }
  inputs.pointer = getElementPointer(lowering, lowering.getBuffer(lhs), number);
  return inputs;
}

BlockConvolution::Inputs
BlockConvolution::copyInputs(const ConvPosition &first) {
  SmallVector<Value> sizes;
  for (size_t i = 0; i < windows.size(); ++i)
    sizes.push_back(lowering.index(getExtent(i, limits[i])));
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
             static_cast<int64_t>(windows.size()) + 1 &&
         llvm::all_of(windows, [](const ConvWindow &window) {
           return window.lhsDilation == 1;
         });
}

/// The last two dimensions at once, for each position in those before.
void BlockConvolution::copyByRoutine(Value copy, ArrayRef<Value> sizes,
                                     const ConvPosition &first) {
  SmallVector<Value> distances = lowering.getStrides(lowering.getShape(lhs));
  auto distanceOf = [&](int64_t dim) {
    return distances[static_cast<size_t>(dim)];
  };
  auto spatial = numbers.getInputSpatialDimensions();
  Value elementBytes = lowering.index(
      getMemoryType(types.left).getIntOrFloatBitWidth() / 8);
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
      ConvWindow window = windows[dim];
      window.rhsDilation = 1;
      return getInputPlace(window, first.place[dim], offset, inside);
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
    for (size_t i = 0; i < windows.size(); ++i) {
      // The offset is one of inputs, whatever the window's dilation.
      ConvWindow window = windows[i];
      window.rhsDilation = 1;
      indices[static_cast<size_t>(numbers.getInputSpatialDimensions()[i])] =
          getInputPlace(window, first.place[i], offsets[i], isInside);
    }
    indices[static_cast<size_t>(numbers.getInputBatchDimension())] = first.batch;
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
          return fillFeatures([&](Value) {
            return lowering.zero(getMemoryType(types.left));
          });
        });
  });
}

/// Where the pieces of a row begin: one for each offset in the first `dims`
/// dimensions of the window.
Value BlockConvolution::writeOffsets(ArrayRef<Value> strides, size_t dims) {
  SmallVector<Value> sizes;
  for (size_t i = 0; i < dims; ++i)
    sizes.push_back(windows[i].kernelSize);
  Value table =
      lowering.createTemporary(lowering.product(sizes), b.getI64Type());
  lowering.forEach(sizes, [&](ValueRange offsets) {
    Value number = lowering.index(0);
    for (size_t i = 0; i < dims; ++i) {
      Value offset = offsets[i];
      if (windows[i].isReversed)
        offset = lowering.sub(lowering.index(getKernelSize(i) - 1), offset);
      Value step = lowering.mul(strides[i], lowering.index(windows[i].rhsDilation));
      number = lowering.add(number, lowering.mul(offset, step));
    }
    b.create<memref::StoreOp>(toInteger(number), table,
                              lowering.linearize(offsets, sizes));
  });
  return table;
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
    addBlocks(window.outputSize, limits[i]);
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

void BlockConvolution::emitBlock(const ConvPosition &first) {
  size_t last = windows.size() - 1;
  // How many outputs there are in this block.
  SmallVector<Value> counts;
  for (auto [i, window] : llvm::enumerate(windows))
    counts.push_back(lowering.min(lowering.index(limits[i]),
                                  lowering.sub(window.outputSize, first.place[i])));
  counts.push_back(lowering.min(lowering.index(featureLimit),
                                lowering.sub(featuresOfGroup, first.feature)));

  Inputs inputs = findInputs(first);
  // The last dimension of the window is part of a piece where it goes over
  // neighbours.
  bool joins = !windows[last].isReversed && windows[last].rhsDilation == 1 &&
               inputs.strides[last] == inputFeaturesOfGroup;
  size_t offsetDims = windows.size() - joins;
  ProductCall call;
  call.depth = inputFeaturesOfGroup;
  if (joins)
    call.depth = lowering.mul(call.depth, windows[last].kernelSize);
  call.pieces = lowering.index(1);
  for (size_t i = 0; i < offsetDims; ++i)
    call.pieces = lowering.mul(call.pieces, windows[i].kernelSize);
  if (offsetDims)
    call.offsets = writeOffsets(inputs.strides, offsetDims);
  Value kernelRows = lowering.mul(call.depth, call.pieces);
  call.columns = counts.back();
  call.columnLimit = featureLimit;
  call.right = kernel.getBlock(
      {}, lowering.index(0), kernelRows,
      lowering.add(lowering.mul(first.group, featuresOfGroup), first.feature),
      call.columns, kernelRows, lowering.index(featureLimit));

  auto stepOf = [&](size_t dim) {
    return lowering.mul(inputs.strides[dim], lowering.index(windows[dim].stride));
  };
  call.rows = counts[last];
  call.left = {inputs.pointer, stepOf(last), lowering.index(1)};
  if (windows.size() > 1) {
    call.groups = counts[last - 1];
    call.leftGroup = stepOf(last - 1);
  }

  auto isLastDims = [&] {
    for (size_t i = 0; i < windows.size(); ++i)
      if (numbers.getOutputSpatialDimensions()[i] != static_cast<int64_t>(i) + 1)
        return false;
    return numbers.getOutputBatchDimension() == 0;
  };
  bool direct = final == op->getResult(0) &&
                getMemoryType(getElementType(final)) == sumType && isLastDims();
  Value tile;
  if (direct) {
    SmallVector<Value> sizes = lowering.getShape(final);
    call.outputRow = sizes.back();
    call.outputGroup = lowering.mul(call.outputRow, windows[last].outputSize);
    call.output = getElementPointer(
        lowering, buffer, lowering.linearize(getOutputIndices(first), sizes));
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
    finish(tile, first, counts);
}

// Goes over the tile in the order of the output.
void BlockConvolution::finish(Value tile, const ConvPosition &first,
                              ValueRange counts) {
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
    ConvPosition at = first;
    for (size_t i = 0; i < windows.size(); ++i)
      at.place[i] = lowering.add(first.place[i], position[i]);
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
