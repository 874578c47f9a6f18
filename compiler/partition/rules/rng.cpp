// Random bits: each device draws those of its piece, the ones that one device
// would have there. Both generators make a word of the place that it has, so
// nothing is drawn that is not used but the other words of its block.

#include "compiler/partition/rule.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::partition;

namespace {
unsigned getWidth(Value value) {
  Type element = getElementTypeOrSelf(value);
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
}

/// Places are counted in 64 bits; keys are two words of 32 each.
class Drawing {
public:
  Drawing(LocalSite &site, stablehlo::RngBitGeneratorOp op)
      : site(site), op(op), builder(site.builder), location(op.getLoc()),
        whole(getStaticType(op.getOutput()).getShape()),
        local(cast<RankedTensorType>(site.resultTypes[1])),
        isWide(getWidth(op.getOutput()) == 64),
        isThreefry(op.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY),
        narrow(builder.getIntegerType(32, /*isSigned=*/false)),
        wide(builder.getIntegerType(64, /*isSigned=*/false)) {
    readState();
  }

  SmallVector<Value> run() {
    Value bits = isThreefry ? drawThreefry() : drawPhilox();
    return {buildNextState(), finish(bits)};
  }

private:
  // ---- Numbers: of one device's piece, or scalars ----

  RankedTensorType getType(Type element) { return local.clone(element); }

  Value constant(uint64_t number, Type like) {
    auto type = cast<RankedTensorType>(like);
    return builder.create<stablehlo::ConstantOp>(
        location, SplatElementsAttr::get(
                      type, APInt(type.getElementTypeBitWidth(), number)));
  }
  Value spread(Value scalar) {
    return builder.create<stablehlo::BroadcastInDimOp>(
        location, getType(getElementTypeOrSelf(scalar)), scalar,
        builder.getDenseI64ArrayAttr({}));
  }
  template <typename Op> Value make(Value a, Value b) {
    return builder.create<Op>(location, a, b);
  }
  Value add(Value a, Value b) { return make<stablehlo::AddOp>(a, b); }
  Value mix(Value a, Value b) { return make<stablehlo::XorOp>(a, b); }
  Value multiply(Value a, uint64_t b) {
    return b == 1 ? a : make<stablehlo::MulOp>(a, constant(b, a.getType()));
  }
  Value shiftRight(Value a, uint64_t by) {
    return make<stablehlo::ShiftRightLogicalOp>(a, constant(by, a.getType()));
  }
  Value shiftLeft(Value a, uint64_t by) {
    return make<stablehlo::ShiftLeftOp>(a, constant(by, a.getType()));
  }
  Value convert(Value a, Type element) {
    auto type = cast<RankedTensorType>(a.getType());
    if (type.getElementType() == element)
      return a;
    return builder.create<stablehlo::ConvertOp>(location, type.clone(element),
                                                a);
  }
  Value rotate(Value a, uint64_t by) {
    return make<stablehlo::OrOp>(shiftLeft(a, by), shiftRight(a, 32 - by));
  }
  Value getLow(Value a) { return convert(a, narrow); }
  Value getHigh(Value a) { return convert(shiftRight(a, 32), narrow); }
  Value join(Value low, Value high) {
    return make<stablehlo::OrOp>(convert(low, wide),
                                 shiftLeft(convert(high, wide), 32));
  }
  Value isLess(Value a, Value b) {
    return builder.create<stablehlo::CompareOp>(
        location, a, b, stablehlo::ComparisonDirection::LT);
  }

  // ---- The state ----

  /// Word `index` of the state, a scalar.
  Value readWord(int64_t index) {
    Value state = site.operands[0];
    auto type = cast<RankedTensorType>(state.getType());
    if (type.getRank() != 1)
      state = builder.create<stablehlo::ReshapeOp>(
          location,
          RankedTensorType::get({type.getNumElements()}, type.getElementType()),
          state);
    Value word = builder.create<stablehlo::SliceOp>(
        location, state, ArrayRef<int64_t>{index}, ArrayRef<int64_t>{index + 1},
        ArrayRef<int64_t>{1});
    word = builder.create<stablehlo::ReshapeOp>(
        location, RankedTensorType::get({}, type.getElementType()), word);
    Type element = type.getElementTypeBitWidth() == 64 ? wide : narrow;
    if (type.getElementType() == element)
      return word;
    return builder.create<stablehlo::BitcastConvertOp>(
        location, RankedTensorType::get({}, element), word);
  }

