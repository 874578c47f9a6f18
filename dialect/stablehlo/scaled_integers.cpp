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

  std::optional<ScaledIntegers> match(Value operand, ArrayRef<int64_t> batch,
                                      ArrayRef<int64_t> rows,
                                      ArrayRef<int64_t> columns) {
    Value source = layOut(operand, batch, rows, columns);
    if (!source)
      return std::nullopt;
    found.integers = findIntegers(source);
    if (!found.integers || (factor && !placeScale()) ||
        (difference && !placeZero()))
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
  Value layOut(Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> rows,
               ArrayRef<int64_t> columns) {
    SmallVector<int64_t> batchDims(batch), rowDims(rows), columnDims(columns);
    while (auto transpose = getInside<TransposeOp>(operand)) {
      for (SmallVector<int64_t> *dims : {&batchDims, &rowDims, &columnDims})
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
    addAxis(layout.rowStride, layout.rows);
    addAxis(layout.columnStride, layout.columns);
    for (int64_t dim : batchDims) {
      int64_t stride = ShapedType::getNumElements(
          type.getShape().drop_front(static_cast<size_t>(dim) + 1));
      addAxis(stride, type.getDimSize(static_cast<unsigned>(dim)));
      found.batch.push_back({stride, 0});
    }
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
    // What is subtracted before it is scaled.
    if (auto subtract = getInside<SubtractOp>(value); subtract && !difference) {
      difference = subtract.getRhs();
      if (!getInside<MulOp>(skipReshapes(subtract.getLhs())))
        if (Value integers = findIntegers(subtract.getLhs()))
          return integers;
      difference = {};
      return {};
    }
    auto convert = getInside<ConvertOp>(value);
    if (!convert || getElementTypeOrSelf(convert.getResult()) != element)
      return {};
    Value source = skipReshapes(convert.getOperand());
    return isa<IntegerType>(getElementTypeOrSelf(source)) ? source : Value();
  }

  bool placeScale() {
    SmallVector<int64_t> batch;
    if (!place(factor, found.broadcast, found.scale, found.steps, batch))
      return false;
    for (auto [step, number] : llvm::zip_equal(found.batch, batch))
      step.scale = number;
    return true;
  }
  bool placeZero() {
    SmallVector<int64_t> batch;
    return found.batch.empty() && place(difference, found.zeroBroadcast,
                                        found.zero, found.zeroSteps, batch);
  }

  /// Whether all that is inside of a place are whole lines of the matrices or
  /// numbers of the batch: parts of a place then have numbers of their own, and
  /// the place has their sum.
  bool isBoundary(int64_t place) const {
    return llvm::any_of(axes, [&](const Axis &axis) {
      return axis.size > 1 && place % axis.stride == 0 &&
             axis.stride * axis.size % place == 0;
    });
  }

  /// A dimension of numbers: how far in the integers its neighbours are apart,
  /// and among the numbers.
  struct Dim {
    int64_t stride, size, step;
  };
  std::optional<SmallVector<Dim>> collectDims(BroadcastInDimOp broadcast) {
    auto small = cast<RankedTensorType>(broadcast.getOperand().getType());
    auto large = cast<RankedTensorType>(broadcast.getType());
    if (!small.hasStaticShape() || !large.hasStaticShape())
      return std::nullopt;
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
      if (!isBoundary(stride) || !isBoundary(stride * size))
        return std::nullopt;
      dims.push_back({stride, size, step});
      step *= size;
    }
    return dims;
  }

  /// Which of the numbers that are repeated each element has.
  bool place(Value repeated, Operation *&repeats, Value &numbers,
             MatrixSteps &matrixSteps, SmallVector<int64_t> &batch) {
    const MatrixLayout &layout = found.layout;
    auto broadcast = getInside<BroadcastInDimOp>(skipReshapes(repeated));
    auto dims = broadcast ? collectDims(broadcast) : std::nullopt;
    if (!dims)
      return false;
    repeats = broadcast;
    numbers = skipReshapes(broadcast.getOperand());
    auto findStepsAlong = [&](int64_t count, int64_t stride) {
      return findSteps(count, [&](int64_t line) {
        int64_t number = 0;
        for (const Dim &dim : *dims)
          number += line * stride / dim.stride % dim.size * dim.step;
        return number;
      });
    };
    auto rows = findStepsAlong(layout.rows, layout.rowStride);
    auto columns = findStepsAlong(layout.columns, layout.columnStride);
    if (!rows || !columns)
      return false;
    // The first two axes are of the matrix.
    for (const Axis &axis : ArrayRef(axes).drop_front(2)) {
      auto steps = findStepsAlong(axis.size, axis.stride);
      if (!steps || (steps->step && steps->span != 1))
        return false;
      batch.push_back(steps->step);
    }
    matrixSteps = {rows->span, rows->step, columns->span, columns->step};
    return true;
  }

  struct Axis {
    int64_t stride, size;
  };
  void addAxis(int64_t stride, int64_t size) {
    axes.push_back({std::max<int64_t>(stride, 1), size});
  }

  Type element;
  IsInside isInside;
  ScaledIntegers found;
  /// Of the integers: rows, columns, and the batch.
  SmallVector<Axis> axes;
  /// What the integers are multiplied by, and what is subtracted before.
  Value factor, difference;
};
} // namespace

std::optional<ScaledIntegers>
stablehlo::findScaledIntegers(Value operand, ArrayRef<int64_t> batch,
                              ArrayRef<int64_t> rows, ArrayRef<int64_t> columns,
                              Type element, IsInside isInside) {
  return Matcher(element, isInside).match(operand, batch, rows, columns);
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
