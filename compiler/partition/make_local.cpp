// One program over all devices → the program of each device.
//
//   %r = sdy.manual_computation(%x) in_shardings=[<@m, [{"a"}]>] … { body }
//   → body over the device's piece of %x; %r gathered from the pieces, if
//     anybody wants it as a whole
//
// What is outside of such bodies every device computes as a whole: right for
// every program, if not yet quick for those that leave the partitioning to us.
// Elementwise ops and transposes of arrays in pieces are computed on the
// pieces, and give pieces.

#include "compiler/partition/gspmd_text.h"
#include "compiler/partition/passes.h"
#include "compiler/partition/pieces.h"

#include "dialect/sdy/ops.h"
#include "dialect/stablehlo/element_rules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace alula::partition {
#define GEN_PASS_DEF_MAKELOCAL
#include "compiler/partition/passes.h.inc"
} // namespace alula::partition

using namespace mlir;
using namespace alula::partition;

namespace {
constexpr StringLiteral shardyName = "sdy.sharding",
                        gspmdName = "mhlo.sharding";

bool isAny(StringRef) { return true; }

class Localizer {
public:
  /// Of the results that are `hinted`, those that can't be divided stay whole.
  Localizer(func::FuncOp function, int64_t devices,
            llvm::SmallDenseSet<unsigned> hinted = {})
      : main(function), devices(devices), hinted(std::move(hinted)),
        rewriter(function.getContext()), pieces(rewriter, devices) {}

  /// What others call takes and gives whole arrays.
  LogicalResult run(bool isEntry) {
    if (isEntry && failed(placeArguments()))
      return failure();
    while (sdy::ManualComputationOp next = findManual()) {
      computeOnPieces(next);
      if (failed(unwrap(next)))
        return failure();
    }
    computeOnPieces(nullptr);
    if (isEntry && failed(placeResults()))
      return failure();
    pieces.eraseUnused();
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
  }

private:
  // ---- Reading shardings ----

  static bool hasSharding(DictionaryAttr attributes) {
    return attributes &&
           (attributes.contains(shardyName) || attributes.contains(gspmdName));
  }

  /// Of an argument or a result: as Shardy says it or as GSPMD does.
  LogicalResult readSignature(DictionaryAttr attributes, RankedTensorType type,
                              Placement &placement) {
    placement = Placement();
    if (!hasSharding(attributes))
      return success();
    if (auto sharding = attributes.getAs<sdy::TensorShardingAttr>(shardyName))
      return read(main, sharding, isAny, placement);
    auto text = attributes.getAs<StringAttr>(gspmdName);
    auto known = text ? readGspmdText(text.getValue(),
                                      static_cast<unsigned>(type.getRank()),
                                      main.getContext())
                      : std::nullopt;
    if (!known ||
        (!known->isWhole() && known->mesh.getDeviceCount() != devices))
      return main.emitOpError()
             << "arrays of type " << type << " on " << devices
             << " devices can't lie as " << attributes.get(gspmdName);
    placement = *known;
    return success();
  }

  LogicalResult read(Operation *op, sdy::TensorShardingAttr sharding,
                     function_ref<bool(StringRef)> isWanted,
                     Placement &placement) {
    placement = Placement();
    if (!sharding)
      return success();
    if (!sharding.getUnreducedAxes().empty() &&
        sharding.getReductionOp() != sdy::ReductionOp::SUM)
      return op->emitOpError()
             << "parts of arrays can only be added up yet: " << sharding;
    sdy::MeshAttr mesh = sharding.lookupMesh(op);
    if (!mesh)
      return op->emitOpError() << "there is no such mesh: " << sharding;
    // On one device, or nowhere in particular.
    if (mesh.isMaximal() || mesh.isEmpty())
      return success();
    if (mesh.getDeviceCount() != devices)
      return op->emitOpError() << "the mesh has " << mesh.getDeviceCount()
                               << " devices, the program runs on " << devices;
    placement = makePlacement(sharding, mesh, isWanted);
    return success();
  }

  // ---- The function ----

  LogicalResult placeArguments() {
    Block &entry = main.getBody().front();
    rewriter.setInsertionPointToStart(&entry);
    for (BlockArgument argument : entry.getArguments()) {
      Placement &placement = argumentPlacements.emplace_back();
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (!type)
        continue;
      if (failed(readSignature(main.getArgAttrDict(argument.getArgNumber()),
                               type, placement)))
        return failure();
      if (placement.isWhole())
        continue;
      RankedTensorType local = placement.getLocalType(type);
      if (!local)
        return main.emitOpError()
               << "argument " << argument.getArgNumber() << " of type " << type
               << " can't be divided as " << placement.printForXla();
      SmallVector<OpOperand *> uses;
      for (OpOperand &use : argument.getUses())
        uses.push_back(&use);
      argument.setType(local);
      Value whole = pieces.gather(argument, placement);
      for (OpOperand *use : uses)
        use->set(whole);
    }
    return success();
  }

