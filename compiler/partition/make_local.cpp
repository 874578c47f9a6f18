// One program over all devices → the program of each device.
//
//   %r = stablehlo.dot_general %x, %y {sdy.sharding = …}
//   → the same of this device's pieces, with collectives where pieces are not
//     where they are wanted
//   %r = sdy.manual_computation(%x) in_shardings=[<@m, [{"a"}]>] … { body }
//   → body over the device's piece of %x
//
// Shardings stand on the values, as `partition-propagate-shardings` leaves
// them. An op without a rule is computed whole on each device, of gathered
// operands. Pieces are of equal size: the last ones of what doesn't divide are
// padded.

#include "compiler/partition/choose_factors.h"
#include "compiler/partition/gspmd_text.h"
#include "compiler/partition/local_values.h"
#include "compiler/partition/passes.h"
#include "compiler/partition/pieces.h"
#include "compiler/partition/signature.h"
#include "compiler/partition/windows.h"

#include "dialect/sdy/ops.h"
#include "dialect/stablehlo/device_counts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace alula::partition {
#define GEN_PASS_DEF_MAKELOCAL
#include "compiler/partition/passes.h.inc"
} // namespace alula::partition

using namespace mlir;
using namespace alula::partition;

namespace {
bool isAny(StringRef) { return true; }

class Localizer {
public:
  Localizer(func::FuncOp function, int64_t devices)
      : main(function), devices(devices), reader(devices),
        rewriter(function.getContext()), locals(function, devices, rewriter),
        reshards(locals.getReshards()), pieces(rewriter, devices) {}

  /// What others call takes and gives whole arrays.
  LogicalResult run(bool isEntry) {
    Block *old = &main.getBody().front();
    Block *fresh = new Block;
    main.getBody().push_front(fresh);
    reshards.setStart(fresh);
    rewriter.setInsertionPointToStart(fresh);
    LogicalResult result = failure();
    if (succeeded(addArguments(*old, *fresh, isEntry)) &&
        succeeded(lowerBlock(*old)))
      result = addResults(*old, isEntry);
    if (failed(result)) {
      fresh->dropAllReferences();
      fresh->erase();
      return failure();
    }
    old->dropAllReferences();
    old->erase();
    return success();
  }

  /// Where arguments and results lie, for whoever asks the executable.
  void describe(ModuleOp module) {
    Builder builder(module.getContext());
    SmallVector<Attribute> texts;
    for (const Placement &placement : argumentPlacements)
      texts.push_back(builder.getStringAttr(placement.printForXla()));
    module->setAttr(argumentShardingsName, builder.getArrayAttr(texts));
    std::string text;
    for (const Placement &placement : resultPlacements)
      text += (text.empty() ? "" : ", ") + placement.printForXla();
    if (resultPlacements.size() != 1)
      text = resultPlacements.empty() ? "{replicated}" : "{" + text + "}";
    module->setAttr(resultShardingsName, builder.getStringAttr(text));
    SmallVector<Attribute> moved = locals.getNotes();
    if (!moved.empty())
      module->setAttr("alula.partition", builder.getArrayAttr(moved));
  }

private:
  // ---- Reading shardings ----

  /// Why an operand isn't taken as it is.
  StringRef findReason(const Rule &rule, size_t operand,
                       const Sharding &sharding) {
    for (auto [dim, factors] : llvm::enumerate(rule.operands[operand]))
      for (unsigned factor : factors)
        if (rule.factors[factor].kind == FactorKind::Replicate &&
            !sharding.dims[dim].empty())
          return "which it needs whole along a dimension";
    return "as others of it are split";
  }

