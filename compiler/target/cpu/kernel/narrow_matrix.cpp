// Operands of products that are integers of few bits times scales.
//   reshape(multiply(reshape(convert %w), broadcast_in_dim %scale))

#include "compiler/target/cpu/kernel/narrow_matrix.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

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

class Matcher {
public:
  Matcher(MatrixLayout layout, Type element, Lowering &lowering)
      : layout(layout), element(element), lowering(lowering) {
    matrix.layout = layout;
  }

  std::optional<NarrowMatrix> match(Value tensor) {
    Value integers = findIntegers(tensor);
    if (!integers)
      return std::nullopt;
    if (scale && !placeScale())
      return std::nullopt;
    matrix.integers = lowering.getPointer(lowering.getBinding(integers));
    return matrix;
  }

private:
  Value skipReshapes(Value value) {
    while (lowering.isInlined(value)) {
      auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>();
      if (!reshape)
        break;
      value = reshape.getOperand();
    }
    return value;
  }

  /// The integers that are converted and, on the way, multiplied by `scale`.
  Value findIntegers(Value tensor) {
    Value value = skipReshapes(tensor);
    if (!lowering.isInlined(value))
      return {};
    if (auto product = value.getDefiningOp<stablehlo::MulOp>()) {
      if (scale)
        return {};
      for (auto [side, other] :
           {std::pair(product.getLhs(), product.getRhs()),
            std::pair(product.getRhs(), product.getLhs())}) {
        scale = other;
        if (Value found = findIntegers(side))
          return found;
      }
      scale = {};
      return {};
    }
    auto convert = value.getDefiningOp<stablehlo::ConvertOp>();
    if (!convert || getElementType(convert.getResult()) != element)
      return {};
    Value source = skipReshapes(convert.getOperand());
    auto from = dyn_cast<IntegerType>(getElementType(source));
    if (!from || !(from.getWidth() == 4 ? lowering.hasPacked(source)
                                        : lowering.hasBuffer(source)))
      return {};
    matrix.type = getLibraryName(from);
    bool isKnown =
        from.getWidth() == 4 || (from.getWidth() == 8 && element.isF32());
    // Bytes keep their sign.
    bool fits =
        element.isF32() || (element.getIntOrFloatBitWidth() == 8 && !scale &&
                            isa<IntegerType>(element) &&
                            element.isUnsignedInteger() == from.isUnsigned());
    return isKnown && fits ? source : Value();
  }

  /// Which number of the scales each element has.
  bool placeScale() {
    Value value = skipReshapes(scale);
    auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
    if (!broadcast || !lowering.isInlined(value))
      return false;
    Value numbers = skipReshapes(broadcast.getOperand());
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
    matrix.scaleRows = rows->span;
    matrix.scaleRowStep = rows->step;
    matrix.scaleColumns = columns->span;
    matrix.scaleColumnStep = columns->step;
    if (lowering.hasBuffer(numbers)) {
      matrix.scale = lowering.getBuffer(numbers);
      return true;
    }
    if (!dims.empty())
      return false;
    // One number.
    Value one =
        lowering.createTemporary({lowering.index(1)}, getMemoryType(element));
    SmallVector<Value> indices(static_cast<size_t>(small.getRank()),
                               lowering.index(0));
    lowering.b.create<memref::StoreOp>(
        lowering.getElement(broadcast.getOperand(), indices), one,
        ValueRange{lowering.index(0)});
    matrix.scale = one;
    return true;
  }

  MatrixLayout layout;
  Type element;
  Lowering &lowering;
  NarrowMatrix matrix;
  Value scale;
};
} // namespace

std::optional<NarrowMatrix> alula::cpu::findNarrowMatrix(Value tensor,
                                                         MatrixLayout layout,
                                                         Type element,
                                                         Lowering &lowering) {
  if (layout.rowStride != 1 && layout.columnStride != 1)
    return std::nullopt;
  return Matcher(layout, element, lowering).match(tensor);
}

void RoutineArguments::addSize(Value size) {
  values.push_back(
      lowering.b.create<arith::IndexCastOp>(lowering.b.getI64Type(), size));
}
