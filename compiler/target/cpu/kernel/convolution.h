#pragma once

#include "compiler/kernel/lowering.h"
#include "dialect/stablehlo/ops.h"

namespace alula::cpu {

/// One spatial dimension.
struct ConvWindow {
  int64_t stride = 1, lhsDilation = 1, rhsDilation = 1;
  bool isReversed = false;
  mlir::Value paddingLow, inputSize, kernelSize, outputSize;
};

/// Where an output element is: its batch, its group, its feature in the group,
/// its place.
struct ConvPosition {
  mlir::Value batch, group, feature;
  llvm::SmallVector<mlir::Value> place;
};

/// What is asked of a convolution in any layout.
struct Convolution {
  /// Sums are of `sumType`, if one is given.
  Convolution(mlir::stablehlo::ConvolutionOp convolution,
              kernel::Lowering &lowering, mlir::Type sumType = {});
  Convolution(mlir::stablehlo::DynamicConvOp convolution,
              kernel::Lowering &lowering);

  llvm::SmallVector<mlir::Value> getOutputIndices(const ConvPosition &at) const;
  /// Where an input element would be; whether it is one is and-ed to
  /// `isInside`.
  mlir::Value getInputPlace(const ConvWindow &window, mlir::Value place,
                            mlir::Value offset, mlir::Value &isInside) const;

  kernel::Lowering &lowering;
  mlir::ImplicitLocOpBuilder &b;
  mlir::Operation *op;
  mlir::Value lhs, rhs;
  mlir::stablehlo::ConvDimensionNumbersAttr numbers;
  llvm::SmallVector<ConvWindow> windows;
  int64_t featureGroups, batchGroups;
  mlir::Value numBatches, numGroups, featuresOfGroup, inputFeaturesOfGroup;
  mlir::Type element, sumType;

private:
  template <typename Op>
  void read(Op convolution, llvm::function_ref<mlir::Value(size_t)> getPadding);
};

/// Of sizes that are known.
llvm::SmallVector<int64_t> getNumbers(mlir::ValueRange constants);
/// All places in a space of these sizes, in order.
void forEachPlace(llvm::ArrayRef<int64_t> sizes,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t> place)> body);

} // namespace alula::cpu