  /// What a value's sharding should be: what is said of it, as far as it
  /// divides.
  FailureOr<Sharding> getTarget(Operation *op, Value value,
                                sdy::TensorShardingAttr attribute) {
    RankedTensorType type = getStaticType(value);
    if (!type || !attribute)
      return Sharding(type ? type.getRank() : 0);
    auto read = reader.read(op, attribute);
    if (failed(read))
      return failure();
    if (!*read)
      return Sharding(type.getRank());
    Sharding sharding = **read;
    bool mayPad =
        bool(getNeutral(Reducer::Sum, type.getElementType(),
                        RankedTensorType::get({}, type.getElementType())));
    for (auto [dim, spans] : llvm::enumerate(sharding.dims))
      spans = mayPad ? getPaddablePrefix(spans, type.getShape()[dim])
                     : getDividingPrefix(spans, type.getShape()[dim]);
    return sharding;
  }

  FailureOr<Sharding> getTarget(OpResult result) {
    Operation *op = result.getOwner();
    auto all = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(
        sdy::shardingAttrName);
    sdy::TensorShardingAttr attribute;
    if (all && all.getShardings().size() == op->getNumResults())
      attribute = all.getShardings()[result.getResultNumber()];
    return getTarget(op, result, attribute);
  }

  // ---- The function ----

  LogicalResult addArguments(Block &old, Block &fresh, bool isEntry) {
    for (BlockArgument argument : old.getArguments()) {
      Placement placement;
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (isEntry && type &&
          failed(readSignature(main,
                               main.getArgAttrDict(argument.getArgNumber()),
                               type, devices, reader, placement)))
        return failure();
      RankedTensorType local =
          placement.isWhole() ? type : placement.getLocalType(type);
      if (type && !local)
        return main.emitOpError()
               << "argument " << argument.getArgNumber() << " of type " << type
               << " can't be divided as " << placement.printForXla();
      Value given = fresh.addArgument(local ? Type(local) : argument.getType(),
                                      argument.getLoc());
      take(argument, given, placement);
      argumentPlacements.push_back(std::move(placement));
    }
    return success();
  }

  /// `local` is what lies as `placement` says.
  void take(Value value, Value local, const Placement &placement) {
    RankedTensorType type = getStaticType(value);
    int64_t rank = type ? type.getRank() : 0;
    if (placement.isWhole())
      return locals.set(value, local, Sharding(rank));
    if (auto sharding = getSharding(placement, rank, reader))
      return locals.set(value, local, *sharding);
    locals.set(value, pieces.gather(local, placement), Sharding(rank));
  }

