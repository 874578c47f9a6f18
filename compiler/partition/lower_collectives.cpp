// Collectives → one kind of exchange, and computation on what it gives.
//
//   all_reduce(%x) { add }  →  %all = custom_call @alula.exchange(%x)
//                              %all[0] + %all[1] + …
//
// Only data moves between devices; sums and reorderings are kernels. The order
// of a sum is that of the group, so that all of its members get the same bits.

#include "compiler/partition/passes.h"
#include "compiler/partition/process_groups.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace alula::partition {
#define GEN_PASS_DEF_LOWERCOLLECTIVES
#include "compiler/partition/passes.h.inc"
} // namespace alula::partition

using namespace mlir;
using namespace alula::partition;

namespace {
class Lowerer {
public:
  Lowerer(MLIRContext *context, Participants participants)
      : rewriter(context), participants(participants) {}

  LogicalResult lower(Operation *op) {
    rewriter.setInsertionPoint(op);
    location = op->getLoc();
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp>(
            [&](auto id) { return lowerId(id); })
        .Case<stablehlo::AllGatherOp, stablehlo::AllReduceOp,
              stablehlo::ReduceScatterOp, stablehlo::AllToAllOp,
              stablehlo::CollectiveBroadcastOp, stablehlo::CollectiveReduceOp,
              stablehlo::CrossReplicaSumOp>(
            [&](auto collective) { return lowerGrouped(collective); })
        .Case<stablehlo::CollectivePermuteOp>(
            [&](auto permute) { return lowerPermute(permute); })
        .Default(success());
  }

private:
  // ---- What is said often ----

  Value makeScalar(int64_t value, Type type) {
    return rewriter.create<stablehlo::ConstantOp>(
        location, DenseElementsAttr::get(RankedTensorType::get({}, type),
                                         rewriter.getIntegerAttr(type, value)));
  }

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(value.getType()).clone(shape);
    if (type == value.getType())
      return value;
    return rewriter.create<stablehlo::ReshapeOp>(location, type, value);
  }

  /// Whose turn it is: this participant's number.
  Value makeParticipant(Type element) {
    auto type = RankedTensorType::get({}, element);
    if (participants.count() == 1)
      return makeScalar(0, element);
    Value id =
        rewriter
            .create<stablehlo::CustomCallOp>(
                location,
                TypeRange{RankedTensorType::get({}, rewriter.getI32Type())},
                ValueRange(),
                ArrayRef<NamedAttribute>{rewriter.getNamedAttr(
                    "call_target_name",
                    rewriter.getStringAttr("alula.participant"))})
            .getResult(0);
    if (id.getType() == type)
      return id;
    return rewriter.create<stablehlo::ConvertOp>(location, type, id);
  }

  /// The entry of this participant.
  Value lookUp(ArrayRef<int32_t> table) {
    Type number = rewriter.getI32Type();
    auto type =
        RankedTensorType::get({static_cast<int64_t>(table.size())}, number);
    Value all = rewriter.create<stablehlo::ConstantOp>(
        location, DenseElementsAttr::get(type, table));
    Value one = rewriter.create<stablehlo::DynamicSliceOp>(
        location, RankedTensorType::get({1}, number), all,
        ValueRange{makeParticipant(number)}, ArrayRef<int64_t>{1});
    return reshape(one, {});
  }

