// Long rows whose order is that of one number each are sorted by the digits of
// these numbers.
//   for each row:  pairs[i] = (key of x[i], i);  alula_sort_32(pairs, …);
//                  result[i] = x[pairs[i] & 0xFFFFFFFF]
// A single operand goes along instead of its place; and where its elements can be
// told from their keys, as those of rows without -0.0 and NaNs can, keys alone
// are sorted.

#include "compiler/kernel/radix_sort.h"

#include "compiler/kernel/element_form.h"
#include "compiler/kernel/library/sort.h"
#include "compiler/kernel/matrix_operand.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace alula::kernel;
using stablehlo::ComparisonDirection;

namespace {
/// Merging is faster below; places are numbers of 32 bits.
constexpr int64_t minRow = 64, maxRow = INT32_MAX;
/// What sorting one element costs, to how many threads it is worth.
constexpr int64_t stepsPerElement = 16;

/// Whether `a` is computed from `fromA` as `b` is from `fromB`, and from
/// nothing else that differs.
bool isSameFunction(Value a, Value fromA, Value b, Value fromB) {
  if (a == fromA || b == fromB)
    return a == fromA && b == fromB;
  Operation *opA = a.getDefiningOp(), *opB = b.getDefiningOp();
  if (!opA || !opB || isa<BlockArgument>(a))
    return a == b && !isa<BlockArgument>(a);
  if (opA->getName() != opB->getName() || opA->getNumRegions() ||
      opA->getAttrDictionary() != opB->getAttrDictionary() ||
      opA->getNumOperands() != opB->getNumOperands() ||
      opA->getResultTypes() != opB->getResultTypes() ||
      opA->getNumResults() != 1 || !isMemoryEffectFree(opA))
    return false;
  for (auto [x, y] : llvm::zip_equal(opA->getOperands(), opB->getOperands()))
    if (!isSameFunction(x, fromA, y, fromB))
      return false;
  return true;
}

/// A comparator that says a < b, or a > b, of one number of each.
struct Order {
  Value number;
  bool isDescending;

  static std::optional<Order> find(Block &comparator) {
    auto comparison =
        comparator.getTerminator()->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
    if (!comparison || comparison->getBlock() != &comparator)
      return std::nullopt;
    ComparisonDirection direction = comparison.getComparisonDirection();
    if (direction != ComparisonDirection::LT &&
        direction != ComparisonDirection::GT)
      return std::nullopt;
    Type element = getElementType(comparison.getLhs());
    // Where a NaN is, nothing is in order.
    if (isa<FloatType>(element)
            ? comparison.getCompareType() != stablehlo::ComparisonType::TOTALORDER
            : !isa<IntegerType>(element))
      return std::nullopt;
    for (unsigned k = 0; k + 1 < comparator.getNumArguments(); k += 2) {
      Value a = comparator.getArgument(k), b = comparator.getArgument(k + 1);
      bool isGreater = direction == ComparisonDirection::GT;
      if (isSameFunction(comparison.getLhs(), a, comparison.getRhs(), b))
        return Order{comparison.getLhs(), isGreater};
      if (isSameFunction(comparison.getLhs(), b, comparison.getRhs(), a))
        return Order{comparison.getRhs(), !isGreater};
    }
    return std::nullopt;
  }
};

class RadixSort {
public:
  RadixSort(stablehlo::SortOp sort, Order order, ArrayRef<Value> results,
            Lowering &lowering)
      : sort(sort), order(order), results(results), lowering(lowering),
        b(lowering.b), sizes(lowering.getShape(sort.getInputs()[0])),
        dim(static_cast<size_t>(sort.getDimension() < 0
                                    ? sort.getDimension() + int64_t(sizes.size())
                                    : sort.getDimension())) {}

  bool emit();

private:
  void sortRow(ValueRange row);
  void sortPairs(ValueRange row, Value scratch);
  Value makeKey(ValueRange row, Value place);
  /// The bits of the number that has this key, if it is one of the row.
  Value undoKey(Value bits);
  Value getKeyMask(Value isNegative);
  SmallVector<Value> at(ValueRange row, Value place) {
    SmallVector<Value> indices(row);
    indices[dim] = place;
    return indices;
  }
  Value constant(int64_t value) {
    return b.create<arith::ConstantIntOp>(value, b.getI64Type());
  }
  void callSort(StringRef what, Value memory, Value half, Value scratch);
  Value hasSign(Value bits) {
    return b.create<arith::CmpIOp>(
        arith::CmpIPredicate::ne,
        b.create<arith::AndIOp>(
            bits, constant(int64_t(uint64_t(1) << (numberBits - 1)))),
        constant(0));
  }
  /// Bits of a number as one of 64 bits, and back.
  Value widen(Value value);
  Value narrow(Value bits, Type type);

