#include "compiler/partition/windows.h"

#include "dialect/stablehlo/ops.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::partition;
using llvm::divideCeilSigned, llvm::divideFloorSigned;

std::optional<WindowReads>
alula::partition::getReads(const Window &window, int64_t size, int64_t shards) {
  WindowReads reads{};
  reads.shards = shards;
  reads.size = size;
  reads.results = window.results;
  reads.pieceResults = getPieceSize(window.results, shards);
  if (window.isReversed) {
    reads.step = -reads.pieceResults;
    reads.begin = size - reads.pieceResults;
    reads.count = reads.pieceResults;
    return reads;
  }
  int64_t positions = window.stride * reads.pieceResults;
  if (positions % window.dilation)
    return std::nullopt;
  int64_t all = (reads.pieceResults - 1) * window.stride + window.extent;
  reads.step = positions / window.dilation;
  reads.begin = divideCeilSigned(window.begin, window.dilation);
  reads.low = reads.begin * window.dilation - window.begin;
  if (reads.low >= all)
    return std::nullopt;
  reads.count = (all - 1 - reads.low) / window.dilation + 1;
  reads.high = all - reads.low - ((reads.count - 1) * window.dilation + 1);
  return reads;
}

namespace {
/// What a device needs of what it reads: not what is beyond the ends of the
/// array, and nothing for results that are padding.
struct Need {
  int64_t begin, end, first;
};

int64_t getStart(const WindowReads &reads, int64_t shard) {
  return reads.step * shard + reads.begin;
}

std::optional<Need> getNeed(const Window &window, const WindowReads &reads,
                            int64_t piece, int64_t shard) {
  int64_t start = getStart(reads, shard), end = start + reads.count;
  int64_t results =
      std::min(reads.pieceResults, reads.results - reads.pieceResults * shard);
  if (results <= 0)
    return std::nullopt;
  if (window.wraps) {
    start = llvm::mod(start, reads.size);
    return Need{start, start + reads.count, start / piece};
  }
  if (!window.isReversed) {
    int64_t last = window.stride * reads.pieceResults * shard + window.begin +
                   (results - 1) * window.stride + window.extent - 1;
    end = std::min(end, divideFloorSigned(last, window.dilation) + 1);
  }
  Need need{std::max<int64_t>(start, 0), std::min(end, reads.size),
            divideFloorSigned(start, piece)};
  if (need.begin >= need.end)
    return std::nullopt;
  return need;
}

void addPair(WindowPlan::Part &part, int64_t from, int64_t to) {
  for (auto &round : part.rounds)
    if (llvm::none_of(round, [&](auto pair) { return pair.first == from; })) {
      round.emplace_back(from, to);
      return;
    }
  part.rounds.push_back({{from, to}});
}
} // namespace

