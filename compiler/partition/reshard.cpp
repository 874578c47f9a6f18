#include "compiler/partition/reshard.h"

#include "compiler/partition/named_axes.h"

#include "dialect/stablehlo/ops.h"

#include <numeric>

using namespace mlir;
using namespace alula::partition;

namespace {
using Kind = ReshardStep::Kind;
using Steps = SmallVector<ReshardStep>;

} // namespace

int64_t alula::partition::getBytes(RankedTensorType type,
                                   const Sharding &sharding) {
  Type element = type.getElementType();
  int64_t bits = 8;
  if (auto complex = dyn_cast<ComplexType>(element))
    bits = 2 * complex.getElementType().getIntOrFloatBitWidth();
  else if (element.isIntOrFloat())
    bits = element.getIntOrFloatBitWidth();
  return sharding.getLocalType(type).getNumElements() *
         std::max<int64_t>(bits, 8) / 8;
}

double alula::partition::getMessageCost() { return 4096; }

namespace {
/// The minor end of `spans` that splits into `count`.
Spans getSuffix(ArrayRef<Span> spans, int64_t count) {
  Spans suffix;
  for (Span span : llvm::reverse(spans)) {
    int64_t part = std::gcd(span.size(), count);
    if (part > 1)
      suffix.insert(suffix.begin(), Span{span.begin, span.begin * part});
    count /= part;
    if (part != span.size())
      break;
  }
  return count == 1 ? suffix : Spans();
}

Spans removeSuffix(ArrayRef<Span> spans, ArrayRef<Span> suffix) {
  int64_t count = countShards(spans) / countShards(suffix);
  return getDividingPrefix(spans, count);
}

class Planner {
public:
  Planner(RankedTensorType type, const Sharding &from, const Sharding &to)
      : type(type), now(from), to(to) {}

  Steps run(bool mayPermute) {
    combine();
    slice();
    while (moveToItsPlace())
      ;
    slice();
    if (mayPermute && isElsewhere()) {
      while (balance())
        ;
      permute();
    }
    keepPlaces();
    gather();
    slice();
    keepOnce();
    return std::move(steps);
  }

private:
  void add(Kind kind, size_t dim, Spans spans, size_t other = 0) {
    steps.push_back({kind, dim, other, std::move(spans), now});
  }

  /// Whether pieces along `longer` lie within those along `shorter`, a prefix,
  /// padding included.
  bool fits(size_t dim, ArrayRef<Span> shorter, ArrayRef<Span> longer) const {
    int64_t size = type.getShape()[dim], few = countShards(shorter),
            many = countShards(longer);
    return few == 1 ||
           getPieceSize(size, few) * few == getPieceSize(size, many) * many;
  }

  /// Of `more` what a dimension can be split by besides: what divides, or all
  /// that is wanted of it.
  Spans getSplittable(size_t dim, ArrayRef<Span> more) const {
    Spans longer = now.dims[dim];
    append(longer, more);
    int64_t size = type.getShape()[dim], shards = countShards(now.dims[dim]);
    // Pieces of padded arrays are cut once.
    if (size % countShards(to.dims[dim]) && longer != to.dims[dim])
      return {};
    if (longer == to.dims[dim] && fits(dim, now.dims[dim], longer))
      return Spans(more);
    return size % shards ? Spans() : getDividingPrefix(more, size / shards);
  }

  bool canMove(size_t dim, size_t other, const Spans &suffix) const {
    return getSplittable(other, suffix) == suffix &&
           fits(dim, removeSuffix(now.dims[dim], suffix), now.dims[dim]);
  }

  /// What `to` wants at the minor end of what is there; nothing if what is
  /// there is in the way.
  Spans getMissing(size_t dim) const {
    if (!isPrefix(now.dims[dim], to.dims[dim]))
      return {};
    return removePrefix(to.dims[dim], now.dims[dim]);
  }

