// What ops ask of sizes, checked when the program runs.

#include "compiler/dispatch/shape_checks.h"

#include "compiler/dispatch/host_numbers.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/result_sizes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::dispatch;
using arith::CmpIPredicate;

namespace {
RankedTensorType getType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

class Checker {
public:
  Checker(Operation *op, stablehlo::SizeArithmetic &sizes, HostNumbers &numbers)
      : op(op), sizes(sizes), numbers(numbers) {}

  void check();

private:
  Value getDim(Value tensor, int64_t dim) { return sizes.getDim(tensor, dim); }

  void require(Value condition, const Twine &rule, ArrayRef<Value> shown) {
    if (matchPattern(condition, m_One()))
      return;
    OpBuilder builder(op);
    builder.create<AssertOp>(
        op->getLoc(), condition,
        ("'" + op->getName().getStringRef() + "': " + rule).str(), shown);
  }
  void requireEqual(Value a, Value b, const Twine &rule) {
    require(numbers.compare(CmpIPredicate::eq, a, b), rule + " {0} and {1}",
            {a, b});
  }
  void requireNotNegative(Value number, const Twine &rule) {
    require(numbers.compare(CmpIPredicate::sge, number, numbers.make(0)),
            rule + " {0}", {number});
  }
  void requireAtMost(Value a, Value b, const Twine &rule) {
    require(numbers.compare(CmpIPredicate::sle, a, b), rule + " {0} and {1}",
            {a, b});
  }
  void requireSameShape(ValueRange tensors);
  void requireSameDims(Value a, ArrayRef<int64_t> aDims, Value b,
                       ArrayRef<int64_t> bDims, const Twine &rule) {
    for (auto [x, y] : llvm::zip(aDims, bDims))
      requireEqual(getDim(a, x), getDim(b, y), rule);
  }
  /// What a list says must not be negative, and be what the type says.
  void checkList(Value list, Value result);
  void checkReshape(Value operand, Value result);
  void checkBroadcast(stablehlo::DynamicBroadcastInDimOp broadcast);
  void checkSlice(stablehlo::RealDynamicSliceOp slice);
  void checkPad(stablehlo::DynamicPadOp pad);
  void checkDot(stablehlo::DotGeneralOp dot);
  void checkConcatenate(stablehlo::ConcatenateOp concatenate);
  void checkGather(Value operand, Value indices,
                   stablehlo::GatherDimensionNumbersAttr map,
                   function_ref<Value(int64_t)> getSize);
  void checkScatter(stablehlo::ScatterOp scatter);
  void checkFft(stablehlo::FftOp fft);
  void checkSelectAndScatter(stablehlo::SelectAndScatterOp scatter);
  template <typename Op> void checkConvolution(Op convolution);

  Operation *op;
  stablehlo::SizeArithmetic &sizes;
  HostNumbers &numbers;
};

void Checker::requireSameShape(ValueRange tensors) {
  Value first;
  for (Value tensor : tensors) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    // Scalars go with every shape where an op takes them.
    if (!type || type.getRank() == 0)
      continue;
    if (!first) {
      first = tensor;
      continue;
    }
    if (type.getRank() == getType(first).getRank())
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        requireEqual(getDim(first, dim), getDim(tensor, dim),
                     "operands must have one shape: dimension " + Twine(dim) +
                         " is");
  }
}

void Checker::checkList(Value list, Value result) {
  RankedTensorType type = getType(result);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Value size = sizes.getElement(list, {dim});
    if (type.isDynamicDim(static_cast<unsigned>(dim)))
      requireNotNegative(size, "sizes must not be negative: dimension " +
                                   Twine(dim) + " is");
    else
      requireEqual(size,
                   numbers.make(type.getDimSize(static_cast<unsigned>(dim))),
                   "sizes must be those of the result's type: dimension " +
                       Twine(dim) + " is");
  }
}