  /// The piece of a value that lies as `placement` says.
  FailureOr<Value> give(Operation *op, Value value,
                        const Placement &placement) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || placement.isWhole())
      return locals.getWhole(value);
    if (!placement.getLocalType(type))
      return op->emitOpError()
             << "an array of type " << type << " can't be divided as "
             << placement.printForXla();
    if (auto sharding = getSharding(placement, type.getRank(), reader))
      return locals.get(value, *sharding);
    return pieces.localize(op, locals.getWhole(value), placement);
  }

  LogicalResult addResults(Block &old, bool isEntry) {
    Operation *end = old.getTerminator();
    SmallVector<Value> values;
    for (OpOperand &operand : end->getOpOperands()) {
      Placement placement;
      if (auto type = dyn_cast<RankedTensorType>(operand.get().getType());
          type && isEntry &&
          failed(readSignature(
              main, main.getResultAttrDict(operand.getOperandNumber()), type,
              devices, reader, placement)))
        return failure();
      locals.setReason({nullptr, "result", operand.getOperandNumber(), ""});
      auto local = give(main, operand.get(), placement);
      if (failed(local))
        return failure();
      values.push_back(*local);
      resultPlacements.push_back(std::move(placement));
    }
    rewriter.create<func::ReturnOp>(end->getLoc(), values);
    main.setFunctionType(FunctionType::get(
        main.getContext(), main.getBody().front().getArgumentTypes(),
        ValueRange(values).getTypes()));
    keepAliases(main);
    return success();
  }

  // ---- Ops ----

  LogicalResult lowerBlock(Block &block) {
    for (Operation &op : block.without_terminator())
      if (failed(lower(&op)))
        return failure();
    return success();
  }

  LogicalResult lower(Operation *op) {
    if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
      return lowerManual(manual);
    if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
      return lowerLoop(loop);
    if (isa<stablehlo::CaseOp, stablehlo::IfOp>(op))
      return lowerBranches(op);
    if (isa<stablehlo::OptimizationBarrierOp>(op))
      return lowerBarrier(op);
    if (auto reshard = dyn_cast<sdy::ReshardOp>(op)) {
      auto target = getTarget(op, reshard.getResult(), reshard.getSharding());
      if (failed(target))
        return failure();
      locals.setReason({op, "operand", 0, "as the program says"});
      locals.set(reshard.getResult(), locals.get(reshard.getInput(), *target),
                 *target);
      return success();
    }
    if (isQuestion(op)) {
      show(op);
      return success();
    }
    if (std::optional<Rule> rule = getRule(op))
      return lowerByRule(op, *rule);
    return lowerWhole(op);
  }

  /// Who asks how an array is divided.
  static bool isQuestion(Operation *op) {
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    return call && call.getCallTargetName() == "InspectSharding" &&
           op->getNumOperands() == 1 &&
           (op->getNumResults() == 0 ||
            op->getResultTypes() == op->getOperandTypes()) &&
           isa_and_nonnull<StringAttr>(op->getAttr("backend_config"));
  }

  /// Nothing is left to run: who asked hears it when the program is compiled.
  void show(Operation *op) {
    LocalValues::Local local = locals.find(op->getOperand(0));
    bool isInside = op->getParentOfType<sdy::ManualComputationOp>();
    std::string text = isInside ? "{manual}" : "{replicated}";
    if (local.type && !(isInside && local.sharding.isWhole()))
      text = makePlacement(local.sharding, devices, main.getContext())
                 .printForXla();
    auto module = main->getParentOfType<ModuleOp>();
    SmallVector<Attribute> all;
    if (auto told = module->getAttrOfType<ArrayAttr>(shownShardingsName))
      llvm::append_range(all, told);
    all.push_back(rewriter.getArrayAttr(
        {op->getAttr("backend_config"), rewriter.getStringAttr(text)}));
    module->setAttr(shownShardingsName, rewriter.getArrayAttr(all));
    for (Value result : op->getResults())
      locals.set(result, local.value, local.sharding);
  }

  LogicalResult lowerByRule(Operation *op, const Rule &rule) {
    SmallVector<TensorUse> tensors;
    SmallVector<Sharding> targets;
    for (auto [operand, factors] :
         llvm::zip_equal(op->getOperands(), rule.operands)) {
      // Parts are added up, but where the op says below that it takes them.
      Sharding here = locals.find(operand).sharding;
      tensors.push_back({getStaticType(operand), &factors, std::move(here),
                         /*isResult=*/false});
    }
    for (auto [result, factors] :
         llvm::zip_equal(op->getResults(), rule.results)) {
      auto target = getTarget(result);
      if (failed(target))
        return failure();
      targets.push_back(*target);
      tensors.push_back({getStaticType(result), &factors, *target,
                         /*isResult=*/true});
    }
    Spans parts = findParts(op, rule, targets);
    SmallVector<Spans> factors = chooseFactors(op, rule, tensors, parts);
    auto getShard = [&](ArrayRef<Span> spans) {
      return reshards.getShard(spans);
    };
    auto read = [&](Value piece, const Window &window, const WindowReads &reads,
                    Value fill) {
      return buildWindow(rewriter, reshards, piece, window, reads,
                         factors[window.factor], fill);
    };
    auto readWhole = [&](Value whole, const Window &window,
                         const WindowReads &reads) {
      return buildWindowOfWhole(rewriter, reshards, whole, window.dim, reads,
                                factors[window.factor], Value());
    };
    LocalSite site{rewriter, op,       rule,      factors, {},
                   {},       getShard, cloneSite, read,    readWhole};
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      RankedTensorType type = getStaticType(operand);
      Sharding wanted = projectFactors(rule, rule.operands[i], factors,
                                       type ? type.getRank() : 0);
      if (i < rule.linearOperands)
        wanted.unreduced = parts;
      const Sharding &here = locals.find(operand).sharding;
      locals.setReason(
          {op, "operand", i,
           type && !(here == wanted) ? findReason(rule, i, here) : ""});
      site.operands.push_back(
          hidePadding(rule, i, type, wanted, locals.get(operand, wanted)));
    }
    SmallVector<Sharding> made;
    for (auto [result, tensor] :
         llvm::zip_equal(op->getResults(), rule.results)) {
      RankedTensorType type = getStaticType(result);
      made.push_back(projectFactors(rule, tensor, factors, type.getRank()));
      site.resultTypes.push_back(made.back().getLocalType(type));
      made.back().unreduced = getPartSpans(rule, factors);
      if (!parts.empty())
        made.back().unreduced.append(parts.begin(), parts.end());
      made.back().unreduced = sortSpans(made.back().unreduced);
    }
    mapCaptured(op);
    locals.setReason({op, "operand", 0, "whose neighbours it reads"});
    SmallVector<Value> values = buildLocal(site);
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      locals.setReason({op, "result", i, "as it is used"});
      finish(result, values[i], made[i], targets[i], rule.reducer);
    }
    return success();
  }

  /// What is combined over devices must not have padding in it.
  Value hidePadding(const Rule &rule, size_t operand, RankedTensorType type,
                    const Sharding &sharding, Value piece) {
    for (auto [dim, factors] : llvm::enumerate(rule.operands[operand])) {
      if (factors.size() != 1 ||
          rule.factors[factors[0]].kind != FactorKind::Reduce ||
          type.getShape()[dim] % countShards(sharding.dims[dim]) == 0 ||
          findWindow(rule, operand, dim))
        continue;
      Location location = piece.getLoc();
      int64_t size = cast<RankedTensorType>(piece.getType()).getShape()[dim];
      Value first = rewriter.create<stablehlo::MulOp>(
          location, reshards.getShard(sharding.dims[dim]),
          buildNumber(rewriter, location, size, rewriter.getI32Type()));
      auto scalar = RankedTensorType::get({}, type.getElementType());
      Value fill = rewriter.create<stablehlo::ConstantOp>(
          location, getNeutral(rule.reducer, type.getElementType(), scalar));
      piece =
          buildMask(rewriter, piece, dim, first, type.getShape()[dim], fill);
    }
    return piece;
  }

  /// Digits along which operands are parts, and results may be.
  Spans findParts(Operation *op, const Rule &rule, ArrayRef<Sharding> targets) {
    if (rule.linearOperands == 0 || targets.size() != 1 ||
        targets[0].unreduced.empty())
      return {};
    Spans parts = locals.find(op->getOperand(0)).sharding.unreduced;
    for (size_t i = 0; i < rule.linearOperands; ++i)
      if (locals.find(op->getOperand(static_cast<unsigned>(i)))
              .sharding.unreduced != parts)
        return {};
    return subtract(parts, targets[0].unreduced).empty() ? parts : Spans();
  }

  /// A result that has been computed, as it is wanted.
  void finish(Value result, Value value, const Sharding &made,
              const Sharding &target, Reducer reducer) {
    RankedTensorType type = getStaticType(result);
    if (!type || made == target)
      return locals.set(result, value, target);
    Sharding whole = target;
    // Only sums are left to be done.
    if (reducer != Reducer::Sum)
      whole.unreduced.clear();
    Value moved = reshards.build(value, type, made, whole, reducer);
    locals.set(result, reshards.build(moved, type, whole, target, Reducer::Sum),
               target);
    if (made.unreduced.empty())
      locals.addOther(result, value, made);
  }

  /// What regions use of values outside of them.
  IRMapping mapCaptured(Operation *op) {
    IRMapping mapping;
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (!region.isAncestor(operand.getParentRegion()) &&
              !mapping.contains(operand))
            mapping.map(operand, locals.getWhole(operand));
      });
    captured = mapping;
    return mapping;
  }

  /// The op with other operands and types.
  Operation *cloneOp(Operation *op, ValueRange operands, TypeRange types,
                     ArrayRef<NamedAttribute> changed) {
    IRMapping mapping = captured;
    Operation *made = rewriter.insert(op->cloneWithoutRegions(mapping));
    return fill(op, made, operands, types, changed, mapping);
  }

  static Operation *fill(Operation *op, Operation *made, ValueRange operands,
                         TypeRange types, ArrayRef<NamedAttribute> changed,
                         IRMapping &mapping) {
    made->setOperands(operands);
    for (auto [result, type] : llvm::zip_equal(made->getResults(), types))
      result.setType(type);
    made->removeAttr(sdy::shardingAttrName);
    for (NamedAttribute attribute : changed)
      made->setAttr(attribute.getName(), attribute.getValue());
    for (auto [from, to] :
         llvm::zip_equal(op->getRegions(), made->getRegions()))
      from.cloneInto(&to, mapping);
    return made;
  }

  /// A call that is seen from outside, of a program that doesn't know of
  /// devices, is done by one of them.
  bool isDoneOnce(Operation *op) {
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    if (!call || !call.getHasSideEffect() || devices == 1 ||
        op->getParentOfType<sdy::ManualComputationOp>())
      return false;
    auto isKnown = [](Type type) { return isa<RankedTensorType>(type); };
    return llvm::all_of(op->getOperandTypes(), isKnown) &&
           llvm::all_of(op->getResults(), [](Value result) {
             RankedTensorType type = getStaticType(result);
             return type &&
                    getNeutral(Reducer::Sum, type.getElementType(), type);
           });
  }

  /// The first device does it, and the others have its results.
  SmallVector<Value> buildOnce(Operation *op, ValueRange operands) {
    Location location = op->getLoc();
    Value isFirst = rewriter.create<stablehlo::CompareOp>(
        location, reshards.getShard({Span{1, devices}}),
        buildNumber(rewriter, location, 0, rewriter.getI32Type()),
        stablehlo::ComparisonDirection::EQ);
    OperationState state(location, stablehlo::IfOp::getOperationName());
    state.addOperands(isFirst);
    state.addTypes(op->getResultTypes());
    state.addRegion();
    state.addRegion();
    Operation *choice = rewriter.create(state);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.createBlock(&choice->getRegion(0));
      Operation *made = cloneOp(op, operands, op->getResultTypes(), {});
      rewriter.create<stablehlo::ReturnOp>(location, made->getResults());
      rewriter.createBlock(&choice->getRegion(1));
      SmallVector<Value> zeros;
      for (Value result : op->getResults()) {
        RankedTensorType type = getStaticType(result);
        zeros.push_back(rewriter.create<stablehlo::ConstantOp>(
            location, getNeutral(Reducer::Sum, type.getElementType(), type)));
      }
      rewriter.create<stablehlo::ReturnOp>(location, zeros);
    }
    SmallVector<Value> values;
    for (Value result : choice->getResults())
      values.push_back(reshards.broadcast(result));
    return values;
  }

  LogicalResult lowerWhole(Operation *op) {
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      locals.setReason(
          {op, "operand", i, "of which nothing says how it is split"});
      operands.push_back(locals.getWhole(operand));
    }
    mapCaptured(op);
    SmallVector<Value> values;
    locals.setReason({op, "result", 0, "which one device computes"});
    if (isDoneOnce(op))
      values = buildOnce(op, operands);
    else
      llvm::append_range(
          values,
          cloneOp(op, operands, op->getResultTypes(), {})->getResults());
    for (auto [result, value] : llvm::zip_equal(op->getResults(), values)) {
      auto target = getTarget(cast<OpResult>(result));
      if (failed(target))
        return failure();
      RankedTensorType type = getStaticType(result);
      finish(result, value, Sharding(type ? type.getRank() : 0), *target,
             Reducer::Sum);
    }
    return success();
  }

  // ---- Regions ----

  /// Targets of results, and types of their pieces.
  LogicalResult getTargets(Operation *op, SmallVector<Sharding> &targets,
                           SmallVector<Type> &types) {
    for (OpResult result : op->getResults()) {
      auto target = getTarget(result);
      if (failed(target))
        return failure();
      RankedTensorType type = getStaticType(result);
      types.push_back(type ? Type(target->getLocalType(type))
                           : result.getType());
      targets.push_back(std::move(*target));
    }
    return success();
  }

  Operation *createLike(Operation *op, ValueRange operands,
                        ArrayRef<Type> types) {
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(operands);
    state.addTypes(types);
    for (NamedAttribute attribute : op->getAttrs())
      if (attribute.getName() != sdy::shardingAttrName)
        state.attributes.push_back(attribute);
    for (unsigned i = 0; i < op->getNumRegions(); ++i)
      state.addRegion();
    return rewriter.create(state);
  }

  SmallVector<Value> getAll(ValueRange values, ArrayRef<Sharding> targets) {
    SmallVector<Value> all;
    for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(values, targets))) {
      auto [value, target] = pair;
      locals.setReason({locals.find(value).value.getDefiningOp(), "result", i,
                        "as a region takes it"});
      all.push_back(locals.get(value, target));
    }
    return all;
  }

  void setAll(Operation *op, Operation *made, ArrayRef<Sharding> targets) {
    for (auto [result, value, target] :
         llvm::zip_equal(op->getResults(), made->getResults(), targets))
      locals.set(result, value, target);
  }

  LogicalResult lowerRegion(Region &from, Region &to, ArrayRef<Type> types,
                            ArrayRef<Sharding> targets, bool isCondition) {
    OpBuilder::InsertionGuard guard(rewriter);
    Block &old = from.front();
    SmallVector<Location> locations;
    for (BlockArgument argument : old.getArguments())
      locations.push_back(argument.getLoc());
    Block *block = rewriter.createBlock(
        &to, {}, types.take_front(old.getNumArguments()), locations);
    for (auto [argument, local, target] :
         llvm::zip(old.getArguments(), block->getArguments(), targets))
      locals.set(argument, local, target);
    if (failed(lowerBlock(old)))
      return failure();
    Operation *end = old.getTerminator();
    SmallVector<Value> values;
    for (auto [i, operand] : llvm::enumerate(end->getOperands())) {
      locals.setReason({end, "operand", i, "as a region gives it"});
      values.push_back(isCondition ? locals.getWhole(operand)
                                   : locals.get(operand, targets[i]));
    }
    rewriter.create<stablehlo::ReturnOp>(end->getLoc(), values);
    return success();
  }

  LogicalResult lowerLoop(stablehlo::WhileOp loop) {
    SmallVector<Sharding> targets;
    SmallVector<Type> types;
    if (failed(getTargets(loop, targets, types)))
      return failure();
    Operation *made =
        createLike(loop, getAll(loop.getOperand(), targets), types);
    if (failed(lowerRegion(loop.getCond(), made->getRegion(0), types, targets,
                           /*isCondition=*/true)) ||
        failed(lowerRegion(loop.getBody(), made->getRegion(1), types, targets,
                           /*isCondition=*/false)))
      return failure();
    setAll(loop, made, targets);
    return success();
  }

  LogicalResult lowerBranches(Operation *op) {
    SmallVector<Sharding> targets;
    SmallVector<Type> types;
    if (failed(getTargets(op, targets, types)))
      return failure();
    Operation *made = createLike(op, locals.getWhole(op->getOperand(0)), types);
    for (auto [from, to] :
         llvm::zip_equal(op->getRegions(), made->getRegions()))
      if (failed(lowerRegion(from, to, {}, targets, /*isCondition=*/false)))
        return failure();
    setAll(op, made, targets);
    return success();
  }

  LogicalResult lowerBarrier(Operation *op) {
    SmallVector<Sharding> targets;
    SmallVector<Type> types;
    if (failed(getTargets(op, targets, types)))
      return failure();
    Operation *made = createLike(op, getAll(op->getOperands(), targets), types);
    setAll(op, made, targets);
    return success();
  }

  LogicalResult lowerManual(sdy::ManualComputationOp op) {
    SmallVector<StringAttr> axes(op.getManualAxes().begin(),
                                 op.getManualAxes().end());
    auto isManual = [&](StringRef axis) {
      return llvm::any_of(
          axes, [&](StringAttr manual) { return manual.getValue() == axis; });
    };
    Block &body = op.getBody().front();
    for (auto [operand, attribute, argument] :
         llvm::zip_equal(op.getTensors(), op.getInShardings().getShardings(),
                         body.getArguments())) {
      Placement placement, manual;
      if (failed(readPlacement(op, attribute, reader, isAny, placement)) ||
          failed(readPlacement(op, attribute, reader, isManual, manual)))
        return failure();
      locals.setReason(
          {op, "operand", argument.getArgNumber(), "as the program says"});
      auto local = give(op, operand, placement);
      if (failed(local))
        return failure();
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      Type piece = type && !manual.isWhole() ? Type(manual.getLocalType(type))
                                             : operand.getType();
      if (argument.getType() != piece)
        return op.emitOpError() << "the body takes " << argument.getType()
                                << ", a piece is " << piece;
      setInside(op, argument, *local, attribute, axes);
    }
    if (failed(lowerBlock(body)))
      return failure();
    for (auto [result, attribute, returned] :
         llvm::zip_equal(op.getResults(), op.getOutShardings().getShardings(),
                         body.getTerminator()->getOperands())) {
      Placement placement, manual;
      if (failed(readPlacement(op, attribute, reader, isAny, placement)) ||
          failed(readPlacement(op, attribute, reader, isManual, manual)))
        return failure();
      auto type = dyn_cast<RankedTensorType>(returned.getType());
      Type whole = type && !manual.isWhole() ? Type(manual.getWholeType(type))
                                             : returned.getType();
      if (result.getType() != whole)
        return op.emitOpError() << "a result is " << result.getType()
                                << ", its pieces make " << whole;
      if (takeAsItIs(op, result, returned, attribute, axes))
        continue;
      locals.setReason({op, "result", cast<OpResult>(result).getResultNumber(),
                        "as the program says"});
      Sharding inside = getInside(op, returned, attribute, axes);
      take(result, locals.get(returned, inside), placement);
    }
    return success();
  }

  /// What is left of a sharding for those who know nothing of some axes.
  Sharding getInside(sdy::ManualComputationOp op, Value value,
                     sdy::TensorShardingAttr attribute,
                     ArrayRef<StringAttr> axes) {
    RankedTensorType type = getStaticType(value);
    Sharding inside(type ? type.getRank() : 0);
    auto read = reader.read(op, attribute);
    if (!type || failed(read) || !*read)
      return inside;
    Spans manual = reader.getManualSpans(op, attribute, axes);
    inside.unreduced = subtract((*read)->unreduced, manual);
    for (auto [to, from] : llvm::zip_equal(inside.dims, (*read)->dims))
      for (Span span : from)
        append(to, subtract({span}, manual));
    return inside;
  }

  /// What is split further than it need be stays so: who wants it whole gathers
  /// it.
  bool takeAsItIs(sdy::ManualComputationOp op, Value result, Value returned,
                  sdy::TensorShardingAttr attribute,
                  ArrayRef<StringAttr> axes) {
    Sharding inside = getInside(op, returned, attribute, axes);
    const LocalValues::Local &local = locals.find(returned);
    auto read = reader.read(op, attribute);
    // Pieces of padded pieces are no pieces.
    if (!local.type || !local.sharding.divides(local.type) || failed(read) ||
        !*read || local.sharding.unreduced != inside.unreduced)
      return false;
    Sharding outside = **read;
    for (auto [whole, have, wanted] :
         llvm::zip_equal(outside.dims, local.sharding.dims, inside.dims)) {
      if (!isPrefix(wanted, have))
        return false;
      append(whole, removePrefix(have, wanted));
    }
    locals.set(result, Value(local.value), outside);
    return true;
  }

  void setInside(sdy::ManualComputationOp op, Value argument, Value local,
                 sdy::TensorShardingAttr attribute, ArrayRef<StringAttr> axes) {
    locals.set(argument, local, getInside(op, argument, attribute, axes));
  }

  func::FuncOp main;
  int64_t devices;
  ShardingReader reader;
  IRRewriter rewriter;
  LocalValues locals;
  ReshardBuilder &reshards;
  Pieces pieces;
  /// What regions of the op that is being built use.
  IRMapping captured;
  std::function<SmallVector<Value>(LocalSite &, ArrayRef<NamedAttribute>)>
      cloneSite = [this](LocalSite &site, ArrayRef<NamedAttribute> changed) {
        Operation *made =
            cloneOp(site.op, site.operands, site.resultTypes, changed);
        return SmallVector<Value>(made->getResults());
      };
  SmallVector<Placement> argumentPlacements, resultPlacements;
};

