// Shardings that are given → shardings of all values: `sdy.sharding` on ops,
// arguments and results of main; constraints become `sdy.reshard`. Values that
// say nothing are whole.

#include "compiler/partition/gspmd_text.h"
#include "compiler/partition/named_axes.h"
#include "compiler/partition/passes.h"
#include "compiler/partition/propagation.h"
#include "compiler/partition/turn.h"

#include "dialect/sdy/ops.h"
#include "dialect/stablehlo/device_counts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace alula::partition {
#define GEN_PASS_DEF_PROPAGATESHARDINGS
#include "compiler/partition/passes.h.inc"
} // namespace alula::partition

using namespace mlir;
using namespace alula::partition;

namespace {

class Propagator {
public:
  Propagator(ModuleOp module, func::FuncOp main, int64_t devices)
      : module(module), main(main), reader(devices), names(module, devices) {}

  LogicalResult run() {
    joinTurns(main);
    copyCheapValues();
    if (failed(addSignature()) || failed(addBlock(getBody(), {})) ||
        failed(addResults()))
      return failure();
    joinGroups();
    giveToInputs();
    passParts();
    propagation.run();
    annotate();
    return success();
  }

private:
  struct Manual {
    sdy::ManualComputationOp op;
    SmallVector<unsigned> ins, outs;
  };

  Block &getBody() { return main.getBody().front(); }

  /// What costs nothing may be split differently at each use.
  void copyCheapValues() {
    SmallVector<Operation *> cheap;
    auto isCheap = [](Operation *op) {
      if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
        return isa<SplatElementsAttr>(constant.getValue()) &&
               constant.getType().getRank() != 0;
      auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op);
      return isa<stablehlo::IotaOp>(op) ||
             (broadcast &&
              cast<ShapedType>(broadcast.getOperand().getType()).getRank() ==
                  0);
    };
    main.walk([&](Operation *op) {
      if (op->getNumResults() == 1 && isCheap(op))
        cheap.push_back(op);
    });
    for (Operation *op : cheap) {
      auto uses = llvm::make_pointer_range(op->getUses());
      SmallVector<OpOperand *> list(uses.begin(), uses.end());
      for (OpOperand *use : llvm::drop_begin(llvm::reverse(list))) {
        OpBuilder builder(op);
        builder.setInsertionPointAfter(op);
        use->set(builder.clone(*op)->getResult(0));
      }
    }
  }

  // ---- Slots ----

  unsigned getSlot(Value value) {
    auto known = slotOf.find(value);
    return known == slotOf.end() ? Propagation::none : known->second;
  }

  /// `none` for what can't be split.
  unsigned addSlot(Value value, const Spans &forbidden) {
    RankedTensorType type = getStaticType(value);
    if (!type)
      return Propagation::none;
    Slot slot(type);
    slot.forbidden = forbidden;
    return slotOf[value] = propagation.addSlot(std::move(slot));
  }

  /// What is said of the sharding of a slot.
  LogicalResult give(Operation *op, unsigned number,
                     sdy::TensorShardingAttr attribute) {
    if (number == Propagation::none)
      return success();
    auto read = reader.read(op, attribute);
    if (failed(read))
      return failure();
    Slot &slot = propagation.get(number);
    slot.isGiven = true;
    // Whoever lies in no order lies whole for all that is computed.
    if (!*read) {
      slot.setClosed();
      return success();
    }
    slot.sharding.unreduced = (*read)->unreduced;
    for (auto [dim, given] : llvm::enumerate(attribute.getDimShardings())) {
      int64_t priority = given.getPriority().value_or(0);
      if (priority > 0) {
        slot.later.push_back(
            {dim, priority, (*read)->dims[dim], given.getIsClosed()});
        continue;
      }
      slot.sharding.dims[dim] = (*read)->dims[dim];
      slot.isClosed[dim] = given.getIsClosed();
    }
    sdy::MeshAttr mesh = attribute.lookupMesh(op);
    for (sdy::AxisRefAttr axis : attribute.getReplicatedAxes())
      if (auto spans = reader.getSpans(mesh, axis))
        slot.forbidden.append(spans->begin(), spans->end());
    return success();
  }