std::optional<WindowPlan>
alula::partition::planWindow(const Window &window, const WindowReads &reads) {
  constexpr int64_t mostParts = 8, mostMessages = 8;
  int64_t shards = reads.shards, piece = getPieceSize(reads.size, shards);
  if (window.wraps && reads.size % shards)
    return std::nullopt;
  SmallVector<std::optional<Need>> needs;
  int64_t skipped = piece, count = 0;
  for (int64_t j = 0; j < shards; ++j) {
    needs.push_back(getNeed(window, reads, piece, j));
    const std::optional<Need> &need = needs.back();
    if (!need)
      continue;
    int64_t start = window.wraps ? need->begin : getStart(reads, j);
    skipped = std::min(skipped, start - need->first * piece);
    count = std::max(count,
                     divideFloorSigned(need->end - 1, piece) - need->first + 1);
  }
  if (count > mostParts)
    return std::nullopt;
  if (count == 0)
    skipped = 0;
  WindowPlan plan;
  for (int64_t t = 0; t < count; ++t) {
    WindowPlan::Part &part = plan.parts.emplace_back();
    part.low = t == 0 ? skipped : 0;
    part.high = t + 1 == count ? part.low + 1 : piece;
    part.isOwn.assign(static_cast<size_t>(shards), false);
    for (int64_t j = 0; j < shards; ++j) {
      const auto &need = needs[static_cast<size_t>(j)];
      if (!need)
        continue;
      int64_t number = need->first + t;
      if (need->begin >= (number + 1) * piece || need->end <= number * piece)
        continue;
      part.high =
          std::max(part.high, std::min(need->end - number * piece, piece));
      int64_t holder = window.wraps ? number % shards : number;
      if (holder == j)
        part.isOwn[static_cast<size_t>(j)] = true;
      else
        addPair(part, holder, j);
    }
    int64_t rounds = static_cast<int64_t>(part.rounds.size());
    plan.messages += rounds;
    plan.rows += rounds * (part.high - part.low);
    plan.length += part.high - part.low;
    // Who has nothing of a part still has its own piece there.
    plan.hasZeros &= rounds != 0 || llvm::all_equal(part.isOwn);
  }
  plan.hasZeros &= reads.size % shards == 0;
  if (plan.messages > mostMessages)
    return std::nullopt;
  int64_t length = reads.count;
  for (int64_t j = 0; j < shards; ++j) {
    const auto &need = needs[static_cast<size_t>(j)];
    int64_t start = window.wraps && need ? need->begin : getStart(reads, j);
    plan.offsets.push_back(need ? start - need->first * piece - skipped : 0);
    length = std::max(length, plan.offsets.back() + reads.count);
  }
  // Whoever reads nothing reads where the others do.
  for (int64_t j = 0; j < shards; ++j)
    if (!needs[static_cast<size_t>(j)])
      for (int64_t other = 0; other < shards; ++other)
        if (needs[static_cast<size_t>(other)])
          plan.offsets[static_cast<size_t>(j)] =
              plan.offsets[static_cast<size_t>(other)];
  plan.length = std::max(plan.length, length);
  return plan;
}

std::optional<double>
alula::partition::getWindowCost(const Window &window, RankedTensorType type,
                                const Sharding &sharding) {
  int64_t size = type.getShape()[window.dim];
  auto reads = getReads(window, size, countShards(sharding.dims[window.dim]));
  auto plan = reads ? planWindow(window, *reads) : std::nullopt;
  if (!plan)
    return std::nullopt;
  double row = static_cast<double>(getBytes(type, sharding)) /
               static_cast<double>(getPieceSize(size, reads->shards));
  return getMessageCost() * static_cast<double>(plan->messages) +
         row * static_cast<double>(plan->rows);
}

void LocalSite::readWindows(
    function_ref<Value(const Window &)> getFill,
    function_ref<void(const Window &, int64_t, int64_t)> use) {
  for (const Window &window : rule.windows) {
    int64_t shards = countShards(factors[window.factor]);
    if (shards == 1)
      continue;
    auto type =
        getStaticType(op->getOperand(static_cast<unsigned>(window.operand)));
    auto reads = getReads(window, type.getShape()[window.dim], shards);
    Value &operand = operands[window.operand];
    operand = read(operand, window, *reads, getFill(window));
    use(window, reads->low, reads->high);
  }
}

namespace {
/// Ops along one dimension of pieces.
class WindowBuilder {
public:
  WindowBuilder(OpBuilder &builder, ReshardBuilder &reshards, Location location,
                size_t dim, ArrayRef<Span> spans)
      : builder(builder), reshards(reshards), location(location), dim(dim),
        spans(spans) {}

  Value slice(Value value, int64_t begin, int64_t end) {
    auto type = cast<RankedTensorType>(value.getType());
    if (begin == 0 && end == type.getShape()[dim])
      return value;
    SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()),
        strides(type.getRank(), 1);
    starts[dim] = begin;
    limits[dim] = end;
    return builder.create<stablehlo::SliceOp>(location, value, starts, limits,
                                              strides);
  }

