// Convolutions, in any layout. The innermost loop goes over neighbours of the
// output, a row, where the layout allows: the element of one operand then stays
// in a register and the other operand is read in order.

#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/plan/forms.h"
#include "compiler/kernel/plan/plan.h"
#include "compiler/target/cpu/kernel/block_convolution.h"
#include "compiler/target/cpu/kernel/convolution.h"
#include "compiler/target/cpu/kernel/depthwise_call.h"
#include "compiler/target/cpu/kernel/families.h"
#include "compiler/target/cpu/kernel/few_sums.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
/// What the innermost loop goes over.
enum class Row { None, Features, Groups, Spatial };

class ConvEmitter : Convolution {
public:
  template <typename Op>
  ConvEmitter(Op convolution, Lowering &lowering)
      : Convolution(convolution, lowering) {}
  void emit();

private:
  Row chooseRow();
  Value getProductSum(const ConvPosition &at, ValueRange offsets, Value feature,
                      ValueRange inputPlace, Value sum);
  void emitElements();
  void emitFewFeatures();
  void emitRows(Row row);
  void addRow(Row row, ConvPosition at, ValueRange offsets, Value feature,
              function_ref<void(const ConvPosition &, ValueRange)> addOne);
};

Row ConvEmitter::chooseRow() {
  // Threads have an element each.
  if (lowering.machine.blockThreads > 1)
    return Row::None;
  int64_t last =
      cast<RankedTensorType>(op->getResult(0).getType()).getRank() - 1;
  if (numbers.getOutputFeatureDimension() == last &&
      liesByOutputs(numbers, cast<RankedTensorType>(rhs.getType())))
    return getConstantIntValue(featuresOfGroup) == 1 &&
                   getConstantIntValue(numGroups) != 1
               ? Row::Groups
               : Row::Features;
  if (windows.empty() || windows.back().lhsDilation != 1 ||
      numbers.getOutputSpatialDimensions().back() != last)
    return Row::None;
  return Row::Spatial;
}

Value ConvEmitter::getProductSum(const ConvPosition &at, ValueRange offsets,
                                 Value feature, ValueRange inputPlace,
                                 Value sum) {
  SmallVector<Value> input(windows.size() + 2), kernel(windows.size() + 2);
  input[static_cast<size_t>(numbers.getInputBatchDimension())] =
      batchGroups > 1
          ? lowering.add(lowering.mul(at.group, numBatches), at.batch)
          : at.batch;
  input[static_cast<size_t>(numbers.getInputFeatureDimension())] =
      featureGroups > 1
          ? lowering.add(lowering.mul(at.group, inputFeaturesOfGroup), feature)
          : feature;
  kernel[static_cast<size_t>(numbers.getKernelInputFeatureDimension())] =
      feature;
  kernel[static_cast<size_t>(numbers.getKernelOutputFeatureDimension())] =
      lowering.add(lowering.mul(at.group, featuresOfGroup), at.feature);
  for (size_t i = 0; i < windows.size(); ++i) {
    input[static_cast<size_t>(numbers.getInputSpatialDimensions()[i])] =
        inputPlace[i];
    Value offset = offsets[i];
    if (windows[i].isReversed)
      offset = lowering.sub(
          lowering.sub(windows[i].kernelSize, lowering.index(1)), offset);
    kernel[static_cast<size_t>(numbers.getKernelSpatialDimensions()[i])] =
        offset;
  }
  auto load = [&](Value tensor, ValueRange indices) {
    return widenForSum(lowering, op, lowering.getElement(tensor, indices),
                       getElementType(tensor), sumType);
  };
  Value count = inputFeaturesOfGroup;
  for (const ConvWindow &window : windows)
    count = lowering.mul(count, window.kernelSize);
  return multiplyAdd(lowering, load(lhs, input), load(rhs, kernel), sum,
                     getConstantIntValue(count));
}