  /// Parts become one array, in pieces where these are wanted.
  void combine() {
    Spans open = subtract(now.unreduced, to.unreduced);
    for (size_t dim = 0; dim < now.dims.size() && !open.empty(); ++dim) {
      Spans missing = getMissing(dim), taken;
      for (Span span : missing) {
        // Of a span the major part that is there.
        Spans rest = subtract({span}, open);
        int64_t begin = rest.empty() ? span.begin : rest.front().end;
        if (begin < span.end && span.end % begin == 0)
          taken.push_back({begin, span.end});
        if (begin != span.begin)
          break;
      }
      taken = getSplittable(dim, taken);
      if (taken.empty())
        continue;
      open = subtract(open, taken);
      now.unreduced = subtract(now.unreduced, taken);
      append(now.dims[dim], taken);
      add(Kind::ReduceScatter, dim, taken);
    }
    if (open.empty())
      return;
    now.unreduced = subtract(now.unreduced, open);
    add(Kind::AllReduce, 0, open);
  }

  void slice() {
    for (size_t dim = 0; dim < now.dims.size(); ++dim) {
      Spans used = now.getSplitting();
      used.append(now.unreduced.begin(), now.unreduced.end());
      Spans taken = getSplittable(dim, cutBefore(getMissing(dim), used));
      if (taken.empty())
        continue;
      append(now.dims[dim], taken);
      add(Kind::Slice, dim, taken);
    }
  }

  /// The minor end of a dimension, where another one wants just that.
  bool moveToItsPlace() {
    for (size_t dim = 0; dim < now.dims.size(); ++dim) {
      Spans extra = removePrefix(now.dims[dim],
                                 getCommonPrefix(now.dims[dim], to.dims[dim]));
      if (extra.empty())
        continue;
      for (size_t other = 0; other < now.dims.size(); ++other) {
        Spans missing = other == dim ? Spans() : getMissing(other);
        // The longest end of the one that is the beginning of the other.
        for (int64_t count = countShards(extra); count > 1; --count) {
          if (countShards(extra) % count)
            continue;
          Spans suffix = getSuffix(extra, count);
          if (suffix.empty() || !isPrefix(suffix, missing) ||
              !canMove(dim, other, suffix))
            continue;
          move(dim, other, suffix);
          return true;
        }
      }
    }
    return false;
  }

  void move(size_t dim, size_t other, const Spans &suffix) {
    now.dims[dim] = removeSuffix(now.dims[dim], suffix);
    append(now.dims[other], suffix);
    add(Kind::AllToAll, dim, suffix, other);
  }

  bool isElsewhere() const {
    if (now.dims == to.dims)
      return false;
    int64_t have = 1, want = 1;
    for (auto [a, b] : llvm::zip_equal(now.dims, to.dims)) {
      have *= countShards(a);
      want *= countShards(b);
    }
    return have == want && have > 1;
  }

  /// From a dimension with too many pieces to one with too few.
  bool balance() {
    for (size_t dim = 0; dim < now.dims.size(); ++dim)
      for (size_t other = 0; other < now.dims.size(); ++other) {
        int64_t have = countShards(now.dims[dim]),
                want = countShards(to.dims[dim]),
                less = countShards(now.dims[other]),
                more = countShards(to.dims[other]);
        if (have <= want || have % want || less >= more || more % less)
          continue;
        int64_t count = std::gcd(have / want, more / less);
        Spans suffix = getSuffix(now.dims[dim], count);
        if (count == 1 || suffix.empty() || !canMove(dim, other, suffix))
          continue;
        move(dim, other, suffix);
        return true;
      }
    return false;
  }

  void permute() {
    for (auto [a, b] : llvm::zip_equal(now.dims, to.dims))
      if (countShards(a) != countShards(b))
        return;
    // Digits that stay parts stay where they are.
    if (now.dims == to.dims || llvm::any_of(to.dims, [&](auto &d) {
          return overlap(d, now.unreduced);
        }))
      return;
    now.dims = to.dims;
    add(Kind::Permute, 0, {});
  }

