// Generators of ops that make values or put them in another order.

#include "compiler/kernel/element/generators.h"
#include "compiler/kernel/element/reader.h"
#include "compiler/kernel/element/scalar.h"

#include "dialect/dispatch/panel_layout.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::kernel;

Value alula::kernel::generateIota(OpResult result, ValueRange indices,
                                  Reader &reader) {
  ImplicitLocOpBuilder &b = reader.b;
  Operation *op = result.getOwner();
  int64_t dim = cast<IntegerAttr>(op->getAttr("iota_dimension")).getInt();
  int64_t size = cast<RankedTensorType>(result.getType()).getDimSize(dim);
  // Converting 32 bits is one instruction on every machine.
  bool isShort = !ShapedType::isDynamic(size) && size < (int64_t(1) << 31);
  Type number = b.getIntegerType(isShort ? 32 : 64);
  Value value = b.create<arith::IndexCastOp>(number, indices[dim]);
  return convertScalar(reader, op, value, number, getElementType(result));
}

Value alula::kernel::generateBroadcast(OpResult result, ValueRange indices,
                                       Reader &reader) {
  Operation *op = result.getOwner();
  Value operand = op->getOperand(0);
  auto type = cast<RankedTensorType>(operand.getType());
  auto resultType = cast<RankedTensorType>(result.getType());
  // `broadcast` adds dimensions in front, the others say where theirs go.
  SmallVector<int64_t> dims;
  if (auto attr = op->getAttrOfType<DenseI64ArrayAttr>("broadcast_dimensions"))
    dims.assign(attr.asArrayRef().begin(), attr.asArrayRef().end());
  else
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      dims.push_back(resultType.getRank() - type.getRank() + dim);

  SmallVector<Value> source;
  for (auto [dim, target] : llvm::enumerate(dims)) {
    int64_t size = type.getDimSize(static_cast<unsigned>(dim));
    if (size == 1) {
      source.push_back(reader.index(0));
    } else if (!ShapedType::isDynamic(size) ||
               stablehlo::isSaidToBeKept(op, static_cast<int64_t>(dim))) {
      source.push_back(indices[target]);
    } else {
      Value isOne = reader.compare(
          arith::CmpIPredicate::eq,
          reader.getDim(operand, static_cast<int64_t>(dim)), reader.index(1));
      source.push_back(reader.select(isOne, reader.index(0), indices[target]));
    }
  }
  return reader.getElement(operand, source);
}

Value alula::kernel::generateTranspose(OpResult result, ValueRange indices,
                                       Reader &reader) {
  auto transpose = cast<stablehlo::TransposeOp>(result.getOwner());
  SmallVector<Value> source(indices.size());
  for (auto [position, dim] : llvm::enumerate(transpose.getPermutation()))
    source[static_cast<size_t>(dim)] = indices[position];
  return reader.getElement(transpose.getOperand(), source);
}

Value alula::kernel::generateReverse(OpResult result, ValueRange indices,
                                     Reader &reader) {
  auto reverse = cast<stablehlo::ReverseOp>(result.getOwner());
  SmallVector<Value> source(indices);
  for (int64_t dim : reverse.getDimensions())
    source[static_cast<size_t>(dim)] = reader.sub(
        reader.sub(reader.getDim(reverse.getOperand(), dim), reader.index(1)),
        indices[dim]);
  return reader.getElement(reverse.getOperand(), source);
}

