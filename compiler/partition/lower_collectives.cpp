// Collectives → `dispatch.collective`, which exchanges whole blocks in
// row-major order, and computation on what it gives.
//
//   all_gather(%x) along 1  →  %all = dispatch.collective all_gather %x
//                              transpose, reshape %all
//
// Reductions that engines know keep their name. Others are gathered, or split
// among the members, and folded by kernels in the order of the group, so that
// all members get the same bits.

#include "compiler/partition/passes.h"
#include "compiler/partition/process_groups.h"
#include "dialect/dispatch/collectives.h"
#include "dialect/newer/attributes.h"
#include "dialect/stablehlo/device_counts.h"
#include "dialect/stablehlo/element_rules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace alula::partition {
#define GEN_PASS_DEF_LOWERCOLLECTIVES
#include "compiler/partition/passes.h.inc"
} // namespace alula::partition

using namespace mlir;
using namespace alula::partition;
using alula::dispatch::CollectiveKind;
using alula::dispatch::Reduction;

namespace {
class Lowerer {
public:
  Lowerer(MLIRContext *context, Participants participants)
      : rewriter(context), participants(participants) {}

  LogicalResult lower(Operation *op) {
    rewriter.setInsertionPoint(op);
    location = op->getLoc();
    function = op->getParentOfType<func::FuncOp>();
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

  /// This participant's number, made where the function begins: what is inside
  /// of loops and branches may become part of a kernel.
  Value makeParticipant() {
    Type number = rewriter.getI32Type();
    if (participants.count() == 1)
      return makeScalar(0, number);
    Block &body = function.front();
    auto known = llvm::find_if(body, llvm::IsaPred<alula::dispatch::PackOp>);
    if (known != body.end())
      return known->getResult(0);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&body);
    Value index = rewriter.create<alula::dispatch::ParticipantOp>(
        function.getLoc(), rewriter.getIndexType(),
        static_cast<uint64_t>(participants.count()));
    return rewriter.create<alula::dispatch::PackOp>(
        function.getLoc(), RankedTensorType::get({}, number), index);
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
        ValueRange{makeParticipant()}, ArrayRef<int64_t>{1});
    return reshape(one, {});
  }