  /// Where an array was split that is to be parts, each device's piece is its
  /// part.
  void keepPlaces() {
    for (size_t dim = 0; dim < now.dims.size(); ++dim) {
      Spans common = getCommonPrefix(now.dims[dim], to.dims[dim]);
      Spans extra = removePrefix(now.dims[dim], common);
      if (extra.empty() || !subtract(extra, to.unreduced).empty() ||
          type.getShape()[dim] % countShards(now.dims[dim]))
        continue;
      now.dims[dim] = common;
      now.unreduced.append(extra.begin(), extra.end());
      now.unreduced = sortSpans(now.unreduced);
      add(Kind::KeepPlace, dim, extra);
    }
  }

  void gather() {
    for (size_t dim = 0; dim < now.dims.size(); ++dim) {
      Spans common = getCommonPrefix(now.dims[dim], to.dims[dim]);
      if (!fits(dim, common, now.dims[dim]) || !fits(dim, common, to.dims[dim]))
        common.clear();
      Spans extra = removePrefix(now.dims[dim], common);
      if (extra.empty())
        continue;
      now.dims[dim] = common;
      add(Kind::AllGather, dim, extra);
    }
  }

  void keepOnce() {
    Spans missing = subtract(to.unreduced, now.unreduced);
    if (missing.empty())
      return;
    now.unreduced = to.unreduced;
    add(Kind::KeepOnce, 0, missing);
  }

  RankedTensorType type;
  Sharding now;
  const Sharding &to;
  Steps steps;
};
} // namespace

int64_t alula::partition::getSentBytes(const ReshardStep &step, int64_t bytes) {
  int64_t count = countShards(step.spans);
  switch (step.kind) {
  case Kind::KeepOnce:
  case Kind::KeepPlace:
  case Kind::Slice:
    return 0;
  case Kind::ReduceScatter:
  case Kind::AllToAll:
    return bytes / count * (count - 1);
  case Kind::AllReduce:
    return 2 * bytes / count * (count - 1);
  case Kind::Permute:
    return bytes;
  case Kind::AllGather:
    return bytes * (count - 1);
  }
  llvm_unreachable("every kind is counted");
}

/// What a step is called in programs; nothing for one that moves nothing.
static StringRef getName(Kind kind) {
  switch (kind) {
  case Kind::KeepOnce:
  case Kind::KeepPlace:
  case Kind::Slice:
    return "";
  case Kind::ReduceScatter:
    return "reduce_scatter";
  case Kind::AllReduce:
    return "all_reduce";
  case Kind::AllToAll:
    return "all_to_all";
  case Kind::Permute:
    return "collective_permute";
  case Kind::AllGather:
    return "all_gather";
  }
  llvm_unreachable("every kind has a name");
}

double alula::partition::getCost(ArrayRef<ReshardStep> steps,
                                 RankedTensorType type, const Sharding &from) {
  const double message = getMessageCost();
  double cost = 0;
  const Sharding *before = &from;
  for (const ReshardStep &step : steps) {
    double count = static_cast<double>(countShards(step.spans)),
           bytes = static_cast<double>(getBytes(type, *before)),
           others = (count - 1) / count;
    switch (step.kind) {
    case Kind::KeepOnce:
    case Kind::KeepPlace:
      cost += bytes / 64;
      break;
    case Kind::Slice:
      // Whoever made more than its piece has worked in vain.
      cost += bytes / 64;
      break;
    case Kind::ReduceScatter:
      cost += message + bytes * others;
      break;
    case Kind::AllReduce:
      cost += message + 2 * bytes * others;
      break;
    case Kind::AllToAll:
      cost += message + bytes * others;
      break;
    case Kind::Permute:
      cost += message + bytes;
      break;
    case Kind::AllGather:
      cost += message + bytes * (count - 1);
      break;
    }
    before = &step.after;
  }
  return cost;
}

