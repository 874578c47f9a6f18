// Operands of products that are integers of few bits times scales.
//   transpose(reshape(multiply(reshape(convert %w), broadcast_in_dim %scale)))

#include "dialect/stablehlo/scaled_integers.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// One number for each row or column, in steps: that of line l is
/// l / span * step.
struct Steps {
  int64_t span = 1, step = 0;
};

/// Nothing if the numbers, of which the first is 0, are no steps.
std::optional<Steps> findSteps(int64_t count,
                               function_ref<int64_t(int64_t)> numberOf) {
  int64_t span = 1;
  while (span < count && numberOf(span) == 0)
    ++span;
  if (span >= count)
    return Steps{std::max<int64_t>(count, 1), 0};
  Steps steps{span, numberOf(span)};
  for (int64_t line = 0; line < count; ++line)
    if (numberOf(line) != line / span * steps.step)
      return std::nullopt;
  return steps;
}

/// How far neighbours are apart in dimensions that count as one, of a tensor of
/// this type; 0 if there are none.
std::optional<int64_t> findStride(RankedTensorType type,
                                  ArrayRef<int64_t> dims) {
  int64_t stride = 0, size = 1;
  for (int64_t dim : llvm::reverse(dims)) {
    int64_t here = type.getDimSize(static_cast<unsigned>(dim));
    if (here == 1)
      continue;
    int64_t distance = ShapedType::getNumElements(
        type.getShape().drop_front(static_cast<size_t>(dim) + 1));
    if (stride == 0)
      stride = distance;
    else if (distance != stride * size)
      return std::nullopt;
    size *= here;
  }
  return stride;
}

int64_t multiplySizes(RankedTensorType type, ArrayRef<int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims)
    product *= type.getDimSize(static_cast<unsigned>(dim));
  return product;
}

class Matcher {
public:
  Matcher(Type element, IsInside isInside)
      : element(element), isInside(isInside) {}

  std::optional<ScaledIntegers> match(Value operand, ArrayRef<int64_t> rows,
                                      ArrayRef<int64_t> columns) {
    Value source = layOut(operand, rows, columns);
    if (!source)
      return std::nullopt;
    found.integers = findIntegers(source);
    if (!found.integers || (factor && !placeScale()))
      return std::nullopt;
    return found;
  }

private:
  template <typename Op> Op getInside(Value value) {
    auto op = value.getDefiningOp<Op>();
    return op && isInside(op) ? op : Op();
  }

  Value skipReshapes(Value value) {
    while (auto reshape = getInside<ReshapeOp>(value))
      value = reshape.getOperand();
    return value;
  }

  /// The tensor behind transposes, if rows and columns of it lie together.
  Value layOut(Value operand, ArrayRef<int64_t> rows,
               ArrayRef<int64_t> columns) {
    SmallVector<int64_t> rowDims(rows), columnDims(columns);
    while (auto transpose = getInside<TransposeOp>(operand)) {
      for (SmallVector<int64_t> *dims : {&rowDims, &columnDims})
        for (int64_t &dim : *dims)
          dim = transpose.getPermutation()[static_cast<size_t>(dim)];
      operand = transpose.getOperand();
    }
    auto type = cast<RankedTensorType>(operand.getType());
    if (!type.hasStaticShape())
      return {};
    auto rowStride = findStride(type, rowDims);
    auto columnStride = findStride(type, columnDims);
    if (!rowStride || !columnStride)
      return {};
    MatrixLayout layout{multiplySizes(type, rowDims),
                        multiplySizes(type, columnDims), *rowStride,
                        *columnStride};
    // A single row or column has no stride of its own.
    if (layout.rows == 1)
      layout.rowStride = layout.columns;
    if (layout.columns == 1 && layout.rowStride != 1)
      layout.columnStride = 1;
    if (layout.rowStride != 1 && layout.columnStride != 1)
      return {};
    found.layout = layout;
    return operand;
  }