  Value makeZeros(RankedTensorType type) {
    Type element = type.getElementType();
    TypedAttr zero = getNeutral(Reducer::Sum, element, type);
    return builder.create<stablehlo::ConstantOp>(location, zero);
  }

  Value pad(Value value, int64_t low, int64_t high) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> lows(type.getRank(), 0), highs(type.getRank(), 0),
        inner(type.getRank(), 0);
    lows[dim] = low;
    highs[dim] = high;
    Value zero = makeZeros(RankedTensorType::get({}, type.getElementType()));
    return builder.create<stablehlo::PadOp>(location, value, zero, lows, highs,
                                            inner);
  }

  Value concatenate(ArrayRef<Value> values) {
    if (values.size() == 1)
      return values.front();
    return builder.create<stablehlo::ConcatenateOp>(location, values,
                                                    static_cast<uint64_t>(dim));
  }

  /// The number of a list that is this device's: tensor<i32>.
  Value lookUp(ArrayRef<int64_t> list) {
    Type i32 = builder.getI32Type();
    SmallVector<int32_t> numbers(list.begin(), list.end());
    auto type = RankedTensorType::get({static_cast<int64_t>(list.size())}, i32);
    Value all = builder.create<stablehlo::ConstantOp>(
        location, DenseIntElementsAttr::get(type, numbers));
    Value one = builder.create<stablehlo::DynamicSliceOp>(
        location, all, ValueRange{reshards.getShard(spans)},
        ArrayRef<int64_t>{1});
    return builder.create<stablehlo::ReshapeOp>(
        location, RankedTensorType::get({}, i32), one);
  }

  Value sliceAt(Value value, Value start, int64_t count) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<Value> starts;
    SmallVector<int64_t> sizes(type.getShape());
    for (size_t other = 0; other < sizes.size(); ++other)
      starts.push_back(other == dim ? start
                                    : buildNumber(builder, location, 0,
                                                  builder.getI32Type()));
    sizes[dim] = count;
    return builder.create<stablehlo::DynamicSliceOp>(location, value, starts,
                                                     sizes);
  }

  /// `a` where the list says so, else `b`.
  Value choose(ArrayRef<int64_t> list, Value a, Value b) {
    Value is = builder.create<stablehlo::CompareOp>(
        location, lookUp(list),
        buildNumber(builder, location, 1, builder.getI32Type()),
        stablehlo::ComparisonDirection::EQ);
    return builder.create<stablehlo::SelectOp>(location, a.getType(), is, a, b);
  }

  Value buildPart(Value piece, const WindowPlan::Part &part) {
    Value own = slice(piece, part.low, part.high), made;
    size_t shards = part.isOwn.size();
    for (const auto &round : part.rounds) {
      Value received = reshards.send(own, spans, round);
      SmallVector<int64_t> isHere(shards, 0);
      for (auto [from, to] : round)
        isHere[static_cast<size_t>(to)] = 1;
      made = made ? choose(isHere, received, made) : received;
    }
    bool hasOwn = llvm::is_contained(part.isOwn, true);
    if (!made)
      return hasOwn ? own : makeZeros(cast<RankedTensorType>(own.getType()));
    if (!hasOwn)
      return made;
    SmallVector<int64_t> isOwn(part.isOwn.begin(), part.isOwn.end());
    return choose(isOwn, own, made);
  }

  Value getFirst(const WindowReads &reads) {
    Type i32 = builder.getI32Type();
    Value first = builder.create<stablehlo::MulOp>(
        location, reshards.getShard(spans),
        buildNumber(builder, location, reads.step, i32));
    return builder.create<stablehlo::AddOp>(
        location, first, buildNumber(builder, location, reads.begin, i32));
  }

  /// Whether any device reads beyond the ends.
  static bool isInside(const WindowReads &reads) {
    for (int64_t j = 0; j < reads.shards; ++j)
      if (getStart(reads, j) < 0 ||
          getStart(reads, j) + reads.count > reads.size)
        return false;
    return true;
  }

  OpBuilder &builder;
  ReshardBuilder &reshards;
  Location location;
  size_t dim;
  ArrayRef<Span> spans;
};
} // namespace