  /// The block with this index among equal ones along a dimension.
  Value takeBlock(Value value, int64_t dim, int64_t size, Value index) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[static_cast<size_t>(dim)] = size;
    Type number = rewriter.getI32Type();
    Value start = rewriter.create<stablehlo::MulOp>(location, index,
                                                    makeScalar(size, number));
    SmallVector<Value> starts;
    for (int64_t i = 0; i < type.getRank(); ++i)
      starts.push_back(i == dim ? start : makeScalar(0, number));
    return rewriter.create<stablehlo::DynamicSliceOp>(
        location, type.clone(shape), value, starts, shape);
  }

  /// What `sources` of each participant hold, stacked.
  Value exchange(Value value, ArrayRef<SmallVector<int64_t>> sources) {
    auto type = cast<RankedTensorType>(value.getType());
    size_t width = sources.front().size();
    SmallVector<int64_t> shape = {static_cast<int64_t>(width)};
    llvm::append_range(shape, type.getShape());
    // Nobody else has a say.
    if (participants.count() == 1 && width == 1 && sources[0][0] == 0)
      return reshape(value, shape);
    std::string config = std::to_string(number++) + " " +
                         std::to_string(participants.count()) + " " +
                         std::to_string(width);
    for (auto &list : sources)
      for (int64_t source : list)
        config += " " + std::to_string(source);
    return rewriter
        .create<stablehlo::CustomCallOp>(
            location, TypeRange{type.clone(shape)}, ValueRange{value},
            ArrayRef<NamedAttribute>{
                rewriter.getNamedAttr("call_target_name",
                                      rewriter.getStringAttr("alula.exchange")),
                rewriter.getNamedAttr("has_side_effect",
                                      rewriter.getBoolAttr(true)),
                rewriter.getNamedAttr("backend_config",
                                      rewriter.getStringAttr(config))})
        .getResult(0);
  }

  LogicalResult checkType(Operation *op, Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && type.hasStaticShape())
      return success();
    return op->emitOpError()
           << "no native code: arrays of unknown size between devices";
  }

  // ---- Numbers ----

  template <typename Op> LogicalResult lowerId(Op op) {
    bool isPartition = isa<stablehlo::PartitionIdOp>(op);
    int64_t count =
        isPartition ? participants.partitions : participants.replicas;
    Type element = cast<ShapedType>(op.getType()).getElementType();
    Value id;
    if (count == 1) {
      id = makeConstant(op.getType(), 0);
    } else {
      Type signless = rewriter.getI32Type();
      id = makeParticipant(signless);
      Value partitions = makeScalar(participants.partitions, signless);
      if (isPartition && participants.replicas > 1)
        id = rewriter.create<stablehlo::RemOp>(location, id, partitions);
      if (!isPartition && participants.partitions > 1)
        id = rewriter.create<stablehlo::DivOp>(location, id, partitions);
      id = rewriter.create<stablehlo::ConvertOp>(
          location, RankedTensorType::get({}, element), id);
    }
    rewriter.replaceOp(op, id);
    return success();
  }

  Value makeConstant(Type type, int64_t value) {
    auto tensor = cast<RankedTensorType>(type);
    return rewriter.create<stablehlo::ConstantOp>(
        location,
        DenseElementsAttr::get(tensor, APInt(tensor.getElementTypeBitWidth(),
                                             static_cast<uint64_t>(value))));
  }

  // ---- Groups ----

  template <typename Op> GroupKind getKind(Op op) {
    if constexpr (std::is_same_v<Op, stablehlo::CrossReplicaSumOp>) {
      return GroupKind::Replicas;
    } else {
      auto channel = op.getChannelHandle();
      bool hasChannel = channel && channel->getHandle() > 0;
      if constexpr (requires { op.getUseGlobalDeviceIds(); }) {
        if (op.getUseGlobalDeviceIds())
          return GroupKind::Both;
        return hasChannel ? GroupKind::ReplicasAndPartitions
                          : GroupKind::Replicas;
      } else {
        return hasChannel ? GroupKind::Partitions : GroupKind::Replicas;
      }
    }
  }

  template <typename Op> LogicalResult lowerGrouped(Op op) {
    if constexpr (requires { op.getHasDynamicRoot(); })
      if (op.getHasDynamicRoot())
        return op.emitOpError() << "no native code: a root that is computed";
    for (Value operand : op->getOperands())
      if (failed(checkType(op, operand)))
        return failure();
    auto groups =
        readGroups(op, op.getReplicaGroupsAttr(), getKind(op), participants);
    if (failed(groups))
      return failure();
    size_t width = groups->front().size();
    for (auto &group : *groups)
      if (group.size() != width)
        return op.emitOpError()
               << "no native code: groups of " << width << " and of "
               << group.size() << " participants";
    // Who is in no group gets zeros.
    std::vector<SmallVector<int64_t>> sources(
        static_cast<size_t>(participants.count()),
        SmallVector<int64_t>(width, -1));
    std::vector<int32_t> places(sources.size());
    for (auto &group : *groups)
      for (auto [place, member] : llvm::enumerate(group)) {
        sources[static_cast<size_t>(member)] = group;
        places[static_cast<size_t>(member)] = static_cast<int32_t>(place);
      }
    SmallVector<Value> results;
    for (auto [operand, result] :
         llvm::zip_equal(op->getOperands(), op->getResults())) {
      auto value = lowerOne(op, operand, result.getType(), sources, places);
      if (failed(value))
        return failure();
      results.push_back(*value);
    }
    rewriter.replaceOp(op, results);
    return success();
  }

  using Sources = std::vector<SmallVector<int64_t>>;

  FailureOr<Value> lowerOne(stablehlo::AllGatherOp op, Value operand, Type type,
                            Sources &sources, ArrayRef<int32_t>) {
    return merge(exchange(operand, sources),
                 static_cast<int64_t>(op.getAllGatherDim()),
                 cast<ShapedType>(type).getShape());
  }

  FailureOr<Value> lowerOne(stablehlo::AllReduceOp op, Value operand, Type,
                            Sources &sources, ArrayRef<int32_t>) {
    return combine(exchange(operand, sources), &op.getComputation());
  }

  FailureOr<Value> lowerOne(stablehlo::CrossReplicaSumOp, Value operand, Type,
                            Sources &sources, ArrayRef<int32_t>) {
    return combine(exchange(operand, sources), nullptr);
  }

  FailureOr<Value> lowerOne(stablehlo::ReduceScatterOp op, Value operand,
                            Type type, Sources &sources,
                            ArrayRef<int32_t> places) {
    auto dim = static_cast<int64_t>(op.getScatterDimension());
    int64_t size =
        cast<ShapedType>(type).getDimSize(static_cast<unsigned>(dim));
    Value all = exchange(operand, sources);
    return combine(takeBlock(all, dim + 1, size, lookUp(places)),
                   &op.getComputation());
  }

  FailureOr<Value> lowerOne(stablehlo::AllToAllOp op, Value operand, Type type,
                            Sources &sources, ArrayRef<int32_t> places) {
    auto split = static_cast<int64_t>(op.getSplitDimension());
    auto shape = cast<ShapedType>(operand.getType()).getShape();
    auto width = static_cast<int64_t>(sources.front().size());
    Value all = exchange(operand, sources);
    Value mine =
        takeBlock(all, split + 1, shape[static_cast<size_t>(split)] / width,
                  lookUp(places));
    return merge(mine, static_cast<int64_t>(op.getConcatDimension()),
                 cast<ShapedType>(type).getShape());
  }

  // The first of a group has what an all_reduce gives, others have zeros.
  FailureOr<Value> lowerOne(stablehlo::CollectiveReduceOp op, Value operand,
                            Type, Sources &sources, ArrayRef<int32_t> places) {
    FailureOr<Value> all =
        combine(exchange(operand, sources), &op.getComputation());
    if (failed(all) || participants.count() == 1)
      return all;
    std::vector<int32_t> isFirst;
    for (auto [list, place] : llvm::zip_equal(sources, places))
      isFirst.push_back(list.front() >= 0 && place == 0);
    Sources nobody(sources.size(), SmallVector<int64_t>{-1});
    auto shape = cast<ShapedType>(operand.getType()).getShape();
    Value zeros = reshape(exchange(operand, nobody), shape);
    Value chosen = rewriter.create<stablehlo::ConvertOp>(
        location, RankedTensorType::get({}, rewriter.getI1Type()),
        lookUp(isFirst));
    return Value(rewriter.create<stablehlo::SelectOp>(
        location, all->getType(), chosen, *all, zeros));
  }

  FailureOr<Value> lowerOne(stablehlo::CollectiveBroadcastOp, Value operand,
                            Type type, Sources &sources, ArrayRef<int32_t>) {
    for (auto &list : sources)
      list.truncate(1);
    return reshape(exchange(operand, sources),
                   cast<ShapedType>(type).getShape());
  }

  /// Puts the blocks of the first dimension after each other along `dim`.
  Value merge(Value all, int64_t dim, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(all.getType());
    SmallVector<int64_t> order, moved;
    for (int64_t i = 1; i <= dim; ++i)
      order.push_back(i);
    order.push_back(0);
    for (int64_t i = dim + 1; i < type.getRank(); ++i)
      order.push_back(i);
    for (int64_t from : order)
      moved.push_back(type.getDimSize(static_cast<unsigned>(from)));
    if (dim > 0)
      all = rewriter.create<stablehlo::TransposeOp>(location, type.clone(moved),
                                                    all, order);
    return reshape(all, shape);
  }

  /// Folds the blocks of the first dimension, in order. No region: a sum.
  FailureOr<Value> combine(Value all, Region *computation) {
    auto type = cast<RankedTensorType>(all.getType());
    auto shape = type.getShape().drop_front();
    Value result;
    for (int64_t i = 0; i < type.getDimSize(0); ++i) {
      SmallVector<int64_t> starts(static_cast<size_t>(type.getRank()), 0);
      SmallVector<int64_t> limits(type.getShape());
      SmallVector<int64_t> strides(static_cast<size_t>(type.getRank()), 1);
      SmallVector<int64_t> one(type.getShape());
      starts[0] = i;
      limits[0] = i + 1;
      one[0] = 1;
      Value block =
          reshape(rewriter.create<stablehlo::SliceOp>(
                      location, type.clone(one), all, starts, limits, strides),
                  shape);
      result = result ? apply(computation, result, block) : block;
    }
    return result;
  }

  Value apply(Region *computation, Value lhs, Value rhs) {
    if (!computation)
      return rewriter.create<stablehlo::AddOp>(location, lhs, rhs);
    auto type = cast<RankedTensorType>(lhs.getType());
    Block &body = computation->front();
    if (isElementwise(body))
      return inlineBody(body, lhs, rhs);
    SmallVector<int64_t> dims;
    for (int64_t i = 0; i < type.getRank(); ++i)
      dims.push_back(i);
    OperationState state(location, stablehlo::MapOp::getOperationName());
    state.addOperands({lhs, rhs});
    state.addTypes(type);
    state.addAttribute("dimensions", rewriter.getDenseI64ArrayAttr(dims));
    IRMapping mapping;
    computation->cloneInto(state.addRegion(), mapping);
    return rewriter.create(state)->getResult(0);
  }

  static bool isElementwise(Block &body) {
    return llvm::all_of(body.without_terminator(), [](Operation &op) {
      return op.hasTrait<OpTrait::Elementwise>() && op.getNumRegions() == 0 &&
             op.getNumResults() == 1 && op.getNumOperands() > 0 &&
             !isa<stablehlo::SelectOp, stablehlo::ClampOp>(op);
    });
  }

  /// Ops on scalars as ops on arrays.
  Value inlineBody(Block &body, Value lhs, Value rhs) {
    auto shape = cast<ShapedType>(lhs.getType()).getShape();
    IRMapping mapping;
    mapping.map(body.getArgument(0), lhs);
    mapping.map(body.getArgument(1), rhs);
    for (Operation &op : body.without_terminator()) {
      auto type = cast<RankedTensorType>(op.getResult(0).getType());
      Operation *copy = rewriter.clone(op, mapping);
      copy->getResult(0).setType(type.clone(shape));
    }
    return mapping.lookup(body.getTerminator()->getOperand(0));
  }

  // ---- Pairs ----

  LogicalResult lowerPermute(stablehlo::CollectivePermuteOp op) {
    if (failed(checkType(op, op.getOperand())))
      return failure();
    auto channel = op.getChannelHandle();
    bool isPartitions = channel && channel->getHandle() > 0;
    int64_t partitions = participants.partitions;
    int64_t others =
        isPartitions ? participants.replicas : participants.partitions;
    std::vector<SmallVector<int64_t>> sources(
        static_cast<size_t>(participants.count()), {-1});
    auto numbers =
        llvm::to_vector(op.getSourceTargetPairs().getValues<int64_t>());
    int64_t count =
        isPartitions ? participants.partitions : participants.replicas;
    for (size_t i = 0; i + 1 < numbers.size(); i += 2) {
      int64_t from = numbers[i], to = numbers[i + 1];
      if (std::max(from, to) >= count || std::min(from, to) < 0)
        return op.emitOpError()
               << "a pair names " << from << " and " << to
               << ", the program runs on " << participants.replicas
               << " replicas of " << partitions << " partitions";
      for (int64_t other = 0; other < others; ++other) {
        auto number = [&](int64_t id) {
          return isPartitions ? other * partitions + id
                              : id * partitions + other;
        };
        sources[static_cast<size_t>(number(to))] = {number(from)};
      }
    }
    Value all = exchange(op.getOperand(), sources);
    rewriter.replaceOp(op,
                       reshape(all, cast<ShapedType>(op.getType()).getShape()));
    return success();
  }

  IRRewriter rewriter;
  Participants participants;
  Location location = UnknownLoc::get(rewriter.getContext());
  int64_t number = 0;
};

struct LowerCollectives
    : alula::partition::impl::LowerCollectivesBase<LowerCollectives> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto getCount = [&](StringRef name) -> int64_t {
      auto count = module->getAttrOfType<IntegerAttr>(name);
      return count ? count.getValue().getZExtValue() : 1;
    };
    Lowerer lowerer(&getContext(), {getCount("mhlo.num_replicas"),
                                    getCount("mhlo.num_partitions")});
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (failed(lowerer.lower(op)))
        return signalPassFailure();
  }
};
} // namespace