  LogicalResult giveSignature(unsigned number, DictionaryAttr attributes,
                              bool &isKnown) {
    isKnown = false;
    if (!attributes || number == Propagation::none)
      return success();
    if (auto sharding =
            attributes.getAs<sdy::TensorShardingAttr>(sdy::shardingAttrName)) {
      isKnown = true;
      return give(main, number, sharding);
    }
    auto text = attributes.getAs<StringAttr>(gspmdName);
    if (!text)
      return success();
    isKnown = true;
    Slot &slot = propagation.get(number);
    slot.isGiven = true;
    slot.setClosed();
    auto placement = readGspmdText(text.getValue(),
                                   static_cast<unsigned>(slot.type.getRank()),
                                   main.getContext());
    if (placement && placement->mesh)
      if (auto sharding = getSharding(*placement, slot.type.getRank(), reader))
        slot.sharding = *sharding;
    return success();
  }

  LogicalResult addSignature() {
    for (BlockArgument argument : getBody().getArguments()) {
      unsigned slot = addSlot(argument, {});
      bool isKnown;
      if (failed(giveSignature(
              slot, main.getArgAttrDict(argument.getArgNumber()), isKnown)))
        return failure();
      keptArguments.push_back(isKnown);
    }
    return success();
  }

  LogicalResult addResults() {
    for (OpOperand &operand : getBody().getTerminator()->getOpOperands()) {
      RankedTensorType type = getStaticType(operand.get());
      unsigned number =
          type ? propagation.addSlot(Slot(type)) : Propagation::none;
      bool isKnown;
      if (failed(giveSignature(
              number, main.getResultAttrDict(operand.getOperandNumber()),
              isKnown)))
        return failure();
      // Parts that the program returns stay parts.
      if (auto constraint =
              operand.get().getDefiningOp<sdy::ShardingConstraintOp>();
          constraint && !isKnown && number != Propagation::none)
        propagation.get(number).sharding.unreduced =
            propagation.get(getSlot(constraint.getResult())).sharding.unreduced;
      keptResults.push_back(isKnown);
      resultSlots.push_back(number);
      propagation.addIdentity(getSlot(operand.get()), number,
                              hasManyUses(operand.get()));
    }
    return success();
  }

  static bool hasManyUses(Value value) {
    return !value.use_empty() && !value.hasOneUse();
  }

  // ---- Ops ----

  LogicalResult addBlock(Block &block, const Spans &forbidden) {
    for (Operation &op : block)
      if (failed(addOp(&op, forbidden)))
        return failure();
    return success();
  }

  LogicalResult addOp(Operation *op, const Spans &forbidden) {
    if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
      return addManual(manual, forbidden);
    for (Value result : op->getResults())
      addSlot(result, forbidden);
    if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
      return addLoop(loop, forbidden);
    if (isa<stablehlo::CaseOp, stablehlo::IfOp>(op))
      return addBranches(op, forbidden);
    if (isa<stablehlo::OptimizationBarrierOp>(op)) {
      for (auto [operand, result] :
           llvm::zip_equal(op->getOperands(), op->getResults()))
        propagation.addIdentity(getSlot(operand), getSlot(result),
                                hasManyUses(operand));
      return success();
    }
    if (auto barrier = dyn_cast<sdy::PropagationBarrierOp>(op)) {
      sdy::PropagationDirection allowed = barrier.getAllowedDirection();
      propagation.addIdentity(getSlot(barrier.getInput()),
                              getSlot(barrier.getResult()), false,
                              allowed == sdy::PropagationDirection::FORWARD ||
                                  allowed == sdy::PropagationDirection::BOTH,
                              allowed == sdy::PropagationDirection::BACKWARD ||
                                  allowed == sdy::PropagationDirection::BOTH);
      return success();
    }
    if (isa<sdy::ShardingConstraintOp, sdy::ReshardOp>(op))
      return addConstraint(op);
    if (auto group = dyn_cast<sdy::ShardingGroupOp>(op)) {
      if (unsigned slot = getSlot(group.getInput()); slot != Propagation::none)
        groups[group.getGroupId()].push_back(slot);
      return success();
    }
    addByRule(op);
    return success();
  }

  LogicalResult addConstraint(Operation *op) {
    auto sharding = isa<sdy::ReshardOp>(op)
                        ? cast<sdy::ReshardOp>(op).getSharding()
                        : cast<sdy::ShardingConstraintOp>(op).getSharding();
    unsigned from = getSlot(op->getOperand(0)), to = getSlot(op->getResult(0));
    if (failed(give(op, to, sharding)))
      return failure();
    propagation.addIdentity(from, to, hasManyUses(op->getOperand(0)));
    constraints.push_back(op);
    return success();
  }