  void readState() {
    RankedTensorType type = getStaticType(op.getInitialState());
    bool isSplit = type.getElementTypeBitWidth() == 32;
    for (int64_t i = 0; i < type.getNumElements() / (isSplit ? 2 : 1); ++i)
      words.push_back(isSplit ? join(readWord(2 * i), readWord(2 * i + 1))
                              : readWord(i));
  }

  /// How far the counter moves.
  uint64_t countBlocks() {
    uint64_t count = 1;
    for (int64_t size : getBlocks())
      count *= static_cast<uint64_t>(size);
    if (isThreefry)
      return count;
    uint64_t most = isWide ? 2 : 4;
    return (count + most - 1) / most;
  }

  Value buildNextState() {
    SmallVector<Value> next(words);
    Value moved = constant(countBlocks(), words[1].getType());
    next[1] = add(words[1], moved);
    if (!isThreefry && next.size() > 2)
      next[2] = add(words[2], convert(isLess(next[1], words[1]), wide));
    RankedTensorType type = getStaticType(op.getInitialState());
    Type element = type.getElementType();
    SmallVector<Value> parts;
    auto put = [&](Value word) {
      if (getElementTypeOrSelf(word) != element)
        word = builder.create<stablehlo::BitcastConvertOp>(
            location, RankedTensorType::get({}, element), word);
      parts.push_back(builder.create<stablehlo::ReshapeOp>(
          location, RankedTensorType::get({1}, element), word));
    };
    for (Value word : next) {
      if (type.getElementTypeBitWidth() == 64) {
        put(word);
        continue;
      }
      put(getLow(word));
      put(getHigh(word));
    }
    Value flat = builder.create<stablehlo::ConcatenateOp>(
        location, RankedTensorType::get({type.getNumElements()}, element),
        parts, uint64_t(0));
    if (type.getRank() == 1)
      return flat;
    return builder.create<stablehlo::ReshapeOp>(location, type, flat);
  }

  // ---- Places ----

  /// The first even dimension, else the first of the largest.
  size_t findPairs() {
    size_t largest = 0;
    for (size_t dim = 0; dim < whole.size(); ++dim) {
      if (whole[dim] % 2 == 0)
        return dim;
      if (whole[dim] > whole[largest])
        largest = dim;
    }
    return largest;
  }

  bool isPaired() { return isThreefry && !isWide && !whole.empty(); }

  /// Sizes of the array of blocks, of which threefry's have two words along one
  /// dimension.
  SmallVector<int64_t> getBlocks() {
    SmallVector<int64_t> sizes(whole);
    if (isPaired())
      sizes[findPairs()] = (sizes[findPairs()] + 1) / 2;
    return sizes;
  }

  /// Where an element is along a dimension of the whole.
  Value getPlace(size_t dim) {
    Value own = builder.create<stablehlo::IotaOp>(location, getType(wide),
                                                  static_cast<uint64_t>(dim));
    Spans spans = site.getSpans(site.rule.results[1], dim);
    if (spans.empty())
      return own;
    Value shard = convert(site.getShard(spans), wide);
    return add(own, spread(multiply(
                        shard, static_cast<uint64_t>(local.getShape()[dim]))));
  }

  /// The number of each element's block, or of the element; `lane` becomes
  /// which one of a pair it is.
  Value countPlaces(Value &lane) {
    SmallVector<int64_t> sizes = getBlocks();
    uint64_t stride = 1;
    Value all;
    for (size_t dim = whole.size(); dim-- > 0;) {
      Value place = getPlace(dim);
      if (isPaired() && dim == findPairs()) {
        lane = make<stablehlo::AndOp>(place, constant(1, place.getType()));
        place = shiftRight(place, 1);
      }
      place = multiply(place, stride);
      all = all ? add(all, place) : place;
      stride *= static_cast<uint64_t>(sizes[dim]);
    }
    return all;
  }

  /// `values[lane]`.
  Value choose(Value lane, ArrayRef<Value> values) {
    Value chosen = values.front();
    for (auto [i, value] : llvm::enumerate(values.drop_front())) {
      Value isIt = builder.create<stablehlo::CompareOp>(
          location, lane, constant(i + 1, lane.getType()),
          stablehlo::ComparisonDirection::EQ);
      chosen = builder.create<stablehlo::SelectOp>(location, value.getType(),
                                                   isIt, value, chosen);
    }
    return chosen;
  }

  // ---- The generators ----