// Dimensions that are split or merged are counted through, the others stay.
Value alula::kernel::generateReshape(OpResult result, ValueRange indices,
                                     Reader &reader) {
  Value operand = result.getOwner()->getOperand(0);
  SmallVector<Value> from = reader.getShape(operand);
  SmallVector<Value> to = reader.getShape(result);
  // How many sizes are unknown, and the product of the others.
  using Count = std::pair<int64_t, int64_t>;
  auto take = [](ArrayRef<Value> sizes, size_t &at, Count &count) {
    if (auto size = getConstantIntValue(sizes[at++]))
      count.second *= *size;
    else
      ++count.first;
  };
  auto takeAll = [&](ArrayRef<Value> sizes) {
    Count count(0, 1);
    for (size_t at = 0; at < sizes.size();)
      take(sizes, at, count);
    return count;
  };
  // One that is unknown is the same before and after, if all others are.
  Count all = takeAll(from);
  bool areKnown = all.first == 0 || (all.first == 1 && all.second);
  if (!areKnown || takeAll(to) != all)
    return reader.getElement(
        operand, reader.delinearize(reader.linearize(indices, to), from));

  SmallVector<Value> source;
  for (size_t i = 0, j = 0; i < from.size() || j < to.size();) {
    // The shortest runs of both that have the same number of elements.
    size_t firstFrom = i, firstTo = j;
    Count numFrom(0, 1), numTo(0, 1);
    if (i < from.size())
      take(from, i, numFrom);
    if (j < to.size())
      take(to, j, numTo);
    while (numFrom != numTo && (i < from.size() || j < to.size())) {
      if (j == to.size() || (i < from.size() && numFrom < numTo))
        take(from, i, numFrom);
      else
        take(to, j, numTo);
    }
    ValueRange run = indices.slice(firstTo, j - firstTo);
    ArrayRef<Value> runTo = ArrayRef(to).slice(firstTo, j - firstTo);
    ArrayRef<Value> runFrom = ArrayRef(from).slice(firstFrom, i - firstFrom);
    llvm::append_range(
        source, reader.delinearize(reader.linearize(run, runTo), runFrom));
  }
  return reader.getElement(operand, source);
}

// The few numbers are arguments of the kernel.
Value alula::kernel::generatePack(OpResult result, ValueRange indices,
                                  Reader &reader) {
  auto pack = cast<alula::dispatch::PackOp>(result.getOwner());
  Type type = getValueType(getElementType(result));
  Value position = reader.linearize(indices, reader.getShape(result));
  Value element;
  for (auto [i, number] : llvm::enumerate(pack.getNumbers())) {
    Value value = reader.getScalar(number);
    Value isHere = reader.compare(arith::CmpIPredicate::eq, position,
                                  reader.index(static_cast<int64_t>(i)));
    element = element ? reader.select(isHere, value, element) : value;
  }
  if (!element)
    return reader.zero(type);
  return reader.b.createOrFold<arith::IndexCastOp>(type, element);
}

Value alula::kernel::generateFromPanels(OpResult result, ValueRange indices,
                                        Reader &reader) {
  auto op = cast<alula::dispatch::FromPanelsOp>(result.getOwner());
  auto count = [&](ArrayRef<int64_t> dims) {
    SmallVector<Value> inside, sizes;
    for (int64_t dim : dims) {
      inside.push_back(indices[static_cast<size_t>(dim)]);
      sizes.push_back(reader.getDim(result, dim));
    }
    return reader.linearize(inside, sizes);
  };
  Value row = count(op.getRows()), column = count(op.getColumns());
  alula::dispatch::PanelLayout layout = alula::dispatch::getPanelLayout(op);
  Value width = reader.index(layout.width), group = reader.index(layout.group);
  SmallVector<Value> place{reader.div(column, width), reader.div(row, group),
                           reader.rem(column, width)};
  if (cast<RankedTensorType>(op.getPanels().getType()).getRank() == 4)
    place.push_back(reader.rem(row, group));
  Value value = reader.getElement(op.getPanels(), place);
  if (!layout.isOffset)
    return value;
  Value sign = reader.b.create<arith::ConstantOp>(reader.b.getIntegerAttr(
      value.getType(), -1 << (value.getType().getIntOrFloatBitWidth() - 1)));
  return reader.b.create<arith::XOrIOp>(value, sign);
}

// What is cut off is not there.
Value alula::kernel::generateSetDimensionSize(OpResult result,
                                              ValueRange indices,
                                              Reader &reader) {
  return reader.getElement(result.getOwner()->getOperand(0), indices);
}

Value alula::kernel::generateDimensionSize(OpResult result, ValueRange,
                                           Reader &reader) {
  auto size = cast<stablehlo::GetDimensionSizeOp>(result.getOwner());
  return reader.b.create<arith::IndexCastOp>(
      getValueType(getElementType(result)),
      reader.getDim(size.getOperand(),
                    static_cast<int64_t>(size.getDimension())));
}
