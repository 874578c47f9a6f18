// Checks that plans are possible: each stage for its op, and the stages of a
// block together. What others have edited is an error that says why.

#include "compiler/kernel/plan/fill_order.h"
#include "compiler/kernel/plan/forms.h"
#include "compiler/kernel/plan/inline_plan.h"
#include "compiler/kernel/plan/passes.h"
#include "compiler/kernel/plan/plan.h"
#include "compiler/kernel/plan/tiles.h"
#include "compiler/kernel/plan/ways.h"

#include "compiler/kernel/element/generators.h"
#include "compiler/kernel/element/sum_types.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

namespace alula::kernel {
#define GEN_PASS_DEF_VERIFYPLANS
#include "compiler/kernel/plan/passes.h.inc"
} // namespace alula::kernel

using namespace mlir;
using namespace alula::kernel;
using alula::plan::Kind;
using alula::plan::Memory;
using alula::plan::StageAttr;

namespace {
/// Elements of a block that is kept in memory while it is computed.
constexpr int64_t mostElements = int64_t(1) << 28;
/// Rows that are written out one after the other.
constexpr int64_t mostRowsAtOnce = 64;

InFlightDiagnostic fail(Operation *op) {
  return op->emitError() << "'" << op->getName().getStringRef() << "': plan: ";
}

std::string printSizes(ArrayRef<int64_t> sizes) {
  std::string text = "[";
  for (int64_t size : sizes) {
    text += text.size() > 1 ? ", " : "";
    text += ShapedType::isDynamic(size) ? "?" : std::to_string(size);
  }
  return text + "]";
}

class BlockVerifier {
public:
  explicit BlockVerifier(Block &block) : block(block) {}