Value alula::partition::buildMask(OpBuilder &builder, Value value, size_t dim,
                                  Value first, int64_t size, Value fill) {
  Location location = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  auto places = type.clone(builder.getI32Type());
  Value own = builder.create<stablehlo::IotaOp>(location, places,
                                                static_cast<uint64_t>(dim));
  auto spread = [&](Value scalar, RankedTensorType to) -> Value {
    return builder.create<stablehlo::BroadcastInDimOp>(
        location, to, scalar, builder.getDenseI64ArrayAttr({}));
  };
  Value place =
      builder.create<stablehlo::AddOp>(location, own, spread(first, places));
  auto compare = [&](int64_t bound, stablehlo::ComparisonDirection direction) {
    Value limit = spread(
        buildNumber(builder, location, bound, builder.getI32Type()), places);
    return builder.create<stablehlo::CompareOp>(location, place, limit,
                                                direction);
  };
  Value isInside = builder.create<stablehlo::AndOp>(
      location, compare(0, stablehlo::ComparisonDirection::GE),
      compare(size, stablehlo::ComparisonDirection::LT));
  if (cast<RankedTensorType>(fill.getType()).getRank() == 0)
    fill = spread(fill, type);
  return builder.create<stablehlo::SelectOp>(location, type, isInside, value,
                                             fill);
}

Value alula::partition::buildWindow(OpBuilder &builder,
                                    ReshardBuilder &reshards, Value piece,
                                    const Window &window,
                                    const WindowReads &reads,
                                    ArrayRef<Span> spans, Value fill) {
  WindowBuilder ops(builder, reshards, piece.getLoc(), window.dim, spans);
  WindowPlan plan = *planWindow(window, reads);
  SmallVector<Value> parts;
  int64_t length = 0;
  for (const WindowPlan::Part &part : plan.parts) {
    parts.push_back(ops.buildPart(piece, part));
    length += part.high - part.low;
  }
  if (parts.empty()) {
    parts.push_back(ops.slice(piece, 0, 1));
    length = 1;
    plan.hasZeros = false;
  }
  Value all = ops.concatenate(parts);
  if (length < plan.length)
    all = ops.pad(all, 0, plan.length - length);
  if (!llvm::all_equal(plan.offsets))
    all = ops.sliceAt(all, ops.lookUp(plan.offsets), reads.count);
  else
    all = ops.slice(all, plan.offsets[0], plan.offsets[0] + reads.count);
  bool isZero = fill && plan.hasZeros && isNeutral(fill, Reducer::Sum);
  if (!fill || window.wraps || isZero || WindowBuilder::isInside(reads))
    return all;
  return buildMask(builder, all, window.dim, ops.getFirst(reads), reads.size,
                   fill);
}

Value alula::partition::buildWindowOfWhole(OpBuilder &builder,
                                           ReshardBuilder &reshards,
                                           Value whole, size_t dim,
                                           const WindowReads &reads,
                                           ArrayRef<Span> spans, Value fill) {
  WindowBuilder ops(builder, reshards, whole.getLoc(), dim, spans);
  int64_t low = 0, high = 0;
  for (int64_t j = 0; j < reads.shards; ++j) {
    int64_t start = getStart(reads, j);
    low = std::max(low, -start);
    high = std::max(high, start + reads.count - reads.size);
  }
  Value first = ops.getFirst(reads), padded = whole;
  if (low || high)
    padded = ops.pad(whole, low, high);
  Value start = builder.create<stablehlo::AddOp>(
      whole.getLoc(), first,
      buildNumber(builder, whole.getLoc(), low, builder.getI32Type()));
  Value all = ops.sliceAt(padded, start, reads.count);
  if (!fill || WindowBuilder::isInside(reads))
    return all;
  return buildMask(builder, all, dim, first, reads.size, fill);
}