  /// Threefry2x32 of 20 rounds.
  Value drawThreefry() {
    constexpr uint64_t rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    Value lane;
    Value counter = add(countPlaces(lane), spread(words[1]));
    Value first = getLow(words[0]), second = getHigh(words[0]);
    Value third =
        mix(mix(first, second), constant(0x1BD11BDA, first.getType()));
    Value keys[3] = {first, second, third};
    Value x = add(getLow(counter), spread(keys[0]));
    Value y = add(getHigh(counter), spread(keys[1]));
    for (uint64_t group = 0; group < 5; ++group) {
      for (uint64_t rotation : rotations[group % 2]) {
        x = add(x, y);
        y = mix(rotate(y, rotation), x);
      }
      x = add(x, spread(keys[(group + 1) % 3]));
      Value key = keys[(group + 2) % 3];
      y = add(y, spread(add(key, constant(group + 1, key.getType()))));
    }
    if (isWide)
      return join(x, y);
    return lane ? choose(lane, {x, y}) : x;
  }

  /// Philox4x32 of 10 rounds.
  Value drawPhilox() {
    Value none;
    Value place = countPlaces(none);
    uint64_t bits = isWide ? 1 : 2;
    Value lane = make<stablehlo::AndOp>(
        place, constant((uint64_t(1) << bits) - 1, place.getType()));
    Value start = spread(words[1]);
    Value low = add(shiftRight(place, bits), start);
    Value high = add(spread(words.size() > 2 ? words[2] : words[0]),
                     convert(isLess(low, start), wide));
    Value c[4] = {getLow(low), getHigh(low), getLow(high), getHigh(high)};
    Value keys[2] = {getLow(words[0]), getHigh(words[0])};
    for (int round = 0; round < 10; ++round) {
      Value first = multiply(convert(c[0], wide), 0xD2511F53);
      Value second = multiply(convert(c[2], wide), 0xCD9E8D57);
      Value next[4] = {
          mix(mix(getHigh(second), c[1]), spread(keys[0])), getLow(second),
          mix(mix(getHigh(first), c[3]), spread(keys[1])), getLow(first)};
      llvm::copy(next, c);
      keys[0] = add(keys[0], constant(0x9E3779B9, keys[0].getType()));
      keys[1] = add(keys[1], constant(0xBB67AE85, keys[1].getType()));
    }
    if (isWide)
      return choose(lane, {join(c[0], c[1]), join(c[2], c[3])});
    return choose(lane, {c[0], c[1], c[2], c[3]});
  }

  /// Narrow elements take the low bits of their word.
  Value finish(Value bits) {
    unsigned width = getWidth(op.getOutput());
    bits = convert(bits, builder.getIntegerType(width, /*isSigned=*/false));
    if (bits.getType() == local)
      return bits;
    return builder.create<stablehlo::BitcastConvertOp>(location, local, bits);
  }

  LocalSite &site;
  stablehlo::RngBitGeneratorOp op;
  OpBuilder &builder;
  Location location;
  ArrayRef<int64_t> whole;
  RankedTensorType local;
  bool isWide, isThreefry;
  Type narrow, wide;
  /// Of 64 bits each, scalars: key, counter, and maybe its upper half.
  SmallVector<Value> words;
};

/// Whether it is one of the states that the generators have.
bool hasKnownState(stablehlo::RngBitGeneratorOp op) {
  RankedTensorType state = getStaticType(op.getInitialState());
  if (!state || !isa<IntegerType>(state.getElementType()))
    return false;
  int64_t width = state.getElementTypeBitWidth();
  int64_t bits = state.getNumElements() * width;
  bool isThreefry = op.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY;
  return (width == 32 || width == 64) &&
         (bits == 128 || (bits == 192 && !isThreefry));
}
} // namespace

std::optional<Rule> alula::partition::getRngRule(Operation *op) {
  auto generator = dyn_cast<stablehlo::RngBitGeneratorOp>(op);
  if (!generator || !hasKnownState(generator) ||
      getWidth(generator.getOutput()) < 8)
    return std::nullopt;
  Rule rule;
  rule.mayPad = true;
  auto add = [&](Value value, FactorKind kind) {
    TensorFactors tensor;
    for (int64_t size : getStaticType(value).getShape())
      tensor.push_back({rule.add(size, kind)});
    return tensor;
  };
  rule.operands = {add(generator.getInitialState(), FactorKind::Replicate)};
  rule.results = {add(generator.getOutputState(), FactorKind::Replicate),
                  add(generator.getOutput(), FactorKind::Pass)};
  return rule;
}

std::optional<SmallVector<Value>>
alula::partition::buildLocalRng(LocalSite &site) {
  auto generator = dyn_cast<stablehlo::RngBitGeneratorOp>(site.op);
  if (!generator)
    return std::nullopt;
  bool isWhole = site.resultTypes[1] == generator.getOutput().getType();
  if (isWhole)
    return std::nullopt;
  return Drawing(site, generator).run();
}