/// What a number is a product of.
void collectFactors(Value number, SmallVectorImpl<Value> &factors) {
  if (auto product = number.getDefiningOp<arith::MulIOp>()) {
    collectFactors(product.getLhs(), factors);
    collectFactors(product.getRhs(), factors);
    return;
  }
  factors.push_back(number);
}

void Checker::checkReshape(Value operand, Value result) {
  SmallVector<Value> from, to;
  for (int64_t dim = 0; dim < getType(operand).getRank(); ++dim)
    collectFactors(getDim(operand, dim), from);
  for (int64_t dim = 0; dim < getType(result).getRank(); ++dim)
    collectFactors(getDim(result, dim), to);
  auto multiply = [&](ArrayRef<Value> all) {
    Value product = numbers.make(1);
    for (Value size : all)
      product = numbers.multiply(product, size);
    return product;
  };
  // The same factors in another order need no check. A factor of both may be 0,
  // so that more can't be left out.
  SmallVector<Value> onlyFrom(from), onlyTo;
  for (Value factor : to) {
    auto *same = llvm::find(onlyFrom, factor);
    if (same != onlyFrom.end())
      onlyFrom.erase(same);
    else
      onlyTo.push_back(factor);
  }
  if (multiply(onlyFrom) == multiply(onlyTo))
    return;
  requireEqual(multiply(from), multiply(to),
               "number of elements must stay the same: is");
}

void Checker::checkBroadcast(stablehlo::DynamicBroadcastInDimOp broadcast) {
  Value operand = broadcast.getOperand();
  for (auto [dim, target] :
       llvm::enumerate(broadcast.getBroadcastDimensions())) {
    Value from = getDim(operand, static_cast<int64_t>(dim));
    Value to = getDim(broadcast.getResult(), target);
    if (from == to || getConstantIntValue(from) == 1)
      continue;
    Value isOne = numbers.compare(CmpIPredicate::eq, from, numbers.make(1));
    Value isSame = numbers.compare(CmpIPredicate::eq, from, to);
    require(numbers.bitOr(isOne, isSame),
            "a size must be 1 or stay the same: dimension " + Twine(dim) +
                " is {0} and becomes {1}",
            {from, to});
  }
}

void Checker::checkSlice(stablehlo::RealDynamicSliceOp slice) {
  for (int64_t dim = 0; dim < getType(slice.getOperand()).getRank(); ++dim) {
    Value start = sizes.getElement(slice.getStartIndices(), {dim});
    Value limit = sizes.getElement(slice.getLimitIndices(), {dim});
    Value stride = sizes.getElement(slice.getStrides(), {dim});
    std::string where = (": dimension " + Twine(dim) + " is").str();
    requireNotNegative(start, "start must not be negative" + where);
    requireAtMost(start, limit, "start must not be after limit" + where);
    requireAtMost(limit, getDim(slice.getOperand(), dim),
                  "limit must not pass the operand's size" + where);
    require(numbers.compare(CmpIPredicate::sge, stride, numbers.make(1)),
            "stride must be positive: dimension " + Twine(dim) + " has {0}",
            {stride});
    RankedTensorType type = getType(slice.getResult());
    if (!type.isDynamicDim(static_cast<unsigned>(dim))) {
      Value rounded = numbers.add(numbers.subtract(limit, start),
                                  numbers.subtract(stride, numbers.make(1)));
      requireEqual(numbers.divide(rounded, stride),
                   getDim(slice.getResult(), dim),
                   "sizes must be those of the result's type: dimension " +
                       Twine(dim) + " is");
    }
  }
}

void Checker::checkPad(stablehlo::DynamicPadOp pad) {
  for (int64_t dim = 0; dim < getType(pad.getOperand()).getRank(); ++dim) {
    requireNotNegative(sizes.getElement(pad.getInteriorPadding(), {dim}),
                       "interior padding must not be negative: dimension " +
                           Twine(dim) + " has");
    requireNotNegative(getDim(pad.getResult(), dim),
                       "sizes must not be negative: dimension " + Twine(dim) +
                           " is");
  }
}

