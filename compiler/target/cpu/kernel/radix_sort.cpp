// Long rows whose order is that of one number each are sorted by the digits of
// these numbers.
//   for each row:  pairs[i] = (key of x[i], i);  alula_sort_pairs_32(pairs, …);
//                  result[i] = x[pairs[i] & 0xFFFFFFFF]
// Where elements can be told from their keys, as those of rows without -0.0 and
// NaNs can, keys alone are sorted; the library also puts zeros and NaNs back.
// Very long rows are sorted in three steps that are loops over parts of a row: what
// bits keys have, chunks parted by digits, ranges of digits sorted (if the library
// sorts vectors: samples, chunks parted between them, ranges of parts); if there are
// few rows, each of these loops is shared by workgroups. Items are made, and sorted, in
// memory that stays in a cache: only the parted ones go through memory.
// Where rows are numbers side by side in memory, the library goes over them
// (`RowsInMemory`): nothing but calls is left to compile.

#include "compiler/target/cpu/kernel/radix_sort.h"

#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/library/sort.h"
#include "compiler/kernel/plan/sort_order.h"
#include "compiler/target/cpu/kernel/matrix_operand.h"
#include "compiler/target/cpu/kernel/sorted_rows.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
constexpr int64_t maxRanges = 1 << 10;

/// Parts of long rows.
struct PartSizes {
  explicit PartSizes(const alula::dispatch::MachineFacts &machine)
      : chunkBytes(machine.getCoreCacheBytes()),
        minParts(machine.getMemoryCores()),
        maxParts(machine.getMaxWorkgroups()),
        nearBytes(machine.getLastCacheBytes() / 4),
        halfGap(4 * machine.lineBytes + 16), maxSharedRows(machine.cores) {}

  int64_t chunkBytes;
  /// Bytes of keys that are sorted at once; more of them in chunks.
  int64_t maxAtOnce = chunkBytes / 2;
  int64_t minParts, maxParts;
  /// Elements that are worth a range of their own.
  int64_t rangeLength = chunkBytes / 16;
  /// Items that are read again at once lie in memory that has just been used,
  /// if that is no more than this.
  int64_t nearBytes, nearRange = chunkBytes / 4;
  /// Items between two halves, so that both may stay in a cache.
  int64_t halfGap;
  /// More rows than these are shared by workgroups themselves.
  int64_t maxSharedRows;
};

/// What one element costs, to how many threads it is worth: in all, and in each
/// step.
constexpr int64_t stepsPerElement = 16;
constexpr int64_t stepsOfParts[] = {2, 6, 10};

/// If samples part a row: elements that are worth a part of their own, how many parts
/// there are, and samples for each.
constexpr int64_t partLength = 1 << 15, minParted = 8, maxParted = 128,
                  samplesOfPart = 8;

class RadixSort {
public:
  RadixSort(stablehlo::SortOp sort, SortOrder order, ArrayRef<Value> results,
            Lowering &lowering)
      : sort(sort), order(order), results(results), lowering(lowering),
        b(lowering.b), limits(lowering.machine),
        sizes(lowering.getShape(sort.getInputs()[0])), dim(getSortedDim(sort)) {
  }

  void emit();
  bool emitFirst(int64_t needed);

private:
  void setUp();
  /// Memory of items: keys of a row, or pairs of a key and a place.
  struct Items {
    Value memory;
    /// Numbers of an item.
    int64_t words;
    const char *kind;

    bool hasPlaces() const { return kind != StringRef("keys_"); }
  };
  /// Where the items of a row are, in different states.
  enum Half { Made, Parted, Spare, NumHalves };
  /// What is known of the parts of rows.
  struct Parts {
    Value chunks, length, ranges;
    /// Some and all bits of keys; whether a key doesn't tell its element.
    Value bits, differs, ends;
    /// Of all chunks, and how many of each.
    Value samples;
    int64_t chunkSamples;
    /// Whether a chunk's items are made just before they are parted, in memory of
    /// its own; the library always makes pairs then.
    bool isMadeLate;
  };