  void addByRule(Operation *op) {
    std::optional<Rule> rule = getRule(op);
    if (!rule)
      return;
    SmallVector<unsigned> operands, results;
    bool isShared = false;
    for (Value operand : op->getOperands()) {
      operands.push_back(getSlot(operand));
      auto type = dyn_cast<ShapedType>(operand.getType());
      isShared |= type && type.getRank() != 0 && hasManyUses(operand);
    }
    for (Value result : op->getResults())
      results.push_back(getSlot(result));
    Eagerness eagerness = Eagerness::Ordinary;
    if (rule->isElementwise ||
        isa<stablehlo::ReshapeOp, stablehlo::TransposeOp>(op))
      eagerness = Eagerness::First;
    else if (isa<stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp>(
                 op))
      eagerness = Eagerness::Forward;
    else if (isa<stablehlo::BroadcastInDimOp>(op))
      eagerness = Eagerness::Broadcast;
    propagation.addOp(std::move(*rule), std::move(operands), std::move(results),
                      eagerness, isShared);
  }

  /// What is carried is split alike in all rounds.
  LogicalResult addLoop(stablehlo::WhileOp loop, const Spans &forbidden) {
    for (Region *region : {&loop.getCond(), &loop.getBody()})
      for (auto [argument, result] :
           llvm::zip_equal(region->getArguments(), loop.getResults()))
        if (unsigned slot = getSlot(result); slot != Propagation::none)
          slotOf[argument] = slot;
    for (Region *region : {&loop.getCond(), &loop.getBody()})
      if (failed(addBlock(region->front(), forbidden)))
        return failure();
    Operation *end = loop.getBody().front().getTerminator();
    for (auto [first, next, result] : llvm::zip_equal(
             loop.getOperand(), end->getOperands(), loop.getResults()))
      addEdge({first, next}, result);
    return success();
  }