  sdy::ManualComputationOp findManual() {
    sdy::ManualComputationOp found;
    main.walk<WalkOrder::PreOrder>([&](sdy::ManualComputationOp op) {
      found = op;
      return WalkResult::interrupt();
    });
    return found;
  }

  LogicalResult unwrap(sdy::ManualComputationOp op) {
    auto isManual = [&](StringRef axis) {
      return llvm::any_of(op.getManualAxes(), [&](StringAttr manual) {
        return manual.getValue() == axis;
      });
    };
    rewriter.setInsertionPoint(op);
    SmallVector<Value> locals;
    for (auto [operand, sharding] :
         llvm::zip_equal(op.getTensors(), op.getInShardings().getShardings())) {
      Placement placement;
      if (failed(read(op, sharding, isManual, placement)))
        return failure();
      auto local = pieces.localize(op, operand, placement);
      if (failed(local))
        return failure();
      locals.push_back(*local);
    }
    Block &body = op.getBody().front();
    Operation *end = body.getTerminator();
    SmallVector<Value> returned(end->getOperands());
    for (auto [argument, local] : llvm::zip_equal(body.getArguments(), locals))
      if (argument.getType() != local.getType())
        return op.emitOpError() << "the body takes " << argument.getType()
                                << ", a piece is " << local.getType();
    // Results may be arguments of the body.
    for (Value &value : returned)
      if (auto argument = dyn_cast<BlockArgument>(value);
          argument && argument.getOwner() == &body)
        value = locals[argument.getArgNumber()];
    rewriter.eraseOp(end);
    rewriter.inlineBlockBefore(&body, op, locals);
    SmallVector<Value> wholes;
    for (auto [value, sharding] :
         llvm::zip_equal(returned, op.getOutShardings().getShardings())) {
      Placement placement;
      if (failed(read(op, sharding, isManual, placement)))
        return failure();
      wholes.push_back(pieces.gather(value, placement));
    }
    for (auto [result, whole] : llvm::zip_equal(op.getResults(), wholes))
      if (result.getType() != whole.getType())
        return op.emitOpError() << "a result is " << result.getType()
                                << ", its pieces make " << whole.getType();
    rewriter.replaceOp(op, wholes);
    return success();
  }

  // ---- What is computed on pieces ----

  /// What of the function's ops before the one with `end` in it can be.
  void computeOnPieces(Operation *end) {
    Block &body = main.getBody().front();
    Operation *last = end ? body.findAncestorOpInBlock(*end) : nullptr;
    for (Operation &op : llvm::make_early_inc_range(body)) {
      if (&op == last)
        return;
      computeOnPieces(op);
    }
  }

  void computeOnPieces(Operation &op) {
    bool isTranspose = isa<stablehlo::TransposeOp>(op);
    if ((!isTranspose && !stablehlo::isElementwise(&op)) ||
        op.getNumResults() != 1)
      return;
    auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
    const Placement *known = findCommonPlacement(op);
    if (!type || !known)
      return;
    Placement from = *known, to = from;
    if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
      for (auto [dim, source] : llvm::enumerate(transpose.getPermutation()))
        to.dims[dim] = from.dims[source];
    RankedTensorType local = to.getLocalType(type);
    if (!local)
      return;
    rewriter.setInsertionPoint(&op);
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      auto piece = getPiece(op, operand, from);
      if (failed(piece))
        return;
      operands.push_back(*piece);
    }
    Operation *copy = rewriter.clone(op);
    copy->setOperands(operands);
    copy->getResult(0).setType(local);
    Value whole = pieces.gather(copy->getResult(0), to);
    rewriter.replaceOp(&op, whole);
  }

  /// How all operands lie that come in pieces; null if there are none, if they
  /// differ, or if an operand can't be divided in the same way.
  const Placement *findCommonPlacement(Operation &op) {
    const Placement *common = nullptr;
    for (Value operand : op.getOperands()) {
      const Placement *placement = pieces.findPlacement(operand);
      if (!placement)
        continue;
      if (!placement->unreduced.empty() || (common && !(*common == *placement)))
        return nullptr;
      common = placement;
    }
    if (!common || common->isWhole())
      return nullptr;
    for (Value operand : op.getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (!type || (type.getRank() != 0 && !common->getLocalType(type)))
        return nullptr;
    }
    return common;
  }