void Checker::checkDot(stablehlo::DotGeneralOp dot) {
  auto dims = dot.getDotDimensionNumbers();
  requireSameDims(dot.getLhs(), dims.getLhsBatchingDimensions(), dot.getRhs(),
                  dims.getRhsBatchingDimensions(),
                  "batching sizes of lhs and rhs must be equal: are");
  requireSameDims(dot.getLhs(), dims.getLhsContractingDimensions(),
                  dot.getRhs(), dims.getRhsContractingDimensions(),
                  "contracting sizes of lhs and rhs must be equal: are");
}

void Checker::checkConcatenate(stablehlo::ConcatenateOp concatenate) {
  Value first = concatenate.getInputs()[0];
  for (Value input : concatenate.getInputs().drop_front())
    for (int64_t dim = 0; dim < getType(first).getRank(); ++dim)
      if (dim != static_cast<int64_t>(concatenate.getDimension()))
        requireEqual(getDim(first, dim), getDim(input, dim),
                     "inputs must have one shape besides the dimension that "
                     "grows: dimension " +
                         Twine(dim) + " is");
}

void Checker::checkGather(Value operand, Value indices,
                          stablehlo::GatherDimensionNumbersAttr map,
                          function_ref<Value(int64_t)> getSize) {
  for (int64_t dim = 0; dim < getType(operand).getRank(); ++dim) {
    Value size = getSize(dim);
    requireNotNegative(size, "slice sizes must not be negative: dimension " +
                                 Twine(dim) + " has");
    requireAtMost(size, getDim(operand, dim),
                  "slice sizes must not pass the operand's: dimension " +
                      Twine(dim) + " has");
  }
  requireSameDims(operand, map.getOperandBatchingDims(), indices,
                  map.getStartIndicesBatchingDims(),
                  "batching sizes must be equal: are");
}

void Checker::checkScatter(stablehlo::ScatterOp scatter) {
  requireSameShape(scatter.getInputs());
  requireSameShape(scatter.getUpdates());
  auto map = scatter.getScatterDimensionNumbers();
  Value input = scatter.getInputs()[0], updates = scatter.getUpdates()[0];
  Value indices = scatter.getScatterIndices();
  requireSameDims(input, map.getInputBatchingDims(), indices,
                  map.getScatterIndicesBatchingDims(),
                  "batching sizes must be equal: are");
  SmallVector<int64_t> batch, indexDims, window;
  for (int64_t dim = 0; dim < getType(updates).getRank(); ++dim)
    if (!llvm::is_contained(map.getUpdateWindowDims(), dim))
      batch.push_back(dim);
  for (int64_t dim = 0; dim < getType(indices).getRank(); ++dim)
    if (dim != map.getIndexVectorDim())
      indexDims.push_back(dim);
  requireSameDims(updates, batch, indices, indexDims,
                  "updates must have the sizes of the indices: are");
  for (int64_t dim = 0; dim < getType(input).getRank(); ++dim)
    if (!llvm::is_contained(map.getInsertedWindowDims(), dim) &&
        !llvm::is_contained(map.getInputBatchingDims(), dim))
      window.push_back(dim);
  for (auto [small, big] : llvm::zip(map.getUpdateWindowDims(), window))
    requireAtMost(getDim(updates, small), getDim(input, big),
                  "windows of updates must not pass the input's sizes: are");
}

void Checker::checkFft(stablehlo::FftOp fft) {
  ArrayRef<int64_t> lengths = fft.getFftLength();
  int64_t first = getType(fft.getOperand()).getRank() -
                  static_cast<int64_t>(lengths.size());
  for (auto [i, length] : llvm::enumerate(lengths)) {
    bool isHalf = fft.getFftType() == stablehlo::FftType::IRFFT &&
                  i + 1 == lengths.size();
    requireEqual(getDim(fft.getOperand(), first + static_cast<int64_t>(i)),
                 numbers.make(isHalf ? length / 2 + 1 : length),
                 "sizes of the operand must be those of the transform: are");
  }
}

