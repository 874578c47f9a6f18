// softmax: e / sum(e) with e = exp(x - max(x)), along the last dimension.
// dot: product_pattern.h. attention: attention_pattern.h.

#include "compiler/preprocess/patterns.h"

#include "compiler/preprocess/attention_pattern.h"
#include "compiler/preprocess/product_pattern.h"
#include "dialect/dispatch/attention.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace alula;

namespace {
using Members = llvm::SetVector<Operation *>;

/// Constants are copied to whoever uses them.
bool isSplat(Value value, llvm::function_ref<bool(const APFloat &)> test) {
  DenseFPElementsAttr dense;
  return matchPattern(value, m_Constant(&dense)) && dense.isSplat() &&
         test(dense.getSplatValue<APFloat>());
}

bool isLowest(const APFloat &value) {
  return value.isNegative() && (value.isInfinity() || value.isLargest());
}

template <typename Op> Op take(Value value, Members &members) {
  auto op = value.getDefiningOp<Op>();
  if (op)
    members.insert(op);
  return op;
}

/// A number for each row, of which `value` has a copy for each element.
Value takeRepeated(Value value, Members &members) {
  auto isPrefix = [](ArrayRef<int64_t> some, ArrayRef<int64_t> all) {
    return some.size() <= all.size() && all.take_front(some.size()) == some;
  };
  while (Operation *op = value.getDefiningOp()) {
    if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
      for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
        if (dim != static_cast<int64_t>(i))
          return value;
    } else if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op)) {
      auto from = cast<RankedTensorType>(reshape.getOperand().getType());
      auto to = cast<RankedTensorType>(reshape.getType());
      if (!isPrefix(from.getShape(), to.getShape()) ||
          !llvm::all_of(to.getShape().drop_front(from.getRank()),
                        [](int64_t size) { return size == 1; }))
        return value;
    } else {
      return value;
    }
    members.insert(op);
    value = op->getOperand(0);
  }
  return value;
}

/// A reduction of rows by `Inner` alone.
template <typename Inner>
stablehlo::ReduceOp takeReduction(Value value,
                                  bool (*isNeutral)(const APFloat &),
                                  Members &members) {
  auto reduce = take<stablehlo::ReduceOp>(value, members);
  if (!reduce || reduce.getInputs().size() != 1 ||
      !isSplat(reduce.getInitValues().front(), isNeutral))
    return nullptr;
  auto type = cast<RankedTensorType>(reduce.getInputs().front().getType());
  Block &block = reduce.getBody().front();
  auto inner = dyn_cast<Inner>(block.front());
  if (reduce.getDimensions() != ArrayRef<int64_t>{type.getRank() - 1} ||
      !llvm::hasNItems(block, 2) || !inner ||
      inner->getOperand(0) != block.getArgument(0) ||
      inner->getOperand(1) != block.getArgument(1) ||
      block.back().getOperand(0) != inner->getResult(0))
    return nullptr;
  return reduce;
}

/// The ops of the softmax that ends in `op`, in order; empty: there is none.
SmallVector<Operation *> matchSoftmax(Operation *op) {
  auto divide = dyn_cast<stablehlo::DivOp>(op);
  if (!divide)
    return {};
  auto type = cast<RankedTensorType>(divide.getType());
  if (!type.hasStaticShape() || type.getRank() < 1 ||
      !isa<FloatType>(type.getElementType()))
    return {};
  Members members;
  members.insert(op);
  auto sum = takeReduction<stablehlo::AddOp>(
      takeRepeated(divide.getRhs(), members),
      [](const APFloat &value) { return value.isZero(); }, members);
  if (!sum || sum.getInputs().front() != divide.getLhs())
    return {};
  auto exponential = take<stablehlo::ExpOp>(divide.getLhs(), members);
  if (!exponential)
    return {};
  auto subtract =
      take<stablehlo::SubtractOp>(exponential.getOperand(), members);
  if (!subtract)
    return {};
  Value largest = takeRepeated(subtract.getRhs(), members);
  // What JAX does about rows without elements.
  if (auto bound = largest.getDefiningOp<stablehlo::MaxOp>()) {
    bool isLeft = isSplat(bound.getLhs(), isLowest);
    if (!isLeft && !isSplat(bound.getRhs(), isLowest))
      return {};
    members.insert(bound);
    largest = isLeft ? bound.getRhs() : bound.getLhs();
  }
  auto maximum = takeReduction<stablehlo::MaxOp>(largest, isLowest, members);
  if (!maximum || maximum.getInputs().front() != subtract.getLhs())
    return {};
  for (Operation *member : members)
    for (Operation *user : member->getUsers())
      if (member != op && !members.contains(user))
        return {};
  SmallVector<Operation *> ordered(members.begin(), members.end());
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

SmallVector<Operation *> matchDot(Operation *op) {
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
  auto product = dot ? preprocess::matchProduct(dot) : std::nullopt;
  return product ? product->ops : SmallVector<Operation *>();
}

SmallVector<Operation *> matchAttention(Operation *op) {
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
  auto plain = dot ? preprocess::matchPlainAttention(dot) : std::nullopt;
  return plain ? llvm::to_vector(plain->attention.members)
               : SmallVector<Operation *>();
}

struct Known {
  StringLiteral name;
  SmallVector<Operation *> (*match)(Operation *op);
};
constexpr Known patterns[] = {{"attention", matchAttention},
                              {"dot", matchDot},
                              {"softmax", matchSoftmax}};
constexpr StringLiteral dotName = "dot";

/// Products that are one kernel with what is between them.
DenseSet<Operation *> findAttention(func::FuncOp function) {
  dispatch::MachineFacts machine = dispatch::getMachine(function);
  DenseSet<Operation *> members;
  for (auto dot : function.getOps<stablehlo::DotGeneralOp>())
    if (auto attention = dispatch::matchAttention(dot, machine))
      members.insert(attention->members.begin(), attention->members.end());
  return members;
}
} // namespace

bool alula::preprocess::isPattern(StringRef name) {
  return llvm::any_of(patterns,
                      [&](const Known &each) { return each.name == name; });
}

std::string alula::preprocess::listPatterns() {
  std::string text;
  for (const Known &each : patterns)
    (text += text.empty() ? "" : ", ") += each.name;
  return text;
}

void alula::preprocess::claimPattern(ModuleOp module, StringRef name) {
  const Known *pattern = llvm::find_if(
      patterns, [&](const Known &each) { return each.name == name; });
  Builder b(module.getContext());
  unsigned count = 0;
  // What stands in a loop may be in one kernel with the loop.
  for (auto function : module.getOps<func::FuncOp>()) {
    DenseSet<Operation *> kept;
    if (name == dotName)
      kept = findAttention(function);
    for (Operation &op : function.getOps()) {
      if (kept.contains(&op))
        continue;
      SmallVector<Operation *> ops = pattern->match(&op);
      // Others may have claimed some of them.
      if (ops.empty() || llvm::any_of(ops, [](Operation *each) {
            return each->hasAttr("dispatch.unit");
          }))
        continue;
      auto unit = b.getStringAttr(name + "_" + Twine(count++));
      for (Operation *each : ops) {
        each->setAttr("dispatch.unit", unit);
        each->setAttr(patternAttributeName, b.getStringAttr(name));
      }
    }
  }
}