  stablehlo::SortOp sort;
  Order order;
  ArrayRef<Value> results;
  Lowering &lowering;
  ImplicitLocOpBuilder &b;
  SmallVector<Value> sizes;
  size_t dim;
  /// Returns the number of its first element.
  Region key;
  int64_t keyBits = 32;
  int64_t numberBits = 32;
  bool isFloat = false, isSigned = false;
  /// Elements go along with their keys.
  bool carriesElements = false;
};

bool RadixSort::emit() {
  auto size = getConstantIntValue(sizes[dim]);
  if (!size || *size < minRow || *size > maxRow)
    return false;
  Type number = getValueType(getElementType(order.number));
  auto isPlain = [](Type element) {
    return !isSmallFloat(element) && isa<IntegerType, FloatType>(element);
  };
  if (!number || !isPlain(getElementType(order.number)))
    return false;
  numberBits = number.getIntOrFloatBitWidth();
  keyBits = numberBits > 32 ? 64 : 32;
  isFloat = isa<FloatType>(number);
  isSigned = getElementKind(getElementType(order.number)) == ElementKind::Signed;
  Type first = getElementType(sort.getInputs()[0]);
  carriesElements =
      sort.getInputs().size() == 1 && isPlain(first) &&
      int64_t(getValueType(first).getIntOrFloatBitWidth()) <= keyBits;

  IRMapping mapping;
  sort.getComparator().cloneInto(&key, mapping);
  key.front().getTerminator()->setOperands(mapping.lookup(order.number));

  SmallVector<Value> rows(sizes);
  rows[dim] = lowering.index(1);
  lowering.forEachBlock(
      lowering.product(rows), *size * stepsPerElement,
      [&](Value row) { sortRow(lowering.delinearize(row, rows)); });
  return true;
}

Value RadixSort::widen(Value value) {
  Type type = value.getType();
  if (isa<FloatType>(type))
    value = b.create<arith::BitcastOp>(
        b.getIntegerType(type.getIntOrFloatBitWidth()), value);
  return value.getType().isInteger(64)
             ? value
             : b.create<arith::ExtUIOp>(b.getI64Type(), value);
}

Value RadixSort::narrow(Value bits, Type type) {
  auto integer = b.getIntegerType(type.getIntOrFloatBitWidth());
  if (integer.getWidth() < 64)
    bits = b.create<arith::TruncIOp>(integer, bits);
  return isa<FloatType>(type) ? b.create<arith::BitcastOp>(type, bits) : bits;
}

// Of floats, all bits of a negative one count the other way.
Value RadixSort::getKeyMask(Value isNegative) {
  int64_t sign = int64_t(uint64_t(1) << (numberBits - 1));
  int64_t ones = numberBits == 64 ? -1 : (int64_t(1) << numberBits) - 1;
  int64_t turn = order.isDescending ? ones : 0;
  if (!isFloat)
    return constant((isSigned ? sign : 0) ^ turn);
  return lowering.select(isNegative, constant(ones ^ turn),
                         constant(sign ^ turn));
}

/// An unsigned number that is larger where the element comes later.
Value RadixSort::makeKey(ValueRange row, Value place) {
  SmallVector<Value> arguments;
  for (Value input : sort.getInputs())
    arguments.append(2, lowering.getElement(input, at(row, place)));
  Value bits = widen(lowering.call(key.front(), arguments)[0]);
  Value isNegative = hasSign(bits);
  return b.create<arith::XOrIOp>(bits, getKeyMask(isNegative));
}

Value RadixSort::undoKey(Value bits) {
  // The sign is turned once more if the order is.
  Value hasBit = hasSign(bits);
  Value isNegative = order.isDescending
                         ? hasBit
                         : Value(b.create<arith::XOrIOp>(hasBit, lowering.makeTrue()));
  return b.create<arith::XOrIOp>(bits, getKeyMask(isNegative));
}

void RadixSort::sortRow(ValueRange row) {
  Value input = sort.getInputs()[0];
  Value scratch = lowering.createTemporary(
      {lowering.index(ALULA_SORT_SCRATCH_BYTES)}, b.getI8Type());
  if (!carriesElements || getElementType(input) != getElementType(order.number))
    return sortPairs(row, scratch);
  Value size = sizes[dim], zero = lowering.index(0);
  Type word = b.getIntegerType(static_cast<unsigned>(keyBits));
  Value keys = lowering.createTemporary({lowering.index(2), size}, word);
  Value differs = lowering.fold(
      {size}, constant(0),
      [&](ValueRange position, ValueRange carried) -> SmallVector<Value> {
        Value bits = makeKey(row, position[0]);
        b.create<memref::StoreOp>(narrow(bits, word), keys,
                                  ValueRange{zero, position[0]});
        Value element = widen(lowering.getElement(input, at(row, position[0])));
        Value difference = b.create<arith::XOrIOp>(undoKey(bits), element);
        return {b.create<arith::OrIOp>(carried[0], difference)};
      })[0];
  lowering.choose(
      b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, differs, constant(0)), {},
      [&] {
        callSort("keys", keys, size, scratch);
        lowering.forEach({size}, [&](ValueRange position) {
          Value bits = widen(b.create<memref::LoadOp>(
              keys, ValueRange{zero, position[0]}));
          lowering.store(narrow(undoKey(bits), getValueType(getElementType(input))),
                         getElementType(input), results[0],
                         at(row, position[0]));
        });
        return SmallVector<Value>();
      },
      [&] {
        sortPairs(row, scratch);
        return SmallVector<Value>();
      });
}