/// What only tells the partitioner where it would like values to be.
bool isHint(Operation *op) {
  if (isa<sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::PropagationBarrierOp>(
          op))
    return true;
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  return call && call.getCallTargetName() == "Sharding" &&
         op->getOperandTypes() == op->getResultTypes();
}

void dropHints(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  module.walk([&](Operation *op) {
    if (isHint(op))
      return rewriter.replaceOp(op, op->getOperands());
    if (isa<sdy::ShardingGroupOp>(op))
      return rewriter.eraseOp(op);
    SmallVector<StringAttr> names;
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (attribute.getName().strref() == gspmdName ||
          attribute.getName().strref() == "mhlo.frontend_attributes" ||
          attribute.getName().strref().starts_with("sdy.") ||
          attribute.getName().strref().starts_with("xla.sdy."))
        names.push_back(attribute.getName());
    for (StringAttr name : names)
      op->removeAttr(name);
  });
}

/// Shardings of the signature, which have been followed, and meshes.
void dropNames(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    for (StringRef name : {sdy::shardingAttrName, gspmdName}) {
      auto id = StringAttr::get(module.getContext(), name);
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.removeArgAttr(i, id);
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        function.removeResultAttr(i, id);
    }
  }
  for (auto mesh : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
    if (SymbolTable::symbolKnownUseEmpty(mesh, module))
      mesh.erase();
}

struct MakeLocal : alula::partition::impl::MakeLocalBase<MakeLocal> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    // The program of a device as this pass leaves it.
    if (module->hasAttr(argumentShardingsName) &&
        module.getOps<sdy::MeshOp>().empty())
      return;
    int64_t devices = stablehlo::getPartitionCount(module);
    bool isManual = false;
    module.walk([&](sdy::ManualComputationOp) { isManual = true; });
    if (devices == 1 && !isManual) {
      dropHints(module);
      return dropNames(module);
    }
    Localizer localizer(main, devices);
    if (failed(localizer.run(/*isEntry=*/true)))
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>())
      if (function != main && !function.isExternal() &&
          failed(Localizer(function, devices).run(/*isEntry=*/false)))
        return signalPassFailure();
    dropHints(module);
    dropNames(module);
    if (devices == 1)
      return;
    localizer.describe(module);
    // Cheap values that each use had a copy of, pieces' numbers.
    OpPassManager clean(ModuleOp::getOperationName());
    clean.addPass(createCSEPass());
    if (failed(runPipeline(clean, module)))
      signalPassFailure();
  }
};
} // namespace