  void sortAtOnce(ValueRange row);
  void sortInParts(ValueRange rows);
  Items createItems(bool isKeys, int64_t count);
  Items createHalves(bool isKeys, int64_t rows, int64_t halves) {
    return createItems(isKeys, rows * halves * (size + limits.halfGap));
  }
  void putKey(const Items &items, Value number, Value bits, Value place);
  /// Which one of all items of `memory` begins a half of a row.
  Value getFirst(Value row, Half half) {
    return lowering.mul(
        lowering.add(lowering.mul(row, lowering.index(NumHalves)),
                     lowering.index(half)),
        lowering.index(size + limits.halfGap));
  }
  Value getPointer(const Items &items, Value number) {
    return getElementPointer(lowering, items.memory,
                             lowering.mul(number, lowering.index(items.words)));
  }
  void makeItems(ValueRange row, const Items &items, Value first, Value begin,
                 Value end);
  SmallVector<Value> findBits(ValueRange row, const Items *keys, Value first,
                              Value begin, Value end);
  /// The same by the library: bits go to memory, if there is some.
  Value callFind(ValueRange row, const Items *keys, Value first, Value begin,
                 Value end, Value bits, Value differs);
  void takeSamples(const Parts &parts, Value rowNumber, ValueRange row,
                   Value chunk, const Items &keys);
  void noteBits(const Parts &parts, Value rowNumber, ValueRange row,
                Value chunk, const Items &keys);
  /// Writes elements of the results, whose items are from number `first` on.
  void putResults(ValueRange row, const Items &items, Value first, Value begin,
                  Value end);
  /// Makes them what they are where keys don't tell.
  void restore(ValueRange row, Value begin, Value end, Value differs);
  /// Keys alone if all tell their elements, else pairs.
  void choose(Value differs,
              llvm::function_ref<void(const Items &items, bool isKeys)> body,
              const Items &keys, const Items &pairs);
  void sortChunk(const Parts &parts, Value rowNumber, ValueRange row,
                 Value chunk, const Items &keys, const Items &pairs);
  void sortRange(const Parts &parts, Value rowNumber, ValueRange row,
                 Value range, const Items &keys, const Items &pairs);
  Value findDiffers(const Parts &parts, Value rowNumber);

  Value makeKey(ValueRange row, Value place);
  /// The bits of the number that has this key, if it is one of the row.
  Value undoKey(Value bits);
  int64_t getMask(bool isNegative) const;
  Value getKeyMask(Value isNegative);
  SmallVector<Value> at(ValueRange row, Value place) {
    SmallVector<Value> indices(row);
    indices[dim] = place;
    return indices;
  }
  Value constant(int64_t value) {
    return b.create<arith::ConstantIntOp>(value, b.getI64Type());
  }
  Value toInteger(Value number) {
    return b.create<arith::IndexCastOp>(b.getI64Type(), number);
  }
  void call(StringRef what, const Items &items, ValueRange arguments) {
    lowering.callLibrary("alula_sort_" + what + items.kind + Twine(keyBits),
                         arguments);
  }
  /// A routine of the library for numbers in memory.
  void callRows(StringRef what, ValueRange arguments) {
    lowering.callLibrary("alula_sort_" + what + "_" + Twine(keyBits),
                         arguments);
  }
  /// How the library makes keys: masks, then what is equal.
  void addOrder(SmallVectorImpl<Value> &arguments) {
    arguments.append({constant(getMask(false)), constant(getMask(true)),
                      constant(inMemory->hasEquals), constant(inMemory->nan)});
  }
  Value getBits(const Parts &parts, Value firstChunk) {
    return getElementPointer(lowering, parts.bits,
                             lowering.mul(firstChunk, lowering.index(2)));
  }
  Value getNull() {
    return b.create<LLVM::ZeroOp>(LLVM::LLVMPointerType::get(b.getContext()));
  }
  Value createScratch() {
    return lowering.getPointer(lowering.createTemporary(
        {lowering.index(ALULA_SORT_SCRATCH)}, b.getI32Type()));
  }
  Type getKeyType() {
    return b.getIntegerType(static_cast<unsigned>(keyBits));
  }
  Value keyConstant(int64_t value) {
    return b.create<arith::ConstantIntOp>(value, getKeyType());
  }
  Value extend(Value key) {
    return keyBits == 64 ? key
                         : b.create<arith::ExtUIOp>(b.getI64Type(), key);
  }
  Value hasSign(Value bits) {
    return b.create<arith::CmpIOp>(
        arith::CmpIPredicate::ne,
        b.create<arith::AndIOp>(
            bits, keyConstant(int64_t(uint64_t(1) << (numberBits - 1)))),
        keyConstant(0));
  }
  /// Bits of a number as one that is as wide as keys, and back.
  Value widen(Value value);
  Value narrow(Value bits, Type type);