  LogicalResult verify() {
    attentions = planAttentions(block);
    for (Operation &op : block.without_terminator())
      if (failed(verifyOp(&op)))
        return failure();
    plan = readPlan(block);
    for (const RowNest &nest : plan.nests.all)
      if (failed(verifyNest(nest)))
        return failure();
    for (Operation &op : block.without_terminator()) {
      Operation *last = plan.epilogues.lastOf.lookup(&op);
      if (last && failed(verifyEpilogue(&op, last)))
        return failure();
      if (failed(verifyDepth(&op)) || failed(verifyPanels(&op)) ||
          failed(verifyFillOrder(&op)))
        return failure();
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          if (needsPlan(inner) && failed(BlockVerifier(inner).verify()))
            return failure();
    }
    return success();
  }

private:
  LogicalResult verifyOp(Operation *op) {
    StageAttr stage = getStage(op);
    if (!needsStage(op))
      return stage ? fail(op) << "has no stage: nothing is computed for it"
                   : success();
    if (!stage)
      return fail(op) << "has no stage, in a kernel that is planned";
    Kind kind = stage.getKind(), own = getOwnKind(op);
    if (kind == Kind::Inline) {
      if (!hasGenerator(op))
        return fail(op) << "'inline' is not possible: its elements can't be "
                           "computed one by one; it is '"
                        << stringifyKind(own) << "'";
      return success();
    }
    if (kind == Kind::Attention)
      return verifyAttention(op, stage.getNumber());
    if (kind == Kind::Epilogue)
      return verifyMember(op, stage);
    bool isInNest = kind == Kind::Rows && stage.getMemory() != Memory::Unsaid;
    if (kind != own && !isInNest)
      return fail(op) << "'" << stringifyKind(kind)
                      << "' is not possible: it is '" << stringifyKind(own)
                      << "'" << (hasGenerator(op) ? " or 'inline'" : "");
    if (!numbers.try_emplace(stage.getNumber(), op).second &&
        !(isInNest && nestNumbers.contains(stage.getNumber())))
      return fail(op) << "there is another stage " << stage.getNumber();
    if (isInNest)
      nestNumbers.insert(stage.getNumber());
    SmallVector<int64_t> space = getSpace(op);
    if (stage.getSpace() != ArrayRef(space))
      return fail(op) << "space must be " << printSizes(space) << ": is "
                      << printSizes(stage.getSpace());
    if (alula::plan::isOrderOfMap(stage.getWay()))
      return success();
    if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
        dot && kind == Kind::Product)
      return verifyDot(dot, stage.getTile());
    if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op))
      return verifyConvolution(convolution, stage.getTile());
    if (kind == Kind::Columns)
      return verifyColumns(cast<stablehlo::ReduceOp>(op), stage.getTile());
    if (kind == Kind::Rows && !isInNest)
      return verifyRows(cast<stablehlo::ReduceOp>(op), stage);
    if (!stage.getTile().empty())
      return fail(op) << "has no tile";
    if (StringRef why = findWayProblem(op, stage.getWay()); !why.empty())
      return fail(op) << "way '" << stringifyWay(stage.getWay())
                      << "' is not possible: " << why;
    return success();
  }

  // ---- Sizes ----

  static LogicalResult verifyTileSize(Operation *op, ArrayRef<int64_t> tile) {
    std::optional<int64_t> count = multiply(tile);
    if (!count || *count > mostElements)
      return fail(op) << "a tile of " << printSizes(tile)
                      << " takes more memory than a block may have";
    return success();
  }

  static LogicalResult verifyDot(stablehlo::DotGeneralOp dot,
                                 ArrayRef<int64_t> tile) {
    if (tile.empty())
      return success();
    if (!getProductTypes(dot))
      return fail(dot) << "has no tile: elements of its types are multiplied "
                          "one by one";
    if (tile.size() != 2)
      return fail(dot) << "a tile must have 2 sizes, rows and columns: is "
                       << printSizes(tile);
    return verifyTileSize(dot, tile);
  }

  static LogicalResult verifyConvolution(stablehlo::ConvolutionOp convolution,
                                         ArrayRef<int64_t> tile) {
    if (tile.empty())
      return success();
    auto kernel = cast<RankedTensorType>(convolution.getRhs().getType());
    size_t places =
        convolution.getDimensionNumbers().getOutputSpatialDimensions().size();
    if (!getProductTypes(convolution) || !kernel.hasStaticShape() ||
        !kernel.getNumElements() || places == 0 ||
        convolution.getBatchGroupCount() != 1)
      return fail(convolution) << "has no tile: it is loops of scalars";
    bool isOfWindow = isWindowProduct(convolution) && tile.size() == 2;
    if (tile.size() != places + 1 && !isOfWindow)
      return fail(convolution)
             << "a tile must have " << places + 1
             << " sizes, places and features: is " << printSizes(tile);
    SmallVector<int64_t> space = getSpace(convolution);
    for (size_t i = 0; i < places && !isOfWindow; ++i)
      if (!ShapedType::isDynamic(space[i + 1]) &&
          tile[i] > std::max<int64_t>(space[i + 1], 1))
        return fail(convolution)
               << "a tile must lie in its space: has " << tile[i] << " of "
               << space[i + 1] << " places";
    return verifyTileSize(convolution, tile);
  }

  static LogicalResult verifyColumns(stablehlo::ReduceOp reduce,
                                     ArrayRef<int64_t> tile) {
    SmallVector<int64_t> space = getSpace(reduce);
    size_t kept = space.size() - reduce.getDimensions().size();
    if (tile.size() < 2 || tile.size() > kept + 1)
      return fail(reduce) << "a tile must have from 2 to " << kept + 1
                          << " sizes, columns and rows at once: is "
                          << printSizes(tile);
    ArrayRef<int64_t> inner =
        ArrayRef(space).take_front(kept).take_back(tile.size() - 2);
    for (auto [size, whole] :
         llvm::zip_equal(tile.drop_front().drop_back(), inner))
      if (size != std::max<int64_t>(whole, 1))
        return fail(reduce)
               << "only the first dimension of a tile is cut: " << size
               << " must be "
               << (ShapedType::isDynamic(whole) ? std::string("known")
                                                : std::to_string(whole));
    if (tile.back() > mostRowsAtOnce)
      return fail(reduce) << "at most " << mostRowsAtOnce
                          << " rows can be taken at once: is " << tile.back();
    if (!ShapedType::isDynamic(space.back()) &&
        tile.back() > std::max<int64_t>(space.back(), 1))
      return fail(reduce) << "a tile must lie in its space: has " << tile.back()
                          << " of " << space.back() << " rows";
    return verifyTileSize(reduce, tile.drop_back());
  }

  static LogicalResult verifyRows(stablehlo::ReduceOp reduce, StageAttr stage) {
    bool isFloatSum = bool(getFloatSumType(reduce, reduce.getBody().front()));
    if (stage.getTerms() && !isFloatSum)
      return fail(reduce) << "has no terms: is no sum of floats";
    if (stage.getParts() && isFloatSum)
      return fail(reduce) << "has no parts: sums of floats are cut by terms";
    if (stage.getParts() && failed(verifyParts(reduce, stage.getParts())))
      return failure();
    if (stage.getFused())
      return fail(reduce) << "shares no loop that it could be fused with";
    ArrayRef<int64_t> tile = stage.getTile();
    if (!tile.empty() && (tile.size() != 1 || stage.getParts() ||
                          !mayReduceRowsTogether(reduce, tile.front())))
      return fail(reduce)
             << printSizes(tile)
             << " rows can't be reduced together: it is cut into parts, is a "
                "sum of floats, reduces more than the last dimension, or has "
                "fewer rows";
    return success();
  }

  static LogicalResult verifyParts(stablehlo::ReduceOp reduce, int64_t parts) {
    if (mayReduceInParts(reduce, parts))
      return success();
    return fail(reduce) << parts
                        << " parts are not possible: it reduces more than "
                           "one dimension, one that is too short, or in an "
                           "order that matters";
  }

  // ---- Rows ----

  LogicalResult verifyNest(const RowNest &nest) {
    Operation *first = nest.members.front(), *last = nest.members.back();
    auto number = getStage(first).getNumber();
    if (nest.rows.empty())
      return fail(first) << "rows " << number << " reduce nothing";
    for (Operation *op : nest.members) {
      if (!mayShareRows(op, nest.rows))
        return fail(op) << "can't share a loop over rows "
                        << printSizes(nest.rows);
      for (OpOperand &use : op->getOpOperands())
        if (nest.members.contains(use.get().getDefiningOp()) &&
            !stablehlo::keepsRows(use, nest.rows))
          return fail(op) << "needs other rows of '"
                          << use.get().getDefiningOp()->getName().getStringRef()
                          << "' than its own: they can't share a loop";
      if (failed(verifyMemory(op, nest)))
        return failure();
    }
    // The loop is where its last op is.
    for (Operation *op = first; op != last; op = op->getNextNode()) {
      if (nest.members.contains(op))
        continue;
      bool reads = op->walk([&](Operation *inner) {
                       for (Value operand : inner->getOperands())
                         if (nest.members.contains(operand.getDefiningOp()))
                           return WalkResult::interrupt();
                       return WalkResult::advance();
                     }).wasInterrupted();
      if (reads)
        return fail(op) << "reads rows " << number
                        << ", which are computed after it: must be one of "
                           "them or come after them";
    }
    return success();
  }

  static LogicalResult verifyMemory(Operation *op, const RowNest &nest) {
    StageAttr stage = getStage(op);
    Memory memory = stage.getMemory();
    auto mustBe = [&](StringRef which, StringRef why) {
      return fail(op) << "memory must be " << which << ": is '"
                      << stringifyMemory(memory) << "'; " << why;
    };
    if (stage.getTerms())
      return fail(op) << "has no terms in a loop that it shares";
    auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
    if (stage.getParts() && (!reduce || nest.fused.contains(op)))
      return fail(op) << "has no parts: "
                      << (reduce ? "its loop is its operand's"
                                 : "is no reduction");
    if (stage.getParts() && failed(verifyParts(reduce, stage.getParts())))
      return failure();
    if (hasOneColumn(op->getResult(0), nest)) {
      if (memory != Memory::Value)
        return mustBe("'value'", "there is one for each row");
    } else if (isReadOutside(op, nest)) {
      if (memory != Memory::Whole)
        return mustBe("'whole'", "it is read outside of the loop");
    } else if (memory == Memory::Value || memory == Memory::Whole) {
      return mustBe("'row', 'again' or 'inline'",
                    "it is a row that only the loop reads");
    }
    return stage.getFused() ? verifyFused(op, nest) : success();
  }

  static LogicalResult verifyFused(Operation *op, const RowNest &nest) {
    auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
    if (!reduce || reduce.getInputs().size() != 1)
      return fail(op) << "can't be fused: is no reduction of one operand";
    Operation *writer = reduce.getInputs()[0].getDefiningOp();
    Memory memory = nest.memory.lookup(writer);
    if (!writer || !nest.members.contains(writer) ||
        (memory != Memory::Row && memory != Memory::Whole))
      return fail(op) << "can't be fused: no loop writes its operand";
    if (nest.members.contains(reduce.getInitValues()[0].getDefiningOp()))
      return fail(op) << "can't be fused: what it begins with comes from the "
                         "same loop";
    for (Operation *user : writer->getUsers())
      if (user != op && nest.fused.contains(user))
        return fail(op) << "can't be fused: another one is, with the same loop";
    return success();
  }

  // ---- Attentions ----

  LogicalResult verifyAttention(Operation *op, int64_t number) {
    const alula::dispatch::Attention *attention = attentions.find(op);
    if (!attention)
      return fail(op) << "'attention' is not possible: it is no part of one "
                         "that workgroups compute";
    for (Operation *other : attention->members) {
      StageAttr stage = getStage(other);
      if (!stage || stage.getKind() != Kind::Attention ||
          stage.getNumber() != number)
        return fail(op) << "'attention' is not possible: '"
                        << other->getName().getStringRef()
                        << "' is a part of the same one and no part of stage "
                        << number;
    }
    Operation *&first = numbers[number];
    if (first && attentions.find(first) != attention)
      return fail(op) << "there is another stage " << number;
    first = op;
    return success();
  }

  // ---- Epilogues ----

  LogicalResult verifyMember(Operation *op, StageAttr stage) {
    Operation *product = numbers.lookup(stage.getNumber());
    StageAttr of = product ? getStage(product) : StageAttr();
    if (!of || (of.getKind() != Kind::Product && of.getKind() != Kind::Columns))
      return fail(op) << "there is no product and no columns "
                      << stage.getNumber()
                      << " before it to be the epilogue of";
    bool isPossible =
        isa<stablehlo::DotGeneralOp>(product) ||
        (product->getNumResults() == 1 &&
         (isa<stablehlo::ReduceOp>(product) || worksInBlocks(product)) &&
         !of.getTile().empty());
    if (!isPossible)
      return fail(op) << "'" << product->getName().getStringRef()
                      << "' has no tiles that an epilogue could follow";
    if (!mayFollow(op, product))
      return fail(op) << "can't be an epilogue: its elements are not made of "
                         "those at the same places of '"
                      << product->getName().getStringRef() << "'";
    members[product].insert(op);
    auto isInGroup = [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      return producer == product || members[product].contains(producer);
    };
    if (llvm::none_of(op->getOperands(), isInGroup))
      return fail(op) << "can't be an epilogue: it reads nothing of stage "
                      << stage.getNumber();
    return success();
  }

  LogicalResult verifyEpilogue(Operation *product, Operation *last) {
    auto isInside = [&](Operation *user) {
      return members[product].contains(user);
    };
    SmallVector<Operation *> group(members[product].begin(),
                                   members[product].end());
    group.push_back(product);
    for (Operation *op : group)
      if (op != last && !llvm::all_of(op->getUsers(), isInside))
        return fail(op) << "is read outside of its epilogue, which has no "
                           "memory for it: only the last op may be";
    return success();
  }

  // ---- What needs to be known of others ----

  LogicalResult verifyDepth(Operation *op) {
    if (!plan.inlined.contains(op))
      return success();
    unsigned depth = 0;
    for (Value operand : op->getOperands())
      depth = std::max(depth, depths.lookup(operand.getDefiningOp()) + 1);
    depths[op] = depth;
    if (depth > maxInlineDepth)
      return fail(op) << "'inline' is not possible: an element would be "
                         "computed from more than "
                      << maxInlineDepth << " ops in a row";
    return success();
  }

  LogicalResult verifyFillOrder(Operation *op) {
    StageAttr stage = getStage(op);
    if (!stage || !alula::plan::isOrderOfMap(stage.getWay()))
      return success();
    std::string why = findFillProblem(op, plan.inlined);
    if (!why.empty())
      return fail(op) << "way '" << stringifyWay(stage.getWay())
                      << "' is not possible: " << why;
    return verifyTileSize(op, stage.getTile());
  }

  LogicalResult verifyPanels(Operation *op) {
    if (!isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op))
      return success();
    ArrayRef<int64_t> tile = getStage(op).getTile();
    int64_t width = 0, count = 0;
    if (tile.empty())
      return success();
    if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
        dot && getStage(op).getKind() == Kind::Product) {
      width = getPanelWidth(dot, plan.inlined);
      SmallVector<int64_t> space = getSpace(op);
      // A matrix times a vector has the matrix's rows as columns.
      count = space[2] == 1 ? space[1] : space[2];
    } else if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op)) {
      width = getPanelWidth(convolution, plan.inlined);
      auto numbers = convolution.getDimensionNumbers();
      count = cast<RankedTensorType>(convolution.getType())
                  .getDimSize(static_cast<unsigned>(
                      numbers.getOutputFeatureDimension()));
    }
    int64_t columns = tile.back();
    bool isWhole = !ShapedType::isDynamic(count) && columns >= count;
    if (width && columns % width && !isWhole)
      return fail(op) << "a tile must begin where a panel does: " << columns
                      << " columns are no multiple of " << width;
    return success();
  }

  Block &block;
  BlockPlan plan;
  Attentions attentions;
  DenseMap<int64_t, Operation *> numbers;
  DenseSet<int64_t> nestNumbers;
  DenseMap<Operation *, DenseSet<Operation *>> members;
  DenseMap<Operation *, unsigned> depths;
};