// One element of the output after the other.
void ConvEmitter::emitElements() {
  Value buffer = lowering.createResult(op->getResult(0));
  SmallVector<Value> outer{numBatches, numGroups, featuresOfGroup}, inner;
  for (const ConvWindow &window : windows) {
    outer.push_back(window.outputSize);
    inner.push_back(window.kernelSize);
  }
  inner.push_back(inputFeaturesOfGroup);
  lowering.forEach(outer, [&](ValueRange indices) {
    ConvPosition at{indices[0], indices[1], indices[2],
                    llvm::to_vector(indices.drop_front(3))};
    Value sum = lowering.fold(
        inner, lowering.zero(sumType), [&](ValueRange steps, ValueRange sums) {
          Value isInside = lowering.makeTrue();
          SmallVector<Value> place;
          for (auto [window, output, offset] :
               llvm::zip_equal(windows, at.place, steps.drop_back()))
            place.push_back(getInputPlace(window, output, offset, isInside));
          return lowering.choose(
              isInside, sumType,
              [&] {
                return SmallVector<Value>{getProductSum(
                    at, steps.drop_back(), steps.back(), place, sums.front())};
              },
              [&] { return llvm::to_vector(sums); });
        })[0];
    lowering.store(roundSum(lowering, sum, element), element, buffer,
                   getOutputIndices(at));
  });
}

// Sums of a few features of one place, in registers. Whether an element of the
// window is inside is asked once for all input features.
void ConvEmitter::emitFewFeatures() {
  Value buffer = lowering.createResult(op->getResult(0));
  SmallVector<Value> outer{numBatches, numGroups}, inner;
  for (const ConvWindow &window : windows) {
    outer.push_back(window.outputSize);
    inner.push_back(window.kernelSize);
  }
  lowering.forEach(outer, [&](ValueRange indices) {
    ConvPosition at{indices[0], indices[1], Value(),
                    llvm::to_vector(indices.drop_front(2))};
    forEachFew(lowering, featuresOfGroup, [&](ArrayRef<Value> features) {
      SmallVector<Type> types(features.size(), sumType);
      SmallVector<Value> zeros(features.size(), lowering.zero(sumType));
      auto addFeature = [&](ValueRange offsets, ValueRange place, Value feature,
                            ValueRange sums) {
        SmallVector<Value> next;
        for (auto [output, sum] : llvm::zip_equal(features, sums)) {
          at.feature = output;
          next.push_back(getProductSum(at, offsets, feature, place, sum));
        }
        return next;
      };
      SmallVector<Value> sums = lowering.fold(
          inner, zeros, [&](ValueRange offsets, ValueRange carried) {
            Value isInside = lowering.makeTrue();
            SmallVector<Value> place;
            for (auto [window, output, offset] :
                 llvm::zip_equal(windows, at.place, offsets))
              place.push_back(getInputPlace(window, output, offset, isInside));
            return lowering.choose(
                isInside, types,
                [&] {
                  return lowering.fold(
                      inputFeaturesOfGroup, carried,
                      [&](ValueRange feature, ValueRange inside) {
                        return addFeature(offsets, place, feature.front(),
                                          inside);
                      });
                },
                [&] { return llvm::to_vector(carried); });
          });
      for (auto [output, sum] : llvm::zip_equal(features, sums)) {
        at.feature = output;
        lowering.store(roundSum(lowering, sum, element), element, buffer,
                       getOutputIndices(at));
      }
    });
  });
}

// Adds the products of one element of the window to a row of sums.
void ConvEmitter::addRow(
    Row row, ConvPosition at, ValueRange offsets, Value feature,
    function_ref<void(const ConvPosition &, ValueRange)> addOne) {
  Value isInside = lowering.makeTrue();
  SmallVector<Value> place;
  size_t numChecked = windows.size() - (row == Row::Spatial);
  for (size_t i = 0; i < numChecked; ++i)
    place.push_back(
        getInputPlace(windows[i], at.place[i], offsets[i], isInside));
  lowering.choose(
      isInside, {},
      [&]() -> SmallVector<Value> {
        if (row != Row::Spatial) {
          Value size = row == Row::Groups ? numGroups : featuresOfGroup;
          lowering.forEach(size, [&](ValueRange index) {
            (row == Row::Groups ? at.group : at.feature) = index.front();
            addOne(at, place);
          });
          return {};
        }
        // 0 <= place * stride + shift < size, solved for the place.
        const ConvWindow &window = windows.back();
        Value stride = lowering.index(window.stride), zero = lowering.index(0);
        Value shift = lowering.sub(
            lowering.mul(offsets.back(), lowering.index(window.rhsDilation)),
            window.paddingLow);
        auto firstAtLeast = [&](Value distance) {
          Value known = b.create<arith::MaxSIOp>(distance, zero);
          return lowering.div(
              lowering.add(known, lowering.index(window.stride - 1)), stride);
        };
        Value lower = firstAtLeast(lowering.sub(zero, shift));
        Value upper = b.create<arith::MinSIOp>(
            firstAtLeast(lowering.sub(window.inputSize, shift)),
            window.outputSize);
        lowering.foldRange(lower, upper, {}, [&](ValueRange index, ValueRange) {
          at.place.back() = index.front();
          place.push_back(
              lowering.add(lowering.mul(index.front(), stride), shift));
          addOne(at, place);
          place.pop_back();
          return SmallVector<Value>();
        });
        return {};
      },
      [] { return SmallVector<Value>(); });
}