  /// The piece of an operand; one number for all elements is there as a whole.
  FailureOr<Value> getPiece(Operation &op, Value operand,
                            const Placement &placement) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getRank() == 0)
      return operand;
    RankedTensorType local = placement.getLocalType(type);
    if (auto constant = operand.getDefiningOp<stablehlo::ConstantOp>())
      if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
        return rewriter
            .create<stablehlo::ConstantOp>(constant.getLoc(),
                                           splat.resizeSplat(local))
            .getResult();
    if (auto spread = operand.getDefiningOp<stablehlo::BroadcastInDimOp>())
      if (cast<ShapedType>(spread.getOperand().getType()).getRank() == 0)
        return rewriter
            .create<stablehlo::BroadcastInDimOp>(
                spread.getLoc(), local, spread.getOperand(),
                spread.getBroadcastDimensionsAttr())
            .getResult();
    return pieces.localize(&op, operand, placement);
  }

  LogicalResult placeResults() {
    Operation *end = main.getBody().front().getTerminator();
    rewriter.setInsertionPoint(end);
    SmallVector<Type> types;
    for (OpOperand &operand : end->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      Placement placement;
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      // What nobody asks for stays as it comes.
      if (type && hasSharding(main.getResultAttrDict(number))) {
        if (failed(
                readSignature(main.getResultAttrDict(number), type, placement)))
          return failure();
        if (hinted.contains(number) && !placement.getLocalType(type))
          placement = Placement();
      } else if (const Placement *known = pieces.findPlacement(operand.get())) {
        placement = *known;
      }
      auto local = pieces.localize(main, operand.get(), placement);
      if (failed(local))
        return failure();
      operand.set(*local);
      types.push_back(local->getType());
      resultPlacements.push_back(std::move(placement));
    }
    main.setFunctionType(FunctionType::get(
        main.getContext(), main.getBody().front().getArgumentTypes(), types));
    dropAliases();
    return success();
  }

  /// An argument's memory can only become a result of its type.
  void dropAliases() {
    for (unsigned i = 0; i < main.getNumArguments(); ++i) {
      auto alias = main.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output");
      if (!alias)
        continue;
      auto result = static_cast<unsigned>(alias.getInt());
      if (result < main.getNumResults() &&
          main.getArgumentTypes()[i] == main.getResultTypes()[result])
        continue;
      main.removeArgAttr(i, "tf.aliasing_output");
      main.setArgAttr(i, "jax.buffer_donor",
                      BoolAttr::get(main.getContext(), true));
    }
  }

  func::FuncOp main;
  int64_t devices;
  llvm::SmallDenseSet<unsigned> hinted;
  IRRewriter rewriter;
  Pieces pieces;
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

/// What the program asks of a value that it returns, unless the signature says
/// where that lies: the numbers of such results.
llvm::SmallDenseSet<unsigned> keepHintsOfResults(func::FuncOp main) {
  llvm::SmallDenseSet<unsigned> hinted;
  for (OpOperand &operand :
       main.getBody().front().getTerminator()->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    Operation *hint = operand.get().getDefiningOp();
    if (!hint || main.getResultAttr(number, shardyName) ||
        main.getResultAttr(number, gspmdName))
      continue;
    if (auto constraint = dyn_cast<sdy::ShardingConstraintOp>(hint))
      main.setResultAttr(number, shardyName, constraint.getSharding());
    else if (isHint(hint) && hint->hasAttr(gspmdName))
      main.setResultAttr(number, gspmdName, hint->getAttr(gspmdName));
    else
      continue;
    hinted.insert(number);
  }
  return hinted;
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
    for (StringRef name : {shardyName, gspmdName}) {
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

int64_t getCount(ModuleOp module, StringRef name) {
  auto count = module->getAttrOfType<IntegerAttr>(name);
  return count ? count.getValue().getZExtValue() : 1;
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
    int64_t devices = getCount(module, "mhlo.num_partitions");
    llvm::SmallDenseSet<unsigned> hinted = keepHintsOfResults(main);
    dropHints(module);
    Localizer localizer(main, devices, hinted);
    if (failed(localizer.run(/*isEntry=*/true)))
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>())
      if (function != main && !function.isExternal() &&
          failed(Localizer(function, devices).run(/*isEntry=*/false)))
        return signalPassFailure();
    dropNames(module);
    if (devices > 1)
      localizer.describe(module);
  }
};
} // namespace
