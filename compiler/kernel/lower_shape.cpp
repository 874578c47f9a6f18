// Generators of ops that make values or put them in another order.

#include "compiler/kernel/families.h"
#include "compiler/kernel/scalar.h"

#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::kernel;

Value alula::kernel::generateIota(OpResult result, ValueRange indices,
                                  Lowering &lowering) {
  ImplicitLocOpBuilder &b = lowering.b;
  Operation *op = result.getOwner();
  int64_t dim = cast<IntegerAttr>(op->getAttr("iota_dimension")).getInt();
  int64_t size = cast<RankedTensorType>(result.getType()).getDimSize(dim);
  // Converting 32 bits is one instruction on every machine.
  bool isShort = !ShapedType::isDynamic(size) && size < (int64_t(1) << 31);
  Type number = b.getIntegerType(isShort ? 32 : 64);
  Value value = b.create<arith::IndexCastOp>(number, indices[dim]);
  return convertScalar(lowering, op, value, number, getElementType(result));
}

Value alula::kernel::generateBroadcast(OpResult result, ValueRange indices,
                                       Lowering &lowering) {
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
      source.push_back(lowering.index(0));
    } else if (!ShapedType::isDynamic(size)) {
      source.push_back(indices[target]);
    } else {
      Value isOne = lowering.compare(
          arith::CmpIPredicate::eq,
          lowering.getDim(operand, static_cast<int64_t>(dim)),
          lowering.index(1));
      source.push_back(
          lowering.select(isOne, lowering.index(0), indices[target]));
    }
  }
  return lowering.getElement(operand, source);
}

Value alula::kernel::generateTranspose(OpResult result, ValueRange indices,
                                       Lowering &lowering) {
  auto transpose = cast<stablehlo::TransposeOp>(result.getOwner());
  SmallVector<Value> source(indices.size());
  for (auto [position, dim] : llvm::enumerate(transpose.getPermutation()))
    source[static_cast<size_t>(dim)] = indices[position];
  return lowering.getElement(transpose.getOperand(), source);
}

Value alula::kernel::generateReverse(OpResult result, ValueRange indices,
                                     Lowering &lowering) {
  auto reverse = cast<stablehlo::ReverseOp>(result.getOwner());
  SmallVector<Value> source(indices);
  for (int64_t dim : reverse.getDimensions())
    source[static_cast<size_t>(dim)] =
        lowering.sub(lowering.sub(lowering.getDim(reverse.getOperand(), dim),
                                  lowering.index(1)),
                     indices[dim]);
  return lowering.getElement(reverse.getOperand(), source);
}

// Dimensions that are split or merged are counted through, the others stay.
Value alula::kernel::generateReshape(OpResult result, ValueRange indices,
                                     Lowering &lowering) {
  Value operand = result.getOwner()->getOperand(0);
  SmallVector<Value> from = lowering.getShape(operand);
  SmallVector<Value> to = lowering.getShape(result);
  auto all = [](ArrayRef<Value> sizes) {
    return llvm::all_of(sizes, [](Value size) {
      return getConstantIntValue(size).has_value();
    });
  };
  if (!all(from) || !all(to))
    return lowering.getElement(
        operand,
        lowering.delinearize(lowering.linearize(indices, to), from));

  SmallVector<Value> source;
  for (size_t i = 0, j = 0; i < from.size() || j < to.size();) {
    // The shortest runs of both that have the same number of elements.
    size_t firstFrom = i, firstTo = j;
    int64_t numFrom = 1, numTo = 1;
    auto take = [](ArrayRef<Value> sizes, size_t &at, int64_t &count) {
      count *= *getConstantIntValue(sizes[at++]);
    };
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
        source,
        lowering.delinearize(lowering.linearize(run, runTo), runFrom));
  }
  return lowering.getElement(operand, source);
}

// The same bytes: memory needs no copy.
bool alula::kernel::aliasReshape(Operation *op, Lowering &lowering) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  // Packed elements are found by their number, whatever the shape.
  if (lowering.hasPacked(operand)) {
    lowering.setAlias(result, operand);
    return true;
  }
  if (!lowering.hasBuffer(operand))
    return false;
  lowering.setBuffer(
      result, lowering.createView(lowering.getBuffer(operand),
                                  lowering.getShape(result)));
  return true;
}

// Written in the order of the operand, so that nothing is divided.
void alula::kernel::emitReshape(Operation *op, Lowering &lowering) {
  Value operand = op->getOperand(0);
  Value buffer = lowering.createResult(op->getResult(0));
  lowering.fill(lowering.createView(buffer, lowering.getShape(operand)),
                operand);
}

// The few numbers are arguments of the kernel.
Value alula::kernel::generatePack(OpResult result, ValueRange indices,
                                  Lowering &lowering) {
  auto pack = cast<alula::dispatch::PackOp>(result.getOwner());
  Type type = getValueType(getElementType(result));
  Value position = lowering.linearize(indices, lowering.getShape(result));
  Value element;
  for (auto [i, number] : llvm::enumerate(pack.getNumbers())) {
    Value value = lowering.getScalar(number);
    Value isHere =
        lowering.compare(arith::CmpIPredicate::eq, position,
                         lowering.index(static_cast<int64_t>(i)));
    element = element ? lowering.select(isHere, value, element) : value;
  }
  if (!element)
    return lowering.zero(type);
  return lowering.b.createOrFold<arith::IndexCastOp>(type, element);
}

Value alula::kernel::generateFromPanels(OpResult result, ValueRange indices,
                                        Lowering &lowering) {
  auto op = cast<alula::dispatch::FromPanelsOp>(result.getOwner());
  auto count = [&](ArrayRef<int64_t> dims) {
    SmallVector<Value> inside, sizes;
    for (int64_t dim : dims) {
      inside.push_back(indices[static_cast<size_t>(dim)]);
      sizes.push_back(lowering.getDim(result, dim));
    }
    return lowering.linearize(inside, sizes);
  };
  Value row = count(op.getRows()), column = count(op.getColumns());
  Value width = lowering.index(op.getWidth());
  return lowering.getElement(op.getPanels(),
                             {lowering.div(column, width), row,
                              lowering.rem(column, width)});
}

// What is cut off is not there.
Value alula::kernel::generateSetDimensionSize(OpResult result,
                                              ValueRange indices,
                                              Lowering &lowering) {
  return lowering.getElement(result.getOwner()->getOperand(0), indices);
}

void alula::kernel::emitIdentity(Operation *op, Lowering &lowering) {
  for (auto [operand, result] :
       llvm::zip_equal(op->getOperands(), op->getResults()))
    if (isa<RankedTensorType>(operand.getType()))
      lowering.setAlias(result, operand);
}

void alula::kernel::emitNothing(Operation *, Lowering &) {}

Value alula::kernel::generateDimensionSize(OpResult result, ValueRange,
                                           Lowering &lowering) {
  auto size = cast<stablehlo::GetDimensionSizeOp>(result.getOwner());
  return lowering.b.create<arith::IndexCastOp>(
      getValueType(getElementType(result)),
      lowering.getDim(size.getOperand(),
                      static_cast<int64_t>(size.getDimension())));
}