SmallVector<ReshardStep> alula::partition::planReshard(RankedTensorType type,
                                                       const Sharding &from,
                                                       const Sharding &to) {
  if (from == to)
    return {};
  Steps plain = Planner(type, from, to).run(/*mayPermute=*/false);
  Steps moved = Planner(type, from, to).run(/*mayPermute=*/true);
  return getCost(moved, type, from) < getCost(plain, type, from) ? moved
                                                                 : plain;
}

void ReshardBuilder::setStart(Block *block) {
  start = block;
  lastOfStart = nullptr;
  device = {};
  shards.clear();
}

Value ReshardBuilder::getShard(ArrayRef<Span> spans) {
  std::vector<std::pair<int64_t, int64_t>> key;
  for (Span span : spans)
    key.emplace_back(span.begin, span.end);
  Value &known = shards[key];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  if (lastOfStart)
    builder.setInsertionPointAfter(lastOfStart);
  else
    builder.setInsertionPointToStart(start);
  Location location = start->getParentOp()->getLoc();
  Type i32 = builder.getI32Type();
  auto scalar = RankedTensorType::get({}, i32);
  if (!device) {
    Value id = builder.create<stablehlo::PartitionIdOp>(
        location, RankedTensorType::get(
                      {}, builder.getIntegerType(32, /*isSigned=*/false)));
    device = builder.create<stablehlo::ConvertOp>(location, scalar, id);
  }
  auto number = [&](int64_t value) {
    return buildNumber(builder, location, value, i32);
  };
  Value shard;
  for (Span span : spans) {
    Value digit = device;
    if (span.begin != 1)
      digit =
          builder.create<stablehlo::DivOp>(location, digit, number(span.begin));
    if (span.end != devices)
      digit = builder.create<stablehlo::RemOp>(location, digit,
                                               number(span.size()));
    if (!shard) {
      shard = digit;
      continue;
    }
    shard =
        builder.create<stablehlo::MulOp>(location, shard, number(span.size()));
    shard = builder.create<stablehlo::AddOp>(location, shard, digit);
  }
  if (!shard)
    shard = number(0);
  lastOfStart = shard.getDefiningOp();
  // Constants may stand behind what uses none of them.
  if (lastOfStart->isBeforeInBlock(device.getDefiningOp()))
    lastOfStart = device.getDefiningOp();
  return known = shard;
}

Value ReshardBuilder::build(Value piece, RankedTensorType type,
                            const Sharding &from, const Sharding &to,
                            Reducer reducer) {
  Sharding before = from;
  for (ReshardStep &step : planReshard(type, from, to)) {
    if (StringRef name = getName(step.kind); !name.empty())
      listener(name, getSentBytes(step, getBytes(type, before)), &before,
               &step.after);
    piece = build(step, piece, type, before, reducer);
    before = std::move(step.after);
  }
  return piece;
}

Value ReshardBuilder::build(const ReshardStep &step, Value piece,
                            RankedTensorType type, const Sharding &before,
                            Reducer reducer) {
  // Types of pieces may say more than those of the whole.
  auto local = step.after.getLocalType(type);
  switch (step.kind) {
  case Kind::KeepOnce:
    return keepOnce(step, piece);
  case Kind::KeepPlace:
    return keepPlace(step, piece, local);
  case Kind::ReduceScatter:
    return scatter(step, piece, local, reducer);
  case Kind::AllReduce:
    return reduce(step, piece, reducer);
  case Kind::Slice:
    return slice(step, piece, local);
  case Kind::AllToAll:
    return exchange(step, piece, local);
  case Kind::Permute:
    return permute(piece, before, step.after);
  case Kind::AllGather:
    return gather(step, piece, local);
  }
  llvm_unreachable("every kind is built");
}