  stablehlo::SortOp sort;
  SortOrder order;
  ArrayRef<Value> results;
  Lowering &lowering;
  ImplicitLocOpBuilder &b;
  const PartSizes limits;
  SmallVector<Value> sizes;
  size_t dim;
  int64_t size = 0;
  /// Returns the number of its first element.
  Region key;
  int64_t keyBits = 32;
  int64_t numberBits = 32;
  bool isFloat = false, isSigned = false;
  /// The elements are the numbers; all of them are what their keys tell, or the
  /// library restores them.
  bool mayBeKeys = false, areKeys = false, areRestored = false;
  /// Machines of some levels part such items by samples. Whether the library chooses
  /// what is found before, bits or samples.
  bool mayBeSampled = false, isSurveyed = false;
  std::optional<RowsInMemory> inMemory;
};

void RadixSort::setUp() {
  size = *getConstantIntValue(sizes[dim]);
  Type number = getValueType(getElementType(order.number));
  numberBits = number.getIntOrFloatBitWidth();
  keyBits = numberBits > 32 ? 64 : 32;
  isFloat = isa<FloatType>(number);
  isSigned = getElementKind(getElementType(order.number)) == ElementKind::Signed;
  mayBeKeys = sort.getInputs().size() == 1 &&
              getElementType(sort.getInputs()[0]) == getElementType(order.number);

  IRMapping mapping;
  sort.getComparator().cloneInto(&key, mapping);
  key.front().getTerminator()->setOperands(mapping.lookup(order.number));
  inMemory = findRowsInMemory(sort, order.number, results, lowering);
  areKeys = mayBeKeys && inMemory;
  areRestored = areKeys && inMemory->hasEquals;
  mayBeSampled = mayBeKeys || keyBits == 32;
  isSurveyed = mayBeSampled && inMemory;
}

void RadixSort::emit() {
  setUp();
  SmallVector<Value> rows(sizes);
  rows[dim] = lowering.index(1);
  if (size * (keyBits / 8) > limits.maxAtOnce)
    sortInParts(rows);
  else
    lowering.forEachBlock(
        lowering.product(rows), size * stepsPerElement,
        [&](Value row) { sortAtOnce(lowering.delinearize(row, rows)); });
}

bool RadixSort::emitFirst(int64_t needed) {
  setUp();
  if (!inMemory)
    return false;
  SmallVector<Value> rows(sizes);
  rows[dim] = lowering.index(1);
  Value zero = lowering.index(0), count = lowering.index(needed);
  lowering.forEachBlock(lowering.product(rows), size, [&](Value number) {
    SmallVector<Value> row = lowering.delinearize(number, rows);
    Items pairs = createItems(false, needed);
    SmallVector<Value> arguments = {inMemory->getKeys(lowering, row, zero),
                                    getPointer(pairs, zero),
                                    toInteger(sizes[dim]), toInteger(count)};
    addOrder(arguments);
    callRows("first", arguments);
    putResults(row, pairs, zero, zero, count);
  });
  return true;
}

Value RadixSort::widen(Value value) {
  Type type = value.getType();
  if (isa<FloatType>(type))
    value = b.create<arith::BitcastOp>(
        b.getIntegerType(type.getIntOrFloatBitWidth()), value);
  return value.getType() == getKeyType()
             ? value
             : b.create<arith::ExtUIOp>(getKeyType(), value);
}