struct VerifyPlans : public alula::kernel::impl::VerifyPlansBase<VerifyPlans> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    ModuleOp module = getOperation().getInnerModule();
    for (auto entry :
         getOperation().getBody().getOps<alula::dispatch::EntryOp>()) {
      auto kernel = module.lookupSymbol<func::FuncOp>(entry.getSymName());
      if (!kernel || kernel.isExternal() || !isPlanned(kernel))
        continue;
      auto grid =
          kernel->getAttrOfType<alula::plan::GridAttr>(alula::plan::gridName);
      if (!grid) {
        fail(kernel) << "plan.grid must be a #plan.grid";
        return signalPassFailure();
      }
      if (entry.getPinned() &&
          grid.getWorkgroups() != entry.getWorkgroups().front()) {
        fail(kernel) << "the grid of @" << entry.getSymName()
                     << " was chosen by somebody else: must be "
                     << entry.getWorkgroups().front() << " workgroups";
        return signalPassFailure();
      }
      if (failed(verifyPlan(kernel)))
        return signalPassFailure();
    }
  }
};
} // namespace

LogicalResult alula::kernel::verifyPlan(func::FuncOp kernel) {
  return needsPlan(kernel.front()) ? BlockVerifier(kernel.front()).verify()
                                   : success();
}
