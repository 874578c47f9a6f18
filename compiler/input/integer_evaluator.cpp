// Computes the integer arithmetic that dynamic programs do on their shapes.
//
// Numbers are int64_t that hold a value of the element type: sign extended for
// signed types, zero extended for unsigned ones and i1. Arithmetic wraps.

#include "compiler/input/integer_evaluator.h"

#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::input;
using stablehlo::ComparisonDirection;

namespace {
using Numbers = SmallVector<int64_t>;

unsigned getWidth(Type element) {
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

bool isUnsigned(Type element) {
  return element.isUnsignedInteger() || element.isInteger(1);
}

/// `number` cut to the element type.
int64_t wrap(int64_t number, Type element) {
  unsigned unused = 64 - getWidth(element);
  auto bits = static_cast<uint64_t>(number) << unused;
  return isUnsigned(element) ? static_cast<int64_t>(bits >> unused)
                             : static_cast<int64_t>(bits) >> unused;
}

struct Tensor {
  RankedTensorType type;
  Numbers numbers;
  Type element() const { return type.getElementType(); }
  ArrayRef<int64_t> shape() const { return type.getShape(); }
};

bool isEvaluable(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         tensor.getElementType().isIntOrIndex() &&
         tensor.getNumElements() <= maxEvaluatedElements;
}

Numbers getStrides(ArrayRef<int64_t> shape) {
  Numbers strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

/// Calls `visit` with each index of `shape`, in order.
void forEachIndex(ArrayRef<int64_t> shape,
                  function_ref<void(ArrayRef<int64_t>)> visit) {
  if (llvm::is_contained(shape, 0))
    return;
  Numbers index(shape.size(), 0);
  while (true) {
    visit(index);
    size_t dim = shape.size();
    while (dim > 0 && ++index[dim - 1] == shape[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

/// A tensor whose element at an index is the operand's at another. Nothing if
/// that is outside: types refined a moment ago may contradict each other.
std::optional<Numbers>
gather(const Tensor &operand, ArrayRef<int64_t> shape,
       function_ref<int64_t(ArrayRef<int64_t>, ArrayRef<int64_t>)> offset) {
  Numbers strides = getStrides(operand.shape()), result;
  bool isInside = true;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    int64_t at = offset(index, strides);
    isInside &= at >= 0 && at < static_cast<int64_t>(operand.numbers.size());
    result.push_back(isInside ? operand.numbers[at] : 0);
  });
  if (!isInside)
    return std::nullopt;
  return result;
}

std::optional<bool> compare(int64_t a, int64_t b, bool isUnsignedType,
                            ComparisonDirection direction) {
  auto less = [&](int64_t x, int64_t y) {
    return isUnsignedType ? static_cast<uint64_t>(x) < static_cast<uint64_t>(y)
                          : x < y;
  };
  switch (direction) {
  case ComparisonDirection::EQ:
    return a == b;
  case ComparisonDirection::NE:
    return a != b;
  case ComparisonDirection::LT:
    return less(a, b);
  case ComparisonDirection::GT:
    return less(b, a);
  case ComparisonDirection::LE:
    return !less(b, a);
  case ComparisonDirection::GE:
    return !less(a, b);
  }
  return std::nullopt;
}

/// The quotient or remainder; nothing where C++ has none.
std::optional<int64_t> divide(int64_t a, int64_t b, Type element,
                              bool wantRemainder) {
  if (b == 0)
    return std::nullopt;
  if (isUnsigned(element)) {
    auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<int64_t>(wantRemainder ? x % y : x / y);
  }
  if (b == -1)
    return wantRemainder ? 0
                         : wrap(static_cast<int64_t>(
                                    0 - static_cast<uint64_t>(a)),
                                element);
  return wantRemainder ? a % b : a / b;
}

std::optional<int64_t> evaluateBinary(Operation *op, int64_t a, int64_t b,
                                      Type element) {
  bool isLess = *compare(a, b, isUnsigned(element), ComparisonDirection::LT);
  auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  bool isTooFar = y >= getWidth(element);
  auto result = [](uint64_t bits) { return static_cast<int64_t>(bits); };
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case([&](stablehlo::AddOp) {
        // Addition of i1 is or.
        return result(element.isInteger(1) ? x | y : x + y);
      })
      .Case([&](stablehlo::SubtractOp) { return result(x - y); })
      .Case([&](stablehlo::MulOp) { return result(x * y); })
      .Case([&](stablehlo::MaxOp) { return isLess ? b : a; })
      .Case([&](stablehlo::MinOp) { return isLess ? a : b; })
      .Case([&](stablehlo::AndOp) { return a & b; })
      .Case([&](stablehlo::OrOp) { return a | b; })
      .Case([&](stablehlo::XorOp) { return a ^ b; })
      .Case([&](stablehlo::DivOp) { return divide(a, b, element, false); })
      .Case([&](stablehlo::RemOp) { return divide(a, b, element, true); })
      .Case([&](stablehlo::ShiftLeftOp) {
        return isTooFar ? 0 : result(x << y);
      })
      .Case([&](stablehlo::ShiftRightLogicalOp) {
        uint64_t mask = ~uint64_t(0) >> (64 - getWidth(element));
        return isTooFar ? 0 : result((x & mask) >> y);
      })
      .Case([&](stablehlo::ShiftRightArithmeticOp) {
        int64_t extended = a;
        if (isUnsigned(element)) {
          unsigned unused = 64 - getWidth(element);
          extended = static_cast<int64_t>(x << unused) >> unused;
        }
        return extended >> (isTooFar ? 63 : b);
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<int64_t> evaluateUnary(Operation *op, int64_t a, Type element) {
  auto negated = static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case([&](stablehlo::AbsOp) { return a < 0 ? negated : a; })
      .Case([&](stablehlo::NegOp) { return negated; })
      .Case([&](stablehlo::NotOp) { return ~a; })
      .Case([&](stablehlo::SignOp) { return int64_t(a > 0) - int64_t(a < 0); })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<Numbers> evaluateReduce(stablehlo::ReduceOp op,
                                      ArrayRef<Tensor> operands,
                                      RankedTensorType resultType) {
  Block &body = op.getBody().front();
  if (operands.size() != 2 || body.getOperations().size() != 2 ||
      operands[0].element() != resultType.getElementType())
    return std::nullopt;
  Operation &combine = body.front();
  if (combine.getNumOperands() != 2 || combine.getNumResults() != 1 ||
      combine.getOperand(0) == combine.getOperand(1) ||
      body.getTerminator()->getOperand(0) != combine.getResult(0) ||
      !llvm::all_of(combine.getOperands(), [&](Value value) {
        return value.getParentBlock() == &body && isa<BlockArgument>(value);
      }))
    return std::nullopt;
  // Only ops for which the order of operands means nothing.
  if (!isa<stablehlo::AddOp, stablehlo::MulOp, stablehlo::MaxOp,
           stablehlo::MinOp, stablehlo::AndOp, stablehlo::OrOp,
           stablehlo::XorOp>(combine))
    return std::nullopt;
  Numbers result(resultType.getNumElements(), operands[1].numbers.front());
  Numbers strides = getStrides(resultType.getShape());
  if (static_cast<int64_t>(op.getDimensions().size()) +
          resultType.getRank() !=
      operands[0].type.getRank())
    return std::nullopt;
  size_t position = 0;
  bool isInside = true;
  forEachIndex(operands[0].shape(), [&](ArrayRef<int64_t> index) {
    int64_t offset = 0;
    size_t kept = 0;
    for (auto [dim, at] : llvm::enumerate(index))
      if (!llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim)))
        offset += at * strides[kept++];
    if (offset >= static_cast<int64_t>(result.size())) {
      isInside = false;
      return;
    }
    int64_t value =
        *evaluateBinary(&combine, result[offset],
                        operands[0].numbers[position++], operands[0].element());
    result[offset] = wrap(value, resultType.getElementType());
  });
  if (!isInside)
    return std::nullopt;
  return result;
}

std::optional<Numbers> evaluateElementwise(Operation *op,
                                           ArrayRef<Tensor> operands,
                                           RankedTensorType resultType) {
  auto at = [](const Tensor &tensor, size_t index) {
    return tensor.numbers.size() == 1 ? tensor.numbers[0]
                                      : tensor.numbers[index];
  };
  auto count = static_cast<size_t>(resultType.getNumElements());
  // Scalar operands of select and clamp go with every element.
  for (const Tensor &operand : operands)
    if (operand.numbers.size() != count && operand.type.getRank() != 0)
      return std::nullopt;
  Numbers result;
  for (size_t index = 0; index < count; ++index) {
    std::optional<int64_t> value;
    if (auto compareOp = dyn_cast<stablehlo::CompareOp>(op)) {
      value = compare(at(operands[0], index), at(operands[1], index),
                      isUnsigned(operands[0].element()),
                      compareOp.getComparisonDirection());
    } else if (isa<stablehlo::SelectOp>(op)) {
      value = at(operands[0], index) ? at(operands[1], index)
                                     : at(operands[2], index);
    } else if (isa<stablehlo::ClampOp>(op)) {
      bool isUnsignedType = isUnsigned(resultType.getElementType());
      auto less = [&](int64_t a, int64_t b) {
        return *compare(a, b, isUnsignedType, ComparisonDirection::LT);
      };
      int64_t low = at(operands[0], index), number = at(operands[1], index),
              high = at(operands[2], index);
      if (less(number, low))
        number = low;
      value = less(high, number) ? high : number;
    } else if (isa<stablehlo::ConvertOp>(op)) {
      int64_t number = at(operands[0], index);
      value = resultType.getElementType().isInteger(1) ? number != 0 : number;
    } else if (operands.size() == 2) {
      value = evaluateBinary(op, at(operands[0], index), at(operands[1], index),
                             operands[0].element());
    } else if (operands.size() == 1) {
      value = evaluateUnary(op, at(operands[0], index), operands[0].element());
    }
    if (!value)
      return std::nullopt;
    result.push_back(wrap(*value, resultType.getElementType()));
  }
  return result;
}

std::optional<Numbers> evaluateMovement(Operation *op,
                                        ArrayRef<Tensor> operands,
                                        RankedTensorType resultType) {
  ArrayRef<int64_t> shape = resultType.getShape();
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op)) {
    Numbers result;
    forEachIndex(shape, [&](ArrayRef<int64_t> index) {
      result.push_back(wrap(index[iota.getIotaDimension()],
                            resultType.getElementType()));
    });
    return result;
  }
  if (isa<stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp>(op)) {
    if (operands[0].type.getNumElements() != resultType.getNumElements())
      return std::nullopt;
    return operands[0].numbers;
  }
  std::optional<ArrayRef<int64_t>> broadcastDims;
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    broadcastDims = broadcast.getBroadcastDimensions();
  if (auto broadcast = dyn_cast<stablehlo::DynamicBroadcastInDimOp>(op))
    broadcastDims = broadcast.getBroadcastDimensions();
  if (broadcastDims)
    return gather(operands[0], shape,
                  [&](ArrayRef<int64_t> index, ArrayRef<int64_t> strides) {
                    int64_t offset = 0;
                    for (auto [dim, target] : llvm::enumerate(*broadcastDims))
                      if (operands[0].shape()[dim] != 1)
                        offset += index[target] * strides[dim];
                    return offset;
                  });
  if (auto slice = dyn_cast<stablehlo::SliceOp>(op))
    return gather(operands[0], shape,
                  [&](ArrayRef<int64_t> index, ArrayRef<int64_t> strides) {
                    int64_t offset = 0;
                    for (size_t dim = 0; dim < index.size(); ++dim)
                      offset += (slice.getStartIndices()[dim] +
                                 index[dim] * slice.getStrides()[dim]) *
                                strides[dim];
                    return offset;
                  });
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
    return gather(operands[0], shape,
                  [&](ArrayRef<int64_t> index, ArrayRef<int64_t> strides) {
                    int64_t offset = 0;
                    for (auto [dim, from] :
                         llvm::enumerate(transpose.getPermutation()))
                      offset += index[dim] * strides[from];
                    return offset;
                  });
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op))
    return gather(operands[0], shape,
                  [&](ArrayRef<int64_t> index, ArrayRef<int64_t> strides) {
                    int64_t offset = 0;
                    for (size_t dim = 0; dim < index.size(); ++dim) {
                      int64_t last = operands[0].shape()[dim] - shape[dim];
                      int64_t start = std::max<int64_t>(
                          std::min(operands[1 + dim].numbers.front(), last),
                          0);
                      offset += (start + index[dim]) * strides[dim];
                    }
                    return offset;
                  });
  if (auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(op)) {
    auto along = static_cast<size_t>(concatenate.getDimension());
    Numbers result;
    int64_t total = 0;
    for (const Tensor &operand : operands)
      total += operand.shape()[along];
    if (total != shape[along])
      return std::nullopt;
    forEachIndex(shape, [&](ArrayRef<int64_t> index) {
      Numbers at(index);
      size_t part = 0;
      while (at[along] >= operands[part].shape()[along])
        at[along] -= operands[part++].shape()[along];
      Numbers strides = getStrides(operands[part].shape());
      int64_t offset = 0;
      for (auto [where, stride] : llvm::zip(at, strides))
        offset += where * stride;
      bool isInside =
          offset < static_cast<int64_t>(operands[part].numbers.size());
      result.push_back(isInside ? operands[part].numbers[offset] : 0);
    });
    return result;
  }
  return std::nullopt;
}
} // namespace

SmallVector<int64_t> alula::input::getIntegers(DenseElementsAttr value) {
  Type element = value.getElementType();
  return llvm::map_to_vector(value.getValues<APInt>(), [&](const APInt &bits) {
    return isUnsigned(element) ? static_cast<int64_t>(bits.getZExtValue())
                               : bits.getSExtValue();
  });
}

DenseElementsAttr
alula::input::evaluateIntegers(Operation *op,
                               ArrayRef<DenseElementsAttr> operands) {
  if (op->getNumResults() != 1)
    return {};
  Type type = op->getResult(0).getType();
  if (!isEvaluable(type))
    return {};
  auto resultType = cast<RankedTensorType>(type);
  // Whether a tensor has an encoding means nothing for its numbers.
  resultType = RankedTensorType::get(resultType.getShape(),
                                     resultType.getElementType());
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
    return dyn_cast<DenseElementsAttr>(constant.getValue());

  std::optional<Numbers> numbers;
  if (auto size = dyn_cast<stablehlo::GetDimensionSizeOp>(op)) {
    auto operand = cast<RankedTensorType>(size.getOperand().getType());
    int64_t dim = static_cast<int64_t>(size.getDimension());
    if (dim < operand.getRank() && !operand.isDynamicDim(dim))
      numbers = Numbers{operand.getDimSize(dim)};
  } else {
    SmallVector<Tensor> tensors;
    for (auto [operand, value] :
         llvm::zip_equal(op->getOperands(), operands)) {
      if (!value || !isEvaluable(value.getType()))
        return {};
      tensors.push_back({cast<RankedTensorType>(value.getType()),
                         getIntegers(value)});
    }
    if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
      numbers = evaluateReduce(reduce, tensors, resultType);
    else if (isa<stablehlo::IotaOp, stablehlo::ReshapeOp,
                 stablehlo::DynamicReshapeOp, stablehlo::BroadcastInDimOp,
                 stablehlo::DynamicBroadcastInDimOp, stablehlo::SliceOp,
                 stablehlo::TransposeOp, stablehlo::DynamicSliceOp,
                 stablehlo::ConcatenateOp>(op))
      numbers = evaluateMovement(op, tensors, resultType);
    else
      numbers = evaluateElementwise(op, tensors, resultType);
  }
  if (!numbers ||
      static_cast<int64_t>(numbers->size()) != resultType.getNumElements())
    return {};
  unsigned width = getWidth(resultType.getElementType());
  auto bits = llvm::map_to_vector(*numbers, [&](int64_t number) {
    return APInt(width, static_cast<uint64_t>(number), /*isSigned=*/true);
  });
  return DenseElementsAttr::get(resultType, bits);
}