void Checker::checkSelectAndScatter(stablehlo::SelectAndScatterOp scatter) {
  // Lists may be empty, which says the same as none.
  auto at = [](auto values, size_t i) {
    return values && i < values->size() ? (*values)[i] : 1;
  };
  for (int64_t dim = 0; dim < getType(scatter.getOperand()).getRank(); ++dim) {
    auto i = static_cast<size_t>(dim);
    int64_t stride = at(scatter.getWindowStrides(), i);
    int64_t room = stride - at(scatter.getWindowDimensions(), i);
    if (auto padding = scatter.getPadding())
      room += padding->getValues<int64_t>()[{i, 0}] +
              padding->getValues<int64_t>()[{i, 1}];
    Value strides = numbers.getMaximum(
        numbers.add(getDim(scatter.getOperand(), dim), numbers.make(room)),
        numbers.make(0));
    requireEqual(getDim(scatter.getSource(), dim),
                 numbers.divide(strides, numbers.make(stride)),
                 "source must have an element for each window: dimension " +
                     Twine(dim) + " is");
  }
}

template <typename Op> void Checker::checkConvolution(Op convolution) {
  auto dims = convolution.getDimensionNumbers();
  auto groups = static_cast<int64_t>(convolution.getFeatureGroupCount());
  Value features =
      getDim(convolution.getLhs(), dims.getInputFeatureDimension());
  Value kernelFeatures =
      getDim(convolution.getRhs(), dims.getKernelInputFeatureDimension());
  requireEqual(features, numbers.multiply(kernelFeatures, numbers.make(groups)),
               "input features must be the kernel's times the groups: are");
  for (int64_t count :
       {groups, static_cast<int64_t>(convolution.getBatchGroupCount())})
    if (count != 1)
      requireEqual(
          numbers.getRemainder(getDim(convolution.getRhs(),
                                      dims.getKernelOutputFeatureDimension()),
                               numbers.make(count)),
          numbers.make(0), "output features must be whole groups: rest is");
}