Value RadixSort::narrow(Value bits, Type type) {
  auto integer = b.getIntegerType(type.getIntOrFloatBitWidth());
  if (integer != bits.getType())
    bits = b.create<arith::TruncIOp>(integer, bits);
  return isa<FloatType>(type) ? b.create<arith::BitcastOp>(type, bits) : bits;
}

// Of floats, all bits of a negative one count the other way.
int64_t RadixSort::getMask(bool isNegative) const {
  auto sign = int64_t(uint64_t(1) << (numberBits - 1));
  int64_t ones = numberBits == 64 ? -1 : (int64_t(1) << numberBits) - 1;
  int64_t turn = order.isDescending ? ones : 0;
  if (isFloat)
    return (isNegative ? ones : sign) ^ turn;
  return (isSigned ? sign : 0) ^ turn;
}

Value RadixSort::getKeyMask(Value isNegative) {
  if (!isFloat)
    return keyConstant(getMask(false));
  return lowering.select(isNegative, keyConstant(getMask(true)),
                         keyConstant(getMask(false)));
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

RadixSort::Items RadixSort::createItems(bool isKeys, int64_t count) {
  int64_t words = isKeys || keyBits == 32 ? 1 : 2;
  Type word = isKeys ? b.getIntegerType(static_cast<unsigned>(keyBits))
                     : b.getI64Type();
  Value memory =
      lowering.createTemporary({lowering.index(count * words)}, word);
  return {memory, words, isKeys ? "keys_" : "pairs_"};
}

/// One item: a key, and its place if items have one.
void RadixSort::putKey(const Items &items, Value number, Value bits,
                       Value place) {
  Value where = lowering.mul(number, lowering.index(items.words));
  if (items.hasPlaces()) {
    bits = extend(bits);
    if (items.words == 1)
      bits = b.create<arith::OrIOp>(
          b.create<arith::ShLIOp>(bits, constant(32)), toInteger(place));
  }
  b.create<memref::StoreOp>(bits, items.memory, where);
  if (items.words == 2)
    b.create<memref::StoreOp>(toInteger(place), items.memory,
                              lowering.add(where, lowering.index(1)));
}

/// Returns the bits that some key has, those that all have, and those in which
/// elements are not what their keys tell; writes the items, if asked to.
SmallVector<Value> RadixSort::findBits(ValueRange row, const Items *items,
                                       Value first, Value begin, Value end) {
  Value input = sort.getInputs()[0];
  return lowering.foldRange(
      begin, end, {keyConstant(0), keyConstant(-1), keyConstant(0)},
      [&](ValueRange position, ValueRange carried) -> SmallVector<Value> {
        Value place = position[0], bits = makeKey(row, place);
        if (items)
          putKey(*items, lowering.add(first, place), bits, place);
        Value differs = carried[2];
        if (mayBeKeys)
          differs = b.create<arith::OrIOp>(
              differs,
              b.create<arith::XOrIOp>(
                  undoKey(bits),
                  widen(lowering.getElement(input, at(row, place)))));
        return {b.create<arith::OrIOp>(carried[0], bits),
                b.create<arith::AndIOp>(carried[1], bits), differs};
      });
}

Value RadixSort::callFind(ValueRange row, const Items *keys, Value first,
                          Value begin, Value end, Value bits, Value differs) {
  SmallVector<Value> arguments = {
      inMemory->getKeys(lowering, row, begin),
      keys ? getPointer(*keys, lowering.add(first, begin)) : getNull(),
      toInteger(lowering.sub(end, begin))};
  addOrder(arguments);
  arguments.append(
      {bits ? bits : getNull(), differs ? differs : getNull()});
  return lowering.callLibrary("alula_sort_find_" + Twine(keyBits),
                              b.getI64Type(), arguments);
}

void RadixSort::makeItems(ValueRange row, const Items &items, Value first,
                          Value begin, Value end) {
  if (inMemory) {
    SmallVector<Value> arguments = {
        inMemory->getKeys(lowering, row, begin),
        getPointer(items, lowering.add(first, begin)), toInteger(begin),
        toInteger(lowering.sub(end, begin))};
    addOrder(arguments);
    callRows(items.hasPlaces() ? "make_pairs" : "make_keys", arguments);
    return;
  }
  lowering.forEach({lowering.sub(end, begin)}, [&](ValueRange position) {
    Value place = lowering.add(begin, position[0]);
    putKey(items, lowering.add(first, place), makeKey(row, place), place);
  });
}

void RadixSort::putResults(ValueRange row, const Items &items, Value first,
                           Value begin, Value end) {
  if (inMemory) {
    Value from = getPointer(items, lowering.add(first, begin));
    Value count = toInteger(lowering.sub(end, begin));
    for (size_t i = 0; i < results.size(); ++i) {
      if (sort.getResult(static_cast<unsigned>(i)).use_empty())
        continue;
      Value to = inMemory->getResult(lowering, i, row, begin);
      if (items.hasPlaces())
        callRows("take_pairs",
                 {from, inMemory->getRow(lowering, i, row), to, count,
                  constant(inMemory->operands[i].bytes)});
      else
        callRows("take_keys", {from, to, count, constant(getMask(false)),
                               constant(getMask(true))});
    }
    return;
  }
  lowering.forEach({lowering.sub(end, begin)}, [&](ValueRange position) {
    Value place = lowering.add(begin, position[0]);
    Value where = lowering.mul(lowering.add(first, place),
                               lowering.index(items.words));
    if (items.words == 2)
      where = lowering.add(where, lowering.index(1));
    Value item = b.create<memref::LoadOp>(items.memory, where);
    if (!items.hasPlaces()) {
      Type element = getElementType(sort.getInputs()[0]);
      lowering.store(narrow(undoKey(item), getValueType(element)), element,
                     results[0], at(row, place));
      return;
    }
    if (items.words == 1)
      item = b.create<arith::AndIOp>(item, constant(UINT32_MAX));
    Value from = b.create<arith::IndexCastOp>(b.getIndexType(), item);
    SmallVector<Value> values;
    for (Value input : sort.getInputs())
      values.push_back(lowering.getElement(input, at(row, from)));
    for (auto [input, value, result] :
         llvm::zip_equal(sort.getInputs(), values, results))
      lowering.store(value, getElementType(input), result, at(row, place));
  });
}

void RadixSort::restore(ValueRange row, Value begin, Value end,
                        Value differs) {
  SmallVector<Value> arguments = {
      inMemory->getKeys(lowering, row, lowering.index(0)),
      toInteger(sizes[dim]), inMemory->getResult(lowering, 0, row, begin),
      toInteger(lowering.sub(end, begin))};
  addOrder(arguments);
  arguments.push_back(differs);
  callRows("restore", arguments);
}

void RadixSort::choose(
    Value differs,
    llvm::function_ref<void(const Items &items, bool isKeys)> body,
    const Items &keys, const Items &pairs) {
  if (!mayBeKeys || areKeys)
    return areKeys ? body(keys, true) : body(pairs, false);
  lowering.choose(
      b.create<arith::CmpIOp>(
          arith::CmpIPredicate::eq, differs,
          b.create<arith::ConstantIntOp>(0, differs.getType())),
      {},
      [&] {
        body(keys, true);
        return SmallVector<Value>();
      },
      [&] {
        body(pairs, false);
        return SmallVector<Value>();
      });
}

void RadixSort::sortAtOnce(ValueRange row) {
  Value zero = lowering.index(0), count = sizes[dim];
  Value scratch = createScratch();
  Items pairs = createHalves(areKeys, 1, 2), keys = pairs;
  Value differs;
  if (areRestored) {
    differs = callFind(row, &keys, zero, zero, count, {}, {});
  } else if (areKeys) {
    makeItems(row, keys, zero, zero, count);
  } else if (mayBeKeys) {
    keys = createHalves(true, 1, 2);
    differs = inMemory ? callFind(row, &keys, zero, zero, count, {}, {})
                       : findBits(row, &keys, zero, zero, count)[2];
  }
  choose(
      differs,
      [&](const Items &items, bool isKeys) {
        if (!isKeys)
          makeItems(row, items, zero, zero, count);
        call("", items,
             {getPointer(items, zero), getPointer(items, count),
              toInteger(count), scratch});
        putResults(row, items, zero, zero, count);
      },
      keys, pairs);
  if (areRestored)
    restore(row, zero, count, differs);
}

/// Of any chunk of the row.
Value RadixSort::findDiffers(const Parts &parts, Value rowNumber) {
  if (!mayBeKeys || (areKeys && !areRestored))
    return {};
  Value first = lowering.mul(rowNumber, parts.chunks);
  if (inMemory)
    return lowering.callLibrary(
        "alula_sort_any", b.getI64Type(),
        {getElementPointer(lowering, parts.differs, first),
         toInteger(parts.chunks)});
  return lowering.foldRange(
      lowering.index(0), parts.chunks, constant(0),
      [&](ValueRange chunk, ValueRange carried) -> SmallVector<Value> {
        Value differs = b.create<memref::LoadOp>(
            parts.differs, lowering.add(first, chunk[0]));
        return {b.create<arith::OrIOp>(carried[0], differs)};
      })[0];
}

/// Of a chunk: pairs of 32 bits, or keys of 64 bits; or bits, if the library says so.
void RadixSort::takeSamples(const Parts &parts, Value rowNumber, ValueRange row,
                            Value chunk, const Items &keys) {
  Value begin = lowering.mul(chunk, parts.length);
  Value end = lowering.min(lowering.add(begin, parts.length), sizes[dim]);
  Value size = lowering.sub(end, begin);
  Value needed = lowering.index(parts.chunkSamples);
  Value place = lowering.add(lowering.mul(rowNumber, parts.chunks), chunk);
  Value first = lowering.mul(place, needed);
  if (isSurveyed) {
    bool hasKeys = areKeys && !parts.isMadeLate;
    SmallVector<Value> arguments = {
        inMemory->getKeys(lowering, row, begin),
        hasKeys ? getPointer(keys, lowering.add(getFirst(rowNumber, Made), begin))
                : getNull(),
        toInteger(begin), toInteger(size)};
    addOrder(arguments);
    arguments.append(
        {getBits(parts, place),
         getElementPointer(lowering, parts.samples, first), toInteger(needed),
         getElementPointer(lowering, parts.differs, place)});
    callRows("survey", arguments);
    return;
  }
  lowering.forEach({needed}, [&](ValueRange number) {
    Value where = lowering.add(
        begin, lowering.div(lowering.mul(number[0], size), needed));
    Value sample = extend(makeKey(row, where));
    if (keyBits == 32)
      sample = b.create<arith::OrIOp>(
          b.create<arith::ShLIOp>(sample, constant(32)), toInteger(where));
    b.create<memref::StoreOp>(sample, parts.samples,
                              lowering.add(first, number[0]));
  });
}

/// What a chunk has.
void RadixSort::noteBits(const Parts &parts, Value rowNumber, ValueRange row,
                         Value chunk, const Items &keys) {
  Value begin = lowering.mul(chunk, parts.length);
  Value end = lowering.min(lowering.add(begin, parts.length), sizes[dim]);
  const Items *made = parts.isMadeLate ? nullptr : &keys;
  Value first = getFirst(rowNumber, Made);
  Value place = lowering.add(lowering.mul(rowNumber, parts.chunks), chunk);
  Value pair = lowering.mul(place, lowering.index(2));
  if (inMemory) {
    callFind(row, nullptr, first, begin, end, getBits(parts, place), {});
    return;
  }
  SmallVector<Value> bits = findBits(row, made, first, begin, end);
  b.create<memref::StoreOp>(extend(bits[0]), parts.bits, pair);
  b.create<memref::StoreOp>(extend(bits[1]), parts.bits,
                            lowering.add(pair, lowering.index(1)));
  if (mayBeKeys)
    b.create<memref::StoreOp>(extend(bits[2]), parts.differs, place);
}

void RadixSort::sortChunk(const Parts &parts, Value rowNumber, ValueRange row,
                          Value chunk, const Items &keys, const Items &pairs) {
  Value begin = lowering.mul(chunk, parts.length);
  Value end = lowering.min(lowering.add(begin, parts.length), sizes[dim]);
  Value firstChunk = lowering.mul(rowNumber, parts.chunks);
  choose(
      areKeys ? Value() : findDiffers(parts, rowNumber),
      [&](const Items &items, bool isKeys) {
        Items source = items;
        Value first = getFirst(rowNumber, Made), made = lowering.add(first, begin);
        if (parts.isMadeLate) {
          source = createItems(isKeys, *getConstantIntValue(parts.length));
          first = lowering.sub(lowering.index(0), begin);
          made = lowering.index(0);
        }
        if (areRestored && parts.isMadeLate)
          callFind(row, &source, first, begin, end, {},
                   getElementPointer(lowering, parts.differs,
                                     lowering.add(firstChunk, chunk)));
        else if (parts.isMadeLate || (inMemory && !areKeys) ||
                 (mayBeKeys && !isKeys))
          makeItems(row, source, first, begin, end);
        Value parted = getFirst(rowNumber, Parted);
        call("part_", items,
             {getPointer(source, made),
              getPointer(items, lowering.add(parted, begin)),
              toInteger(lowering.sub(end, begin)),
              getBits(parts, firstChunk), toInteger(parts.chunks),
              mayBeSampled
                  ? getElementPointer(
                        lowering, parts.samples,
                        lowering.mul(firstChunk,
                                     lowering.index(parts.chunkSamples)))
                  : getNull(),
              toInteger(lowering.mul(parts.chunks,
                                     lowering.index(parts.chunkSamples))),
              getElementPointer(
                  lowering, parts.ends,
                  lowering.mul(lowering.add(firstChunk, chunk),
                               lowering.index(ALULA_SORT_ENDS)))});
      },
      keys, pairs);
}

void RadixSort::sortRange(const Parts &parts, Value rowNumber, ValueRange row,
                          Value range, const Items &keys, const Items &pairs) {
  Value scratch = createScratch();
  Value first = lowering.mul(rowNumber, parts.chunks);
  Value bits = getBits(parts, first);
  Value ends = getElementPointer(
      lowering, parts.ends,
      lowering.mul(first, lowering.index(ALULA_SORT_ENDS)));
  Value count = toInteger(sizes[dim]), chunks = toInteger(parts.chunks);
  Value ranges = toInteger(parts.ranges), number = toInteger(range);
  auto findBegin = [&](Value of) -> Value {
    Value begin = lowering.callLibrary("alula_sort_begin", b.getI64Type(),
                                       {count, chunks, ends, of, ranges});
    return b.create<arith::IndexCastOp>(b.getIndexType(), begin);
  };
  Value begin = findBegin(number);
  Value end = findBegin(b.create<arith::AddIOp>(number, constant(1)));
  Value differs = findDiffers(parts, rowNumber);
  choose(
      differs,
      [&](const Items &items, bool) {
        auto sortTo = [&](const Items &target, Value first) {
          call("range_", items,
               {getPointer(items, getFirst(rowNumber, Parted)),
                getPointer(target, first),
                getPointer(items, getFirst(rowNumber, Spare)), count, bits,
                chunks, ends, number, ranges, scratch});
          putResults(row, target, first, begin, end);
          return SmallVector<Value>();
        };
        lowering.choose(
            lowering.compare(arith::CmpIPredicate::ule,
                             lowering.sub(end, begin),
                             lowering.index(limits.nearRange)),
            {},
            [&] {
              return sortTo(createItems(!items.hasPlaces(), limits.nearRange),
                            lowering.sub(lowering.index(0), begin));
            },
            // What was made is no longer needed.
            [&] { return sortTo(items, getFirst(rowNumber, Made)); });
      },
      keys, pairs);
  if (areRestored)
    restore(row, begin, end, differs);
}

void RadixSort::sortInParts(ValueRange rows) {
  auto divideUp = [](int64_t a, int64_t divisor) {
    return (a + divisor - 1) / divisor;
  };
  int64_t itemBytes = keyBits / 8 * (mayBeKeys ? 1 : 2);
  int64_t numChunks = std::clamp(divideUp(size * itemBytes, limits.chunkBytes),
                                 limits.minParts, limits.maxParts);
  // Then the pieces of a digit are not all at the same place of their pages.
  numChunks |= 1;
  int64_t length = divideUp(size, numChunks);
  int64_t numRanges =
      std::clamp(divideUp(size, limits.rangeLength),
                 std::min(limits.minParts, maxRanges), maxRanges);

  int64_t numParted = minParted;
  while (numParted < maxParted && numParted * partLength < size)
    numParted *= 2;

  // Few rows share the memory that all loops see, else each block has its own.
  auto numRows = getConstantIntValue(lowering.product(rows));
  bool isShared = numRows && *numRows <= limits.maxSharedRows &&
                  isa<func::FuncOp>(b.getInsertionBlock()->getParentOp());
  auto sortRows = [&](int64_t memoryRows, auto forEachPart) {
    Parts parts{lowering.index(numChunks),
                lowering.index(length),
                lowering.index(numRanges),
                {},
                {},
                {},
                {},
                mayBeSampled ? divideUp(numParted * samplesOfPart, numChunks)
                             : 0,
                length * itemBytes <= limits.nearBytes};
    auto create = [&](int64_t count, Type type) {
      return lowering.createTemporary({lowering.index(memoryRows * count)},
                                      type);
    };
    parts.bits = create(numChunks * 2, b.getI64Type());
    parts.differs = create(numChunks, b.getI64Type());
    parts.ends = create(numChunks * ALULA_SORT_ENDS, b.getI32Type());
    if (mayBeSampled)
      parts.samples = create(numChunks * parts.chunkSamples, b.getI64Type());
    Items pairs = createHalves(areKeys, memoryRows, NumHalves), keys = pairs;
    if (mayBeKeys && !areKeys)
      keys = createHalves(true, memoryRows, NumHalves);
    forEachPart(0, numChunks, [&](Value number, ValueRange row, Value chunk) {
      if (mayBeSampled)
        takeSamples(parts, number, row, chunk, keys);
      if (!isSurveyed)
        noteBits(parts, number, row, chunk, keys);
    });
    forEachPart(1, numChunks, [&](Value number, ValueRange row, Value chunk) {
      sortChunk(parts, number, row, chunk, keys, pairs);
    });
    forEachPart(2, numRanges, [&](Value number, ValueRange row, Value range) {
      sortRange(parts, number, row, range, keys, pairs);
    });
  };
  using Part = llvm::function_ref<void(Value, ValueRange, Value)>;
  if (isShared) {
    sortRows(*numRows, [&](int64_t step, int64_t count, Part body) {
      Value each = lowering.index(count);
      lowering.forEachBlock(
          lowering.index(*numRows * count),
          divideUp(size, count) * stepsOfParts[step], [&](Value part) {
            b.getInsertionBlock()->getParentOp()->setAttr(
                "kernel.step", b.getI64IntegerAttr(step));
            Value number =
                *numRows == 1 ? lowering.index(0) : lowering.div(part, each);
            body(number, lowering.delinearize(number, rows),
                 *numRows == 1 ? part : lowering.rem(part, each));
          });
    });
    return;
  }
  lowering.forEachBlock(
      lowering.product(rows), size * stepsPerElement, [&](Value number) {
        SmallVector<Value> row = lowering.delinearize(number, rows);
        sortRows(1, [&](int64_t, int64_t count, Part body) {
          lowering.foldRange(
              lowering.index(0), lowering.index(count), {},
              [&](ValueRange part, ValueRange) -> SmallVector<Value> {
                body(lowering.index(0), row, part[0]);
                return {};
              });
        });
      });
}
} // namespace

void alula::cpu::emitRadixSort(stablehlo::SortOp sort, ArrayRef<Value> results,
                               Lowering &lowering) {
  RadixSort(sort, *findSortOrder(sort), results, lowering).emit();
}

bool alula::cpu::emitFirstByCalls(stablehlo::SortOp sort,
                                  ArrayRef<Value> results, int64_t needed,
                                  Lowering &lowering) {
  std::optional<SortOrder> order = findSortOrder(sort);
  // Threads of a workgroup would all do the same.
  return order && maySortByDigits(sort) && lowering.machine.blockThreads <= 1 &&
         RadixSort(sort, *order, results, lowering).emitFirst(needed);
}