DenseIntElementsAttr ReshardBuilder::makeGroups(ArrayRef<Span> spans) {
  Sharding split(1);
  split.dims[0].assign(spans.begin(), spans.end());
  Placement placement = makePlacement(split, devices, builder.getContext());
  auto groups = placement.getGroups(placement.dims[0]);
  SmallVector<int64_t> flat;
  for (auto &group : groups)
    llvm::append_range(flat, group);
  auto type =
      RankedTensorType::get({static_cast<int64_t>(groups.size()),
                             static_cast<int64_t>(groups.front().size())},
                            builder.getI64Type());
  return DenseIntElementsAttr::get(type, flat);
}

Attribute ReshardBuilder::makeChannel() {
  return stablehlo::ChannelHandleAttr::get(builder.getContext(), 1, 1);
}

void ReshardBuilder::buildRegion(Operation *op, Type element, Reducer reducer) {
  OpBuilder::InsertionGuard guard(builder);
  auto scalar = RankedTensorType::get({}, element);
  Location location = op->getLoc();
  Block *block = builder.createBlock(&op->getRegion(0), {}, {scalar, scalar},
                                     {location, location});
  Value value = buildReducer(builder, location, reducer, block->getArgument(0),
                             block->getArgument(1));
  builder.create<stablehlo::ReturnOp>(location, value);
}

Value ReshardBuilder::keepOnce(const ReshardStep &step, Value piece) {
  Location location = piece.getLoc();
  auto type = cast<RankedTensorType>(piece.getType());
  Value keep = builder.create<stablehlo::CompareOp>(
      location, getShard(step.spans),
      buildNumber(builder, location, 0, builder.getI32Type()),
      stablehlo::ComparisonDirection::EQ);
  Value zeros;
  if (TypedAttr zero = getNeutral(Reducer::Sum, type.getElementType(), type))
    zeros = builder.create<stablehlo::ConstantOp>(location, zero);
  else
    zeros = builder.create<stablehlo::SubtractOp>(location, piece, piece);
  return builder.create<stablehlo::SelectOp>(location, type, keep, piece,
                                             zeros);
}

Value ReshardBuilder::keepPlace(const ReshardStep &step, Value piece,
                                RankedTensorType local) {
  Location location = piece.getLoc();
  Value zeros = builder.create<stablehlo::ConstantOp>(
      location, getNeutral(Reducer::Sum, local.getElementType(), local));
  Type i32 = builder.getI32Type();
  SmallVector<Value> starts(static_cast<size_t>(local.getRank()));
  for (auto [dim, start] : llvm::enumerate(starts))
    start = buildNumber(builder, location, 0, i32);
  int64_t size = cast<RankedTensorType>(piece.getType()).getShape()[step.dim];
  starts[step.dim] = builder.create<stablehlo::MulOp>(
      location, getShard(step.spans),
      buildNumber(builder, location, size, i32));
  return builder.create<stablehlo::DynamicUpdateSliceOp>(location, zeros, piece,
                                                         starts);
}

Value ReshardBuilder::resize(Value piece, size_t dim, int64_t size) {
  auto type = cast<RankedTensorType>(piece.getType());
  int64_t have = type.getShape()[dim];
  if (have == size)
    return piece;
  auto rank = static_cast<size_t>(type.getRank());
  SmallVector<int64_t> zeros(rank, 0), ones(rank, 1), limits(type.getShape()),
      ends(rank, 0);
  if (have > size) {
    limits[dim] = size;
    return builder.create<stablehlo::SliceOp>(piece.getLoc(), piece, zeros,
                                              limits, ones);
  }
  ends[dim] = size - have;
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = builder.create<stablehlo::ConstantOp>(
      piece.getLoc(), getNeutral(Reducer::Sum, type.getElementType(), scalar));
  return builder.create<stablehlo::PadOp>(piece.getLoc(), piece, zero, zeros,
                                          ends, zeros);
}