void Checker::check() {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](stablehlo::DynamicBroadcastInDimOp broadcast) {
        checkList(broadcast.getOutputDimensions(), broadcast.getResult());
        checkBroadcast(broadcast);
      })
      .Case([&](stablehlo::DynamicReshapeOp reshape) {
        checkList(reshape.getOutputShape(), reshape.getResult());
        checkReshape(reshape.getOperand(), reshape.getResult());
      })
      .Case([&](stablehlo::ReshapeOp reshape) {
        checkReshape(reshape.getOperand(), reshape.getResult());
      })
      .Case([&](stablehlo::DynamicIotaOp iota) {
        checkList(iota.getOutputShape(), iota.getResult());
      })
      .Case([&](stablehlo::RealDynamicSliceOp slice) { checkSlice(slice); })
      .Case([&](stablehlo::SliceOp slice) {
        for (auto [dim, limit] : llvm::enumerate(slice.getLimitIndices()))
          requireAtMost(numbers.make(limit),
                        getDim(slice.getOperand(), static_cast<int64_t>(dim)),
                        "limit must not pass the operand's size: dimension " +
                            Twine(dim) + " is");
      })
      .Case([&](stablehlo::DynamicSliceOp slice) {
        for (auto [dim, size] : llvm::enumerate(slice.getSliceSizes()))
          requireAtMost(numbers.make(size),
                        getDim(slice.getOperand(), static_cast<int64_t>(dim)),
                        "slice sizes must not pass the operand's: dimension " +
                            Twine(dim) + " is");
      })
      .Case([&](stablehlo::DynamicUpdateSliceOp update) {
        for (int64_t dim = 0; dim < getType(update.getUpdate()).getRank();
             ++dim)
          requireAtMost(getDim(update.getUpdate(), dim),
                        getDim(update.getOperand(), dim),
                        "update must not pass the operand's sizes: dimension " +
                            Twine(dim) + " is");
      })
      .Case([&](stablehlo::DynamicPadOp pad) { checkPad(pad); })
      .Case([&](stablehlo::PadOp pad) {
        for (int64_t dim = 0; dim < getType(pad.getResult()).getRank(); ++dim)
          requireNotNegative(getDim(pad.getResult(), dim),
                             "sizes must not be negative: dimension " +
                                 Twine(dim) + " is");
      })
      .Case([&](stablehlo::SetDimensionSizeOp set) {
        auto dim = static_cast<int64_t>(set.getDimension());
        Value size = sizes.getElement(set.getSize(), {});
        requireNotNegative(size, "sizes must not be negative: is");
        requireAtMost(size, getDim(set.getOperand(), dim),
                      "size must not pass the operand's: is");
      })
      .Case([&](stablehlo::DotGeneralOp dot) { checkDot(dot); })
      .Case([&](stablehlo::ConcatenateOp concatenate) {
        checkConcatenate(concatenate);
      })
      .Case([&](stablehlo::GatherOp gather) {
        checkGather(gather.getOperand(), gather.getStartIndices(),
                    gather.getDimensionNumbers(), [&](int64_t dim) {
                      return numbers.make(
                          gather.getSliceSizes()[static_cast<size_t>(dim)]);
                    });
      })
      .Case([&](stablehlo::DynamicGatherOp gather) {
        checkGather(gather.getOperand(), gather.getStartIndices(),
                    gather.getDimensionNumbers(), [&](int64_t dim) {
                      return sizes.getElement(gather.getSliceSizes(), {dim});
                    });
      })
      .Case([&](stablehlo::ScatterOp scatter) { checkScatter(scatter); })
      .Case([&](stablehlo::FftOp fft) { checkFft(fft); })
      .Case([&](stablehlo::SelectAndScatterOp scatter) {
        checkSelectAndScatter(scatter);
      })
      .Case([&](stablehlo::TriangularSolveOp solve) {
        int64_t rank = getType(solve.getA()).getRank();
        requireEqual(getDim(solve.getA(), rank - 2),
                     getDim(solve.getA(), rank - 1),
                     "a must be made of square matrices: sizes are");
        requireEqual(getDim(solve.getA(), rank - 1),
                     getDim(solve.getB(), rank - (solve.getLeftSide() ? 2 : 1)),
                     "a and b must have one size: are");
        for (int64_t dim = 0; dim + 2 < rank; ++dim)
          requireEqual(getDim(solve.getA(), dim), getDim(solve.getB(), dim),
                       "batch sizes of a and b must be equal: are");
      })
      .Case([&](stablehlo::CholeskyOp cholesky) {
        int64_t rank = getType(cholesky.getA()).getRank();
        requireEqual(getDim(cholesky.getA(), rank - 2),
                     getDim(cholesky.getA(), rank - 1),
                     "a must be made of square matrices: sizes are");
      })
      .Case<stablehlo::ConvolutionOp, stablehlo::DynamicConvOp>(
          [&](auto convolution) { checkConvolution(convolution); })
      .Case([&](stablehlo::ReduceOp reduce) {
        requireSameShape(reduce.getInputs());
      })
      .Case([&](stablehlo::ReduceWindowOp reduce) {
        requireSameShape(reduce.getInputs());
      })
      .Case(
          [&](stablehlo::SortOp) { requireSameShape(op->getOperands()); })
      .Default([&](Operation *) {
        if (stablehlo::keepsIndices(op))
          requireSameShape(op->getOperands());
      });
}
} // namespace

void alula::dispatch::addShapeChecks(Operation *op,
                                     stablehlo::SizeArithmetic &sizes,
                                     HostNumbers &numbers) {
  auto isDynamic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  };
  // Of static shapes everything has been checked, but what lists say.
  bool hasList = stablehlo::readsAny(op, stablehlo::Access::Sizes);
  if (hasList || llvm::any_of(op->getOperandTypes(), isDynamic) ||
      llvm::any_of(op->getResultTypes(), isDynamic))
    Checker(op, sizes, numbers).check();
}
