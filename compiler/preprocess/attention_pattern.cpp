// attention: softmax(scale queries x keys) x values.

#include "compiler/preprocess/attention_pattern.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace alula;
using namespace alula::dispatch;
using namespace alula::preprocess;

namespace {

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

std::optional<double> getNumber(Value value) {
  while (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = broadcast.getOperand();
  DenseFPElementsAttr dense;
  if (!matchPattern(value, m_Constant(&dense)) || !dense.isSplat())
    return std::nullopt;
  APFloat number = dense.getSplatValue<APFloat>();
  bool isInexact;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &isInexact);
  return number.convertToDouble();
}

/// Whether the result has the same elements, elsewhere.
bool isMove(Operation *op) {
  if (isa<stablehlo::ReshapeOp, stablehlo::TransposeOp>(op))
    return true;
  auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op);
  return broadcast && typeOf(broadcast.getOperand()).getNumElements() ==
                          typeOf(broadcast.getResult()).getNumElements();
}

/// What the scores have been multiplied by until they are `value`.
std::optional<double> findScale(Value value, Value scores) {
  double scale = 1;
  while (value != scores) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    if (isMove(op) || isa<stablehlo::ConvertOp>(op)) {
      value = op->getOperand(0);
      if (!isa<FloatType>(typeOf(value).getElementType()))
        return std::nullopt;
    } else if (auto multiply = dyn_cast<stablehlo::MulOp>(op)) {
      auto factor = getNumber(multiply.getRhs());
      value = multiply.getLhs();
      if (!factor) {
        factor = getNumber(multiply.getLhs());
        value = multiply.getRhs();
      }
      if (!factor)
        return std::nullopt;
      scale *= *factor;
    } else if (auto divide = dyn_cast<stablehlo::DivOp>(op)) {
      auto divisor = getNumber(divide.getRhs());
      if (!divisor || *divisor == 0)
        return std::nullopt;
      scale /= *divisor;
      value = divide.getLhs();
    } else {
      return std::nullopt;
    }
  }
  return scale;
}

bool isOnlyMoved(Value value, Value from) {
  while (value != from) {
    Operation *op = value.getDefiningOp();
    if (!op || !isMove(op))
      return false;
    value = op->getOperand(0);
  }
  return true;
}

class Layouts {
public:
  explicit Layouts(const Attention &attention) : attention(attention) {}

  bool find(PlainAttention &plain) {
    auto rows = findOnly(attention.rows), keys = findOnly(attention.keys),
         depth = findOnly(attention.depth),
         columns = findOnly(attention.columns);
    SmallVector<int64_t> batch;
    for (int64_t axis : attention.batch)
      if (attention.sizes[static_cast<size_t>(axis)] > 1)
        batch.push_back(axis);
    if (!rows || !keys || !depth || !columns || batch.size() > 2)
      return false;
    while (batch.size() < 2)
      batch.insert(batch.begin(), none);
    auto lay = [&](const AttentionOperand &operand, int64_t row, int64_t column,
                   PlainAttention::Matrix &matrix) {
      matrix.value = operand.base;
      return operand.offset == 0 &&
             fill({batch[0], batch[1], row, column}, matrix, [&](int64_t axis) {
               return attention.getStride(operand, axis);
             });
    };
    plain.result.value = attention.result;
    return lay(attention.queries, *rows, *depth, plain.queries) &&
           lay(attention.keyMatrix, *keys, *depth, plain.keys) &&
           lay(attention.values, *keys, *columns, plain.values) &&
           fill({batch[0], batch[1], *rows, *columns}, plain.result,
                [&](int64_t axis) { return findResultStride(axis); });
  }

private:
  /// An axis that is not there.
  static constexpr int64_t none = -1;

  /// The only axis of more than one; `none` if there is none, nothing if there
  /// are more.
  std::optional<int64_t> findOnly(ArrayRef<int64_t> axes) const {
    int64_t only = none;
    for (int64_t axis : axes)
      if (attention.sizes[static_cast<size_t>(axis)] > 1) {
        if (only != none)
          return std::nullopt;
        only = axis;
      }
    return only;
  }

  /// Sizes and strides along the axes; numbers of a row lie side by side.
  bool fill(std::array<int64_t, 4> axes, PlainAttention::Matrix &matrix,
            llvm::function_ref<std::optional<int64_t>(int64_t)> getStride) {
    int64_t end = 1;
    for (size_t i = 4; i-- > 0;) {
      bool isThere = axes[i] != none;
      int64_t size =
          isThere ? attention.sizes[static_cast<size_t>(axes[i])] : 1;
      auto stride = isThere ? getStride(axes[i]) : end;
      // What is the same for several rows or heads would be there for each.
      if (!stride || *stride <= 0 || (i == 3 && *stride != 1))
        return false;
      matrix.sizes[i] = size;
      matrix.strides[i] = *stride;
      end = std::max(end, size * *stride);
    }
    return true;
  }

  std::optional<int64_t> findResultStride(int64_t axis) const {
    auto shape = typeOf(attention.result).getShape();
    int64_t step = 1;
    for (size_t dim = shape.size(); dim-- > 0;) {
      int64_t within = step;
      for (const AxisDigit &digit :
           llvm::reverse(attention.resultLayout[dim])) {
        if (digit.axis == axis) {
          bool isWhole =
              digit.stride == 1 &&
              digit.size == attention.sizes[static_cast<size_t>(axis)];
          return isWhole ? std::optional(within) : std::nullopt;
        }
        within *= digit.size;
      }
      step *= shape[dim];
    }
    return std::nullopt;
  }

  const Attention &attention;
};
} // namespace

std::optional<PlainAttention>
alula::preprocess::matchPlainAttention(stablehlo::DotGeneralOp product) {
  auto attention = matchAttention(product, getMachine(product));
  if (!attention)
    return std::nullopt;
  PlainAttention plain = {};
  plain.attention = std::move(*attention);
  Attention &found = plain.attention;
  Type type = typeOf(found.result).getElementType();
  if (!type.isF16() && !type.isBF16())
    return std::nullopt;
  for (Value value :
       {found.queries.base, found.keyMatrix.base, found.values.base})
    if (typeOf(value).getElementType() != type)
      return std::nullopt;
  auto scale = findScale(found.score, found.scores.getResult());
  if (!scale || !isOnlyMoved(found.result, found.product.getResult()) ||
      !Layouts(found).find(plain))
    return std::nullopt;
  plain.scale = *scale;
  return plain;
}

std::string
alula::preprocess::describeForCudnn(const PlainAttention &attention) {
  Type type = typeOf(attention.result.value).getElementType();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "cudnn attention type=" << (type.isF16() ? "f16" : "bf16")
     << llvm::format(" scale=%.9g", attention.scale);
  for (auto [name, matrix] :
       {std::pair("q", &attention.queries), std::pair("k", &attention.keys),
        std::pair("v", &attention.values), std::pair("o", &attention.result)}) {
    os << ' ' << name;
    char separator = '=';
    for (const auto &numbers : {matrix->sizes, matrix->strides})
      for (int64_t number : ArrayRef(numbers, 4)) {
        os << separator << number;
        separator = ',';
      }
  }
  return text;
}