static int64_t getBytes(Value piece) {
  auto type = cast<RankedTensorType>(piece.getType());
  return alula::partition::getBytes(type, Sharding(type.getRank()));
}

Value ReshardBuilder::broadcast(Value value) {
  listener("collective_broadcast", ::getBytes(value), nullptr, nullptr);
  OperationState state(value.getLoc(),
                       stablehlo::CollectiveBroadcastOp::getOperationName());
  state.addOperands(value);
  state.addTypes(value.getType());
  state.addAttribute("replica_groups", makeGroups({Span{1, devices}}));
  state.addAttribute("channel_handle", makeChannel());
  return builder.create(state)->getResult(0);
}

Value ReshardBuilder::send(Value piece, ArrayRef<Span> spans,
                           ArrayRef<std::pair<int64_t, int64_t>> pairs) {
  listener("collective_permute", ::getBytes(piece), nullptr, nullptr);
  auto getNumber = [&](int64_t device) {
    int64_t number = 0;
    for (Span span : spans)
      number = number * span.size() + device / span.begin % span.size();
    return number;
  };
  auto replace = [&](int64_t device, int64_t number) {
    for (Span span : llvm::reverse(spans)) {
      int64_t digit = device / span.begin % span.size();
      device += (number % span.size() - digit) * span.begin;
      number /= span.size();
    }
    return device;
  };
  SmallVector<int64_t> flat;
  for (int64_t device = 0; device < devices; ++device)
    for (auto [from, to] : pairs)
      if (getNumber(device) == to) {
        flat.push_back(replace(device, from));
        flat.push_back(device);
      }
  auto type = RankedTensorType::get({static_cast<int64_t>(flat.size()) / 2, 2},
                                    builder.getI64Type());
  return builder.create<stablehlo::CollectivePermuteOp>(
      piece.getLoc(), piece.getType(), piece,
      DenseIntElementsAttr::get(type, flat),
      cast<stablehlo::ChannelHandleAttr>(makeChannel()));
}

Value ReshardBuilder::reduce(const ReshardStep &step, Value piece,
                             Reducer reducer) {
  OperationState state(piece.getLoc(),
                       stablehlo::AllReduceOp::getOperationName());
  state.addOperands(piece);
  state.addTypes(piece.getType());
  state.addAttribute("replica_groups", makeGroups(step.spans));
  state.addAttribute("channel_handle", makeChannel());
  state.addAttribute("use_global_device_ids", builder.getUnitAttr());
  state.addRegion();
  Operation *op = builder.create(state);
  buildRegion(op, getElementTypeOrSelf(piece.getType()), reducer);
  return op->getResult(0);
}

Value ReshardBuilder::scatter(const ReshardStep &step, Value piece,
                              RankedTensorType local, Reducer reducer) {
  piece = resize(piece, step.dim,
                 local.getShape()[step.dim] * countShards(step.spans));
  OperationState state(piece.getLoc(),
                       stablehlo::ReduceScatterOp::getOperationName());
  state.addOperands(piece);
  state.addTypes(local);
  state.addAttribute("scatter_dimension",
                     builder.getI64IntegerAttr(static_cast<int64_t>(step.dim)));
  state.addAttribute("replica_groups", makeGroups(step.spans));
  state.addAttribute("channel_handle", makeChannel());
  state.addAttribute("use_global_device_ids", builder.getUnitAttr());
  state.addRegion();
  Operation *op = builder.create(state);
  buildRegion(op, local.getElementType(), reducer);
  return op->getResult(0);
}