void ConvEmitter::emitRows(Row row) {
  Value buffer = lowering.createResult(op->getResult(0));
  Value one = lowering.index(1);
  SmallVector<Value> outer{numBatches, row == Row::Groups ? one : numGroups,
                           row == Row::Features ? one : featuresOfGroup};
  SmallVector<Value> inner;
  for (const ConvWindow &window : windows) {
    outer.push_back(window.outputSize);
    inner.push_back(window.kernelSize);
  }
  inner.push_back(inputFeaturesOfGroup);
  Value size = row == Row::Features ? featuresOfGroup
               : row == Row::Groups ? numGroups
                                    : windows.back().outputSize;
  if (row == Row::Spatial)
    outer.back() = one;

  bool sumsInPlace = getMemoryType(element) == sumType;
  Value sums = sumsInPlace ? buffer : lowering.createTemporary(size, sumType);
  auto setRow = [&](ConvPosition &at, Value index) {
    (row == Row::Features ? at.feature
     : row == Row::Groups ? at.group
                          : at.place.back()) = index;
  };
  auto sumAt = [&](const ConvPosition &at) {
    if (sumsInPlace)
      return getOutputIndices(at);
    return SmallVector<Value>{row == Row::Features ? at.feature
                              : row == Row::Groups ? at.group
                                                   : at.place.back()};
  };
  lowering.forEach(outer, [&](ValueRange indices) {
    ConvPosition at{indices[0], indices[1], indices[2],
                    llvm::to_vector(indices.drop_front(3))};
    lowering.forEach(size, [&](ValueRange index) {
      setRow(at, index.front());
      b.create<memref::StoreOp>(lowering.zero(sumType), sums, sumAt(at));
    });
    lowering.fold(inner, {}, [&](ValueRange steps, ValueRange) {
      ValueRange offsets = steps.drop_back();
      addRow(row, at, offsets, steps.back(),
             [&](const ConvPosition &one, ValueRange place) {
               SmallVector<Value> where = sumAt(one);
               Value sum = b.create<memref::LoadOp>(sums, where);
               sum = getProductSum(one, offsets, steps.back(), place, sum);
               b.create<memref::StoreOp>(sum, sums, where);
             });
      return SmallVector<Value>();
    });
    if (!sumsInPlace)
      lowering.forEach(size, [&](ValueRange index) {
        setRow(at, index.front());
        Value sum = b.create<memref::LoadOp>(sums, sumAt(at));
        lowering.store(roundSum(lowering, sum, element), element, buffer,
                       getOutputIndices(at));
      });
  });
}

void ConvEmitter::emit() {
  // Each element is read many times.
  lowering.getBuffer(lhs);
  lowering.getBuffer(rhs);
  if (isDepthwiseOfLibrary(*this))
    return emitDepthwise(*this);
  Row row = chooseRow();
  if (keepsSumsInRegisters(lowering))
    return emitFewFeatures();
  row == Row::None ? emitElements() : emitRows(row);
}
} // namespace

void alula::cpu::emitConvolution(Operation *op, Lowering &lowering) {
  if (auto dynamic = dyn_cast<stablehlo::DynamicConvOp>(op))
    return ConvEmitter(dynamic, lowering).emit();
  auto convolution = cast<stablehlo::ConvolutionOp>(op);
  plan::StageAttr stage = getStage(op);
  if (!stage || stage.getTile().empty())
    return ConvEmitter(convolution, lowering).emit();
  if (isWindowProduct(convolution) && stage.getTile().size() == 2)
    return emitWindowProduct(convolution, lowering);
  emitBlockConvolution(convolution, lowering);
}