/// `half` is where the second half of the memory begins.
void RadixSort::callSort(StringRef what, Value memory, Value half,
                         Value scratch) {
  Value count = b.create<arith::IndexCastOp>(b.getI64Type(), sizes[dim]);
  lowering.callLibrary("alula_sort_" + what + "_" + Twine(keyBits),
                       {getElementPointer(lowering, memory, lowering.index(0)),
                        getElementPointer(lowering, memory, half), count,
                        lowering.getPointer(scratch)});
}

void RadixSort::sortPairs(ValueRange row, Value scratch) {
  Value size = sizes[dim], words = lowering.index(keyBits == 64 ? 2 : 1);
  Value half = lowering.mul(size, words), zero = lowering.index(0);
  // The pairs, and room for as many.
  Value pairs = lowering.createTemporary({lowering.index(2), half}, b.getI64Type());
  auto first = [&](Value place) { return lowering.mul(place, words); };
  auto second = [&](Value place) {
    return lowering.add(first(place), lowering.index(1));
  };
  lowering.forEach({size}, [&](ValueRange position) {
    Value place = position[0], bits = makeKey(row, place);
    Value other =
        carriesElements
            ? widen(lowering.getElement(sort.getInputs()[0], at(row, place)))
            : Value(b.create<arith::IndexCastOp>(b.getI64Type(), place));
    auto store = [&](Value value, Value where) {
      b.create<memref::StoreOp>(value, pairs, ValueRange{zero, where});
    };
    if (keyBits == 64) {
      store(bits, first(place));
      store(other, second(place));
    } else {
      bits = b.create<arith::ShLIOp>(bits, constant(32));
      store(b.create<arith::OrIOp>(bits, other), place);
    }
  });
  callSort("pairs", pairs, half, scratch);
  lowering.forEach({size}, [&](ValueRange position) {
    Value place = position[0];
    Value where = keyBits == 64 ? second(place) : place;
    Value other = b.create<memref::LoadOp>(pairs, ValueRange{zero, where});
    SmallVector<Value> values;
    if (carriesElements) {
      Type element = getElementType(sort.getInputs()[0]);
      values.push_back(narrow(other, getValueType(element)));
    } else {
      if (keyBits == 32)
        other = b.create<arith::AndIOp>(other, constant(UINT32_MAX));
      Value from = b.create<arith::IndexCastOp>(b.getIndexType(), other);
      for (Value input : sort.getInputs())
        values.push_back(lowering.getElement(input, at(row, from)));
    }
    for (auto [input, value, result] :
         llvm::zip_equal(sort.getInputs(), values, results))
      lowering.store(value, getElementType(input), result, at(row, place));
  });
}
} // namespace

bool alula::kernel::emitRadixSort(stablehlo::SortOp sort,
                                  ArrayRef<Value> results,
                                  Lowering &lowering) {
  // The body must not depend on anything outside of it.
  auto order = Order::find(sort.getComparator().front());
  return order && RadixSort(sort, *order, results, lowering).emit();
}