  /// The integers that are converted and, on the way, multiplied by a scale.
  Value findIntegers(Value tensor) {
    Value value = skipReshapes(tensor);
    if (auto product = getInside<MulOp>(value)) {
      if (factor)
        return {};
      for (auto [side, other] :
           {std::pair(product.getLhs(), product.getRhs()),
            std::pair(product.getRhs(), product.getLhs())}) {
        factor = other;
        if (Value integers = findIntegers(side))
          return integers;
      }
      factor = {};
      return {};
    }
    auto convert = getInside<ConvertOp>(value);
    if (!convert || getElementTypeOrSelf(convert.getResult()) != element)
      return {};
    Value source = skipReshapes(convert.getOperand());
    return isa<IntegerType>(getElementTypeOrSelf(source)) ? source : Value();
  }

  /// Which number of the scales each element has.
  bool placeScale() {
    const MatrixLayout &layout = found.layout;
    auto broadcast = getInside<BroadcastInDimOp>(skipReshapes(factor));
    if (!broadcast)
      return false;
    found.broadcast = broadcast;
    found.scale = skipReshapes(broadcast.getOperand());
    auto small = cast<RankedTensorType>(broadcast.getOperand().getType());
    auto large = cast<RankedTensorType>(broadcast.getType());
    if (!small.hasStaticShape() || !large.hasStaticShape())
      return false;
    // Each dimension belongs to the rows or to the columns.
    struct Dim {
      int64_t stride, size, step;
    };
    SmallVector<Dim> dims;
    int64_t step = 1;
    for (int64_t d = small.getRank(); d-- > 0;) {
      auto to = static_cast<size_t>(
          broadcast.getBroadcastDimensions()[static_cast<size_t>(d)]);
      int64_t size = small.getDimSize(static_cast<unsigned>(d));
      if (size == 1)
        continue;
      int64_t stride =
          ShapedType::getNumElements(large.getShape().drop_front(to + 1));
      int64_t inner = layout.columnStride == 1 ? layout.columns : layout.rows;
      if (stride * size > inner && stride % inner != 0)
        return false;
      dims.push_back({stride, size, step});
      step *= size;
    }
    auto numberOf = [&](int64_t place) {
      int64_t number = 0;
      for (const Dim &dim : dims)
        number += place / dim.stride % dim.size * dim.step;
      return number;
    };
    auto rows = findSteps(layout.rows, [&](int64_t row) {
      return numberOf(row * layout.rowStride);
    });
    auto columns = findSteps(layout.columns, [&](int64_t column) {
      return numberOf(column * layout.columnStride);
    });
    if (!rows || !columns)
      return false;
    found.steps = {rows->span, rows->step, columns->span, columns->step};
    return true;
  }

  Type element;
  IsInside isInside;
  ScaledIntegers found;
  /// What the integers are multiplied by.
  Value factor;
};
} // namespace

std::optional<ScaledIntegers>
stablehlo::findScaledIntegers(Value operand, ArrayRef<int64_t> rows,
                              ArrayRef<int64_t> columns, Type element,
                              IsInside isInside) {
  return Matcher(element, isInside).match(operand, rows, columns);
}

std::optional<RowsAndColumns>
stablehlo::divideDims(RankedTensorType type, const MatrixLayout &layout) {
  bool byRows = layout.columnStride == 1;
  int64_t outer = byRows ? layout.rows : layout.columns;
  if (type.getNumElements() != layout.rows * layout.columns)
    return std::nullopt;
  RowsAndColumns dims;
  int64_t seen = 1, dim = 0;
  for (; seen < outer && dim < type.getRank(); ++dim) {
    seen *= type.getDimSize(static_cast<unsigned>(dim));
    (byRows ? dims.rows : dims.columns).push_back(dim);
  }
  for (; dim < type.getRank(); ++dim)
    (byRows ? dims.columns : dims.rows).push_back(dim);
  return seen == outer ? std::optional(dims) : std::nullopt;
}