Value ReshardBuilder::slice(const ReshardStep &step, Value piece,
                            RankedTensorType local) {
  Location location = piece.getLoc();
  piece = resize(piece, step.dim,
                 local.getShape()[step.dim] * countShards(step.spans));
  Type i32 = builder.getI32Type();
  SmallVector<Value> starts;
  for (int64_t dim = 0; dim < local.getRank(); ++dim) {
    if (static_cast<size_t>(dim) != step.dim) {
      starts.push_back(buildNumber(builder, location, 0, i32));
      continue;
    }
    starts.push_back(builder.create<stablehlo::MulOp>(
        location, getShard(step.spans),
        buildNumber(builder, location,
                    local.getDimSize(static_cast<unsigned>(dim)), i32)));
  }
  return builder.create<stablehlo::DynamicSliceOp>(location, local, piece,
                                                   starts, local.getShape());
}

Value ReshardBuilder::exchange(const ReshardStep &step, Value piece,
                               RankedTensorType local) {
  int64_t count = countShards(step.spans);
  SmallVector<int64_t> shape(local.getShape());
  shape[step.dim] =
      cast<RankedTensorType>(piece.getType()).getShape()[step.dim] * count;
  piece = resize(piece, step.other, shape[step.other] * count);
  OperationState state(piece.getLoc(),
                       stablehlo::AllToAllOp::getOperationName());
  state.addOperands(piece);
  state.addTypes(local.clone(shape));
  auto number = [&](size_t value) {
    return builder.getI64IntegerAttr(static_cast<int64_t>(value));
  };
  state.addAttribute("split_dimension", number(step.other));
  state.addAttribute("concat_dimension", number(step.dim));
  state.addAttribute("split_count",
                     builder.getI64IntegerAttr(countShards(step.spans)));
  state.addAttribute("replica_groups", makeGroups(step.spans));
  state.addAttribute("channel_handle", makeChannel());
  return resize(builder.create(state)->getResult(0), step.dim,
                local.getShape()[step.dim]);
}

/// Each piece goes to one device that wants it, or to several in turn: of those
/// that have the same, each serves as many.
Value ReshardBuilder::permute(Value piece, const Sharding &before,
                              const Sharding &after) {
  Placement from = makePlacement(before, devices, builder.getContext()),
            to = makePlacement(after, devices, builder.getContext());
  auto number = [](const Placement &placement, int64_t device) {
    int64_t tile = 0;
    for (const Placement::Axes &axes : placement.dims)
      tile =
          tile * placement.countShards(axes) + placement.getShard(axes, device);
    // Parts are exchanged among their like.
    return tile * placement.countShards(placement.unreduced) +
           placement.getShard(placement.unreduced, device);
  };
  std::map<int64_t, SmallVector<int64_t>> holders;
  for (int64_t device = 0; device < devices; ++device)
    holders[number(from, device)].push_back(device);
  std::map<int64_t, size_t> served;
  SmallVector<int64_t> pairs;
  for (int64_t device = 0; device < devices; ++device) {
    int64_t tile = number(to, device);
    pairs.push_back(holders[tile][served[tile]++]);
    pairs.push_back(device);
  }
  return builder.create<stablehlo::CollectivePermuteOp>(
      piece.getLoc(), piece.getType(), piece,
      DenseIntElementsAttr::get(
          RankedTensorType::get({devices, 2}, builder.getI64Type()), pairs),
      cast<stablehlo::ChannelHandleAttr>(makeChannel()));
}

Value ReshardBuilder::gather(const ReshardStep &step, Value piece,
                             RankedTensorType local) {
  SmallVector<int64_t> shape(local.getShape());
  shape[step.dim] =
      cast<RankedTensorType>(piece.getType()).getShape()[step.dim] *
      countShards(step.spans);
  auto gathered = builder.create<stablehlo::AllGatherOp>(
      piece.getLoc(), TypeRange{local.clone(shape)}, ValueRange{piece},
      builder.getI64IntegerAttr(static_cast<int64_t>(step.dim)),
      makeGroups(step.spans), cast<stablehlo::ChannelHandleAttr>(makeChannel()),
      builder.getUnitAttr());
  return resize(gathered.getResults().front(), step.dim,
                local.getShape()[step.dim]);
}