  LogicalResult addBranches(Operation *op, const Spans &forbidden) {
    for (Region &region : op->getRegions())
      if (failed(addBlock(region.front(), forbidden)))
        return failure();
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      SmallVector<Value> sources;
      for (Region &region : op->getRegions())
        sources.push_back(region.front().getTerminator()->getOperand(
            static_cast<unsigned>(i)));
      addEdge(sources, result);
    }
    return success();
  }

  void addEdge(ArrayRef<Value> sources, Value result) {
    unsigned to = getSlot(result);
    for (Value source : sources)
      propagation.addIdentity(getSlot(source), to, hasManyUses(source));
    SmallVector<unsigned> from;
    for (Value source : sources)
      from.push_back(getSlot(source));
    if (to != Propagation::none)
      edges.push_back({std::move(from), to});
  }

  LogicalResult addManual(sdy::ManualComputationOp op, const Spans &forbidden) {
    SmallVector<StringAttr> axes(op.getManualAxes().begin(),
                                 op.getManualAxes().end());
    Block &body = op.getBody().front();
    Manual manual{op, {}, {}};
    Spans inside = forbidden;
    auto addSpans = [&](sdy::TensorShardingAttr sharding) {
      Spans spans = reader.getManualSpans(op, sharding, axes);
      inside.append(spans.begin(), spans.end());
      return spans;
    };
    SmallVector<Spans> inSpans, outSpans;
    for (sdy::TensorShardingAttr sharding : op.getInShardings().getShardings())
      inSpans.push_back(addSpans(sharding));
    for (sdy::TensorShardingAttr sharding : op.getOutShardings().getShardings())
      outSpans.push_back(addSpans(sharding));
    inside = sortSpans(inside);
    auto addBorderSlot = [&](Value value, sdy::TensorShardingAttr sharding,
                             unsigned &slot) -> LogicalResult {
      slot = Propagation::none;
      if (RankedTensorType type = getStaticType(value)) {
        slot = propagation.addSlot(Slot(type));
        propagation.get(slot).forbidden = forbidden;
      }
      return give(op, slot, sharding);
    };
    for (auto [i, operand, sharding, argument] :
         llvm::enumerate(op.getTensors(), op.getInShardings().getShardings(),
                         body.getArguments())) {
      unsigned slot;
      if (failed(addBorderSlot(operand, sharding, slot)))
        return failure();
      manual.ins.push_back(slot);
      propagation.addIdentity(getSlot(operand), slot, hasManyUses(operand));
      unsigned local = addSlot(argument, inside);
      setInside(slot, local, inSpans[i]);
      propagation.addBorder(slot, local, inSpans[i]);
    }
    if (failed(addBlock(body, inside)))
      return failure();
    for (auto [i, result, sharding, returned] :
         llvm::enumerate(op.getResults(), op.getOutShardings().getShardings(),
                         body.getTerminator()->getOperands())) {
      unsigned slot;
      if (failed(addBorderSlot(result, sharding, slot)))
        return failure();
      manual.outs.push_back(slot);
      if (slot != Propagation::none)
        slotOf[result] = slot;
      propagation.addBorder(slot, getSlot(returned), outSpans[i]);
    }
    manuals.push_back(std::move(manual));
    return success();
  }

  /// Where nothing is open outside nothing is inside; parts stay parts.
  void setInside(unsigned outside, unsigned inside, ArrayRef<Span> manual) {
    if (outside == Propagation::none || inside == Propagation::none)
      return;
    Slot &outer = propagation.get(outside), &inner = propagation.get(inside);
    inner.isClosed = outer.isClosed;
    inner.sharding.unreduced = subtract(outer.sharding.unreduced, manual);
    for (auto [dim, spans] : llvm::enumerate(outer.sharding.dims))
      for (Span span : spans)
        append(inner.sharding.dims[dim], subtract({span}, manual));
  }

  // ---- Before shardings flow ----

  void joinGroups() {
    for (auto &[id, members] : groups)
      for (unsigned member : llvm::drop_begin(members))
        propagation.unite(members.front(), member);
  }

  /// What is asked of a value is how it is best computed, if nobody asks for
  /// anything else.
  void giveToInputs() {
    llvm::DenseMap<Value, std::optional<unsigned>> asked;
    for (Operation *op : constraints) {
      unsigned slot = getSlot(op->getResult(0));
      if (slot == Propagation::none)
        continue;
      auto [known, isNew] = asked.try_emplace(op->getOperand(0), slot);
      if (!isNew &&
          (!known->second || !(propagation.get(*known->second).sharding ==
                               propagation.get(slot).sharding)))
        known->second = std::nullopt;
    }
    for (Operation *op : constraints) {
      Value input = op->getOperand(0);
      unsigned to = getSlot(input);
      if (to == Propagation::none || !asked[input] || !mayBeGiven(input))
        continue;
      Slot &from = propagation.get(*asked[input]), &slot = propagation.get(to);
      if (slot.isGiven || !from.later.empty() ||
          llvm::is_contained(from.isClosed, false) ||
          overlap(from.sharding.getSplitting(), slot.forbidden))
        continue;
      slot.sharding = from.sharding;
      slot.isGiven = true;
      slot.setClosed();
    }
  }

  /// What flows through regions has several sources.
  static bool mayBeGiven(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return isa<func::FuncOp>(argument.getOwner()->getParentOp());
    return !isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp,
                sdy::ManualComputationOp>(value.getDefiningOp());
  }

  /// What flows from parts only is parts.
  void passParts() {
    for (bool hasChanged = true; hasChanged;) {
      hasChanged = false;
      for (auto &[sources, to] : edges) {
        Slot &target = propagation.get(to);
        if (target.isGiven || !target.sharding.unreduced.empty())
          continue;
        const Spans *common = nullptr;
        for (unsigned source : sources) {
          const Spans &parts = propagation.get(source).sharding.unreduced;
          if (parts.empty() || (common && *common != parts)) {
            common = nullptr;
            break;
          }
          common = &parts;
        }
        if (!common)
          continue;
        target.sharding.unreduced = *common;
        hasChanged = true;
      }
    }
  }

  // ---- Behind ----

  Sharding getSharding(unsigned slot) { return propagation.get(slot).sharding; }
  static std::optional<Sharding> getSharding(const Placement &placement,
                                             int64_t rank,
                                             ShardingReader &reader) {
    return alula::partition::getSharding(placement, rank, reader);
  }

  sdy::TensorShardingAttr print(unsigned slot) {
    return names.print(slot == Propagation::none ? Sharding()
                                                 : getSharding(slot));
  }

  /// An argument or a result whose sharding nobody has said: in whole axes, so
  /// that clients have words for it, and in equal pieces.
  std::optional<Sharding> choose(unsigned slot) {
    if (slot == Propagation::none)
      return std::nullopt;
    Slot &known = propagation.get(slot);
    Sharding cut = names.cutToWholeAxes(known.sharding);
    for (auto [dim, spans] : llvm::enumerate(cut.dims))
      spans = getDividingPrefix(spans, known.type.getShape()[dim]);
    cut = names.cutToWholeAxes(cut);
    if (cut.isWhole())
      return std::nullopt;
    return cut;
  }

  void annotate() {
    IRRewriter rewriter(module.getContext());
    for (auto [i, argument] : llvm::enumerate(getBody().getArguments()))
      if (!keptArguments[i])
        if (auto sharding = choose(getSlot(argument)))
          main.setArgAttr(static_cast<unsigned>(i), sdy::shardingAttrName,
                          names.print(*sharding));
    for (auto [i, slot] : llvm::enumerate(resultSlots))
      if (!keptResults[i])
        if (auto sharding = choose(slot))
          main.setResultAttr(static_cast<unsigned>(i), sdy::shardingAttrName,
                             names.print(*sharding));
    for (Manual &manual : manuals)
      annotateManual(manual);
    SmallVector<Operation *> ops;
    main.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      annotate(op, rewriter);
  }

  void annotate(Operation *op, IRRewriter &rewriter) {
    if (isa<sdy::ManualComputationOp>(op))
      return;
    if (isa<sdy::ShardingGroupOp>(op))
      return rewriter.eraseOp(op);
    if (isa<sdy::PropagationBarrierOp>(op))
      return rewriter.replaceOp(op, op->getOperands());
    if (isa<sdy::ShardingConstraintOp, sdy::ReshardOp>(op)) {
      unsigned slot = getSlot(op->getResult(0));
      if (slot == Propagation::none)
        return rewriter.replaceOp(op, op->getOperands());
      rewriter.setInsertionPoint(op);
      auto reshard = rewriter.create<sdy::ReshardOp>(
          op->getLoc(), op->getResult(0).getType(), op->getOperand(0),
          print(slot));
      rewriter.replaceOp(op, reshard);
      return;
    }
    bool isWhole = llvm::all_of(op->getResults(), [&](Value result) {
      unsigned slot = getSlot(result);
      return slot == Propagation::none || getSharding(slot).isWhole();
    });
    if (isWhole || op->hasAttr(sdy::shardingAttrName))
      return;
    SmallVector<sdy::TensorShardingAttr> shardings;
    for (Value result : op->getResults())
      shardings.push_back(print(getSlot(result)));
    op->setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(
                                           module.getContext(), shardings));
  }

  void annotateManual(Manual &manual) {
    auto update = [&](ArrayRef<unsigned> slots,
                      sdy::TensorShardingPerValueAttr old) {
      SmallVector<sdy::TensorShardingAttr> shardings(old.getShardings().begin(),
                                                     old.getShardings().end());
      for (auto [sharding, slot] : llvm::zip_equal(shardings, slots)) {
        if (slot == Propagation::none)
          continue;
        auto read = reader.read(manual.op, sharding);
        if (succeeded(read) && *read && !(**read == getSharding(slot)))
          sharding = print(slot);
      }
      return sdy::TensorShardingPerValueAttr::get(module.getContext(),
                                                  shardings);
    };
    manual.op.setInShardingsAttr(
        update(manual.ins, manual.op.getInShardings()));
    manual.op.setOutShardingsAttr(
        update(manual.outs, manual.op.getOutShardings()));
  }

  ModuleOp module;
  func::FuncOp main;
  ShardingReader reader;
  MeshNames names;
  Propagation propagation;
  llvm::DenseMap<Value, unsigned> slotOf;
  SmallVector<unsigned> resultSlots;
  SmallVector<bool> keptArguments, keptResults;
  SmallVector<Operation *> constraints;
  std::map<int64_t, SmallVector<unsigned>> groups;
  struct Edge {
    SmallVector<unsigned> sources;
    unsigned target;
  };
  std::vector<Edge> edges;
  std::vector<Manual> manuals;
};

struct PropagateShardings
    : alula::partition::impl::PropagateShardingsBase<PropagateShardings> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    int64_t devices = stablehlo::getPartitionCount(module);
    if (!main || main.isExternal() || devices == 1 ||
        module->hasAttr(argumentShardingsName))
      return;
    if (failed(Propagator(module, main, devices).run()))
      signalPassFailure();
  }
};
} // namespace