  Value convert(Value value, Type element) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType() == element)
      return value;
    return rewriter.create<stablehlo::ConvertOp>(
        location, type.clone(type.getShape(), element), value);
  }

  Value makeZeros(Type type) {
    auto tensor = cast<RankedTensorType>(type);
    Type element = tensor.getElementType();
    if (alula::newer::isBridgedFloat(element))
      return rewriter.create<stablehlo::ConstantOp>(
          location, tensor,
          alula::newer::DenseBridgedAttr::get(tensor, ArrayRef<double>(0.0)));
    size_t parts = 1;
    if (auto complex = dyn_cast<ComplexType>(element)) {
      element = complex.getElementType();
      parts = 2;
    }
    std::vector<char> zeros(parts *
                            ((element.getIntOrFloatBitWidth() + 7) / 8));
    return rewriter.create<stablehlo::ConstantOp>(
        location, DenseElementsAttr::getFromRawBuffer(tensor, zeros));
  }

  /// Numbers below a byte travel as bytes, however they lie in memory.
  Type getTravelType(Type element) {
    if (isa<ComplexType>(element) || element.isInteger(1) ||
        element.getIntOrFloatBitWidth() >= 8)
      return element;
    // Has all values of the floats of 4 and 6 bits.
    if (isa<FloatType>(element))
      return rewriter.getBF16Type();
    return IntegerType::get(rewriter.getContext(), 8,
                            cast<IntegerType>(element).getSignedness());
  }

  Value collect(CollectiveKind kind, Value operand, ArrayRef<int64_t> shape,
                Reduction reduction = Reduction::None) {
    Type element = cast<ShapedType>(operand.getType()).getElementType();
    Type travels = getTravelType(element);
    SmallVector<Attribute> all;
    for (auto &group : groups)
      all.push_back(rewriter.getDenseI64ArrayAttr(group));
    Value result = rewriter.create<alula::dispatch::CollectiveOp>(
        location, RankedTensorType::get(shape, travels), kind, reduction,
        rewriter.getArrayAttr(all), static_cast<uint64_t>(participants.count()),
        channel, convert(operand, travels));
    return convert(result, element);
  }

  /// The members' arrays, in their order, along a new first dimension.
  Value gather(Value operand) {
    SmallVector<int64_t> shape = {width()};
    llvm::append_range(shape, cast<ShapedType>(operand.getType()).getShape());
    return collect(CollectiveKind::AllGather, operand, shape);
  }

  /// Blocks along a dimension, one for each member, along a new first
  /// dimension.
  Value divide(Value operand, int64_t dim) {
    auto type = cast<RankedTensorType>(operand.getType());
    SmallVector<int64_t> split(type.getShape()), order, shape;
    auto at = split.begin() + dim;
    *at /= width();
    split.insert(at, width());
    order.push_back(dim);
    for (int64_t i = 0; i <= type.getRank(); ++i)
      if (i != dim)
        order.push_back(i);
    Value blocks = reshape(operand, split);
    if (dim == 0)
      return blocks;
    for (int64_t from : order)
      shape.push_back(split[static_cast<size_t>(from)]);
    return rewriter.create<stablehlo::TransposeOp>(location, type.clone(shape),
                                                   blocks, order);
  }

  /// The block for this member that each one has, along the first dimension.
  Value scatter(Value operand, int64_t dim) {
    Value blocks = divide(operand, dim);
    return collect(CollectiveKind::AllToAll, blocks,
                   cast<ShapedType>(blocks.getType()).getShape());
  }

  int64_t width() {
    return groups.empty() ? 1 : static_cast<int64_t>(groups.front().size());
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
      id = makeParticipant();
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
    auto read =
        readGroups(op, op.getReplicaGroupsAttr(), getKind(op), participants);
    if (failed(read))
      return failure();
    groups = *read;
    channel = 0;
    if constexpr (requires { op.getChannelHandle(); })
      if (auto handle = op.getChannelHandle())
        channel =
            static_cast<uint64_t>(std::max<int64_t>(handle->getHandle(), 0));
    SmallVector<Value> results;
    for (auto [operand, result] :
         llvm::zip_equal(op->getOperands(), op->getResults())) {
      auto shape = cast<ShapedType>(result.getType()).getShape();
      if (isEachAlone()) {
        results.push_back(reshape(operand, shape));
        continue;
      }
      auto value = lowerOne(op, operand, shape);
      if (failed(value))
        return failure();
      results.push_back(*value);
    }
    rewriter.replaceOp(op, results);
    return success();
  }

  /// Nobody else has a say.
  bool isEachAlone() {
    return static_cast<int64_t>(groups.size()) == participants.count() &&
           llvm::all_of(groups, [](auto &group) { return group.size() == 1; });
  }

  LogicalResult checkWidth(Operation *op) {
    for (auto &group : groups)
      if (static_cast<int64_t>(group.size()) != width())
        return op->emitOpError()
               << "no native code: groups of " << width() << " and of "
               << group.size() << " participants";
    return success();
  }

  using Shape = ArrayRef<int64_t>;

  FailureOr<Value> lowerOne(stablehlo::AllGatherOp op, Value operand,
                            Shape shape) {
    if (failed(checkWidth(op)))
      return failure();
    return merge(gather(operand), static_cast<int64_t>(op.getAllGatherDim()),
                 shape);
  }

  FailureOr<Value> reduce(Operation *op, Value operand, Region *computation) {
    auto type = cast<RankedTensorType>(operand.getType());
    Reduction reduction = findReduction(computation, type.getElementType());
    if (reduction != Reduction::None)
      return collect(CollectiveKind::AllReduce, operand, type.getShape(),
                     reduction);
    if (failed(checkWidth(op)))
      return failure();
    return combine(gather(operand), computation);
  }

  FailureOr<Value> lowerOne(stablehlo::AllReduceOp op, Value operand, Shape) {
    return reduce(op, operand, &op.getComputation());
  }

  FailureOr<Value> lowerOne(stablehlo::CrossReplicaSumOp op, Value operand,
                            Shape) {
    return reduce(op, operand, nullptr);
  }

  FailureOr<Value> lowerOne(stablehlo::ReduceScatterOp op, Value operand,
                            Shape shape) {
    if (failed(checkWidth(op)))
      return failure();
    auto dim = static_cast<int64_t>(op.getScatterDimension());
    Type element = cast<ShapedType>(operand.getType()).getElementType();
    Reduction reduction = findReduction(&op.getComputation(), element);
    if (reduction != Reduction::None)
      return collect(CollectiveKind::ReduceScatter, divide(operand, dim), shape,
                     reduction);
    return combine(scatter(operand, dim), &op.getComputation());
  }

  FailureOr<Value> lowerOne(stablehlo::AllToAllOp op, Value operand,
                            Shape shape) {
    if (failed(checkWidth(op)))
      return failure();
    return merge(scatter(operand, static_cast<int64_t>(op.getSplitDimension())),
                 static_cast<int64_t>(op.getConcatDimension()), shape);
  }

  // The first of a group has what an all_reduce gives, others have zeros.
  FailureOr<Value> lowerOne(stablehlo::CollectiveReduceOp op, Value operand,
                            Shape) {
    FailureOr<Value> all = reduce(op, operand, &op.getComputation());
    if (failed(all))
      return all;
    std::vector<int32_t> isFirst(static_cast<size_t>(participants.count()));
    for (auto &group : groups)
      isFirst[static_cast<size_t>(group.front())] = 1;
    Value chosen = rewriter.create<stablehlo::ConvertOp>(
        location, RankedTensorType::get({}, rewriter.getI1Type()),
        lookUp(isFirst));
    return Value(rewriter.create<stablehlo::SelectOp>(
        location, all->getType(), chosen, *all, makeZeros(all->getType())));
  }

  FailureOr<Value> lowerOne(stablehlo::CollectiveBroadcastOp, Value operand,
                            Shape shape) {
    return collect(CollectiveKind::Broadcast, operand, shape);
  }

  // ---- Reductions ----

  /// What engines call a function of two elements; no region: a sum.
  static Reduction findReduction(Region *computation, Type element) {
    Reduction reduction =
        computation ? readReduction(computation->front()) : Reduction::Sum;
    // Of booleans a sum is an "or", a product an "and".
    if (element.isInteger(1)) {
      if (reduction == Reduction::Sum || reduction == Reduction::Max)
        reduction = Reduction::Or;
      if (reduction == Reduction::Product || reduction == Reduction::Min)
        reduction = Reduction::And;
    }
    return alula::dispatch::isKnownReduction(reduction, element)
               ? reduction
               : Reduction::None;
  }

  static Reduction readReduction(Block &body) {
    Operation &op = body.front();
    if (op.getNumOperands() != 2 || op.getNumResults() != 1 ||
        op.getNextNode() != body.getTerminator() ||
        body.getTerminator()->getOperand(0) != op.getResult(0))
      return Reduction::None;
    Value a = body.getArgument(0), b = body.getArgument(1);
    bool isBoth = (op.getOperand(0) == a && op.getOperand(1) == b) ||
                  (op.getOperand(0) == b && op.getOperand(1) == a);
    if (!isBoth)
      return Reduction::None;
    return llvm::TypeSwitch<Operation *, Reduction>(&op)
        .Case([](stablehlo::AddOp) { return Reduction::Sum; })
        .Case([](stablehlo::MulOp) { return Reduction::Product; })
        .Case([](stablehlo::MinOp) { return Reduction::Min; })
        .Case([](stablehlo::MaxOp) { return Reduction::Max; })
        .Case([](stablehlo::AndOp) { return Reduction::And; })
        .Case([](stablehlo::OrOp) { return Reduction::Or; })
        .Case([](stablehlo::XorOp) { return Reduction::Xor; })
        .Default([](Operation *) { return Reduction::None; });
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
      return stablehlo::isElementwise(&op) && op.getNumResults() == 1 &&
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
    auto channelHandle = op.getChannelHandle();
    bool isPartitions = channelHandle && channelHandle->getHandle() > 0;
    int64_t partitions = participants.partitions;
    int64_t others =
        isPartitions ? participants.replicas : participants.partitions;
    groups.clear();
    channel =
        isPartitions ? static_cast<uint64_t>(channelHandle->getHandle()) : 0;
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
        groups.push_back({number(from), number(to)});
      }
    }
    Value result;
    if (participants.count() > 1)
      result = collect(CollectiveKind::Permute, op.getOperand(),
                       cast<ShapedType>(op.getType()).getShape());
    else
      result = groups.empty() ? makeZeros(op.getType()) : op.getOperand();
    rewriter.replaceOp(op, result);
    return success();
  }

  IRRewriter rewriter;
  Participants participants;
  Location location = UnknownLoc::get(rewriter.getContext());
  func::FuncOp function;
  /// Of the op that is being lowered: participants, or pairs of them.
  ProcessGroups groups;
  uint64_t channel = 0;
};

struct LowerCollectives
    : alula::partition::impl::LowerCollectivesBase<LowerCollectives> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Lowerer lowerer(&getContext(), {stablehlo::getReplicaCount(module),
                                    stablehlo::getPartitionCount(module)});
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (failed(lowerer.lower(op)))
        return signalPassFailure();
  }
};
} // namespace
