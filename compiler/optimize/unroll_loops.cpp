// Loops of a few rounds, whose number is known, become these rounds, one after
// the other: what a loop carries would be written to memory after each.
//   while(%i = 0, %x = %a) cond { %i < 3 } do { %y = f(%x); return %i + 1, %y }
//   →  f(f(f(%a)))

#include "compiler/optimize/passes.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace alula::optimize {
#define GEN_PASS_DEF_UNROLLLOOPS
#include "compiler/optimize/passes.h.inc"
} // namespace alula::optimize

using namespace mlir;

namespace {
constexpr int64_t maxRounds = 8, maxOps = 256;

/// A number that fits, signed or not.
std::optional<int64_t> getNumber(Value value) {
  DenseIntElementsAttr attribute;
  if (!matchPattern(value, m_Constant(&attribute)) || !attribute.isSplat())
    return std::nullopt;
  auto element = cast<IntegerType>(attribute.getElementType());
  if (element.getWidth() == 1)
    return std::nullopt;
  APInt number = attribute.getSplatValue<APInt>();
  if (element.isUnsigned())
    return number.getActiveBits() < 63 ? std::optional<int64_t>(number.getZExtValue())
                                       : std::nullopt;
  return number.getSExtValue();
}

/// Of a loop that counts up to a limit.
std::optional<int64_t> countRounds(stablehlo::WhileOp loop) {
  Block &condition = loop.getCond().front(), &body = loop.getBody().front();
  auto comparison = condition.getTerminator()
                        ->getOperand(0)
                        .getDefiningOp<stablehlo::CompareOp>();
  if (!comparison || comparison.getComparisonDirection() !=
                         stablehlo::ComparisonDirection::LT)
    return std::nullopt;
  auto counter = dyn_cast<BlockArgument>(comparison.getLhs());
  if (!counter || counter.getOwner() != &condition)
    return std::nullopt;
  unsigned number = counter.getArgNumber();
  auto next = body.getTerminator()
                  ->getOperand(number)
                  .getDefiningOp<stablehlo::AddOp>();
  if (!next)
    return std::nullopt;
  Value inBody = body.getArgument(number);
  Value step = next.getLhs() == inBody   ? next.getRhs()
               : next.getRhs() == inBody ? next.getLhs()
                                         : Value();
  auto first = getNumber(loop->getOperand(number));
  auto limit = getNumber(comparison.getRhs());
  auto stride = step ? getNumber(step) : std::nullopt;
  int64_t distance;
  if (!first || !limit || !stride || *stride < 1 ||
      llvm::SubOverflow(*limit, *first, distance))
    return std::nullopt;
  if (distance <= 0)
    return 0;
  // The counter must not wrap around on its way.
  unsigned width = cast<IntegerType>(getElementTypeOrSelf(inBody)).getWidth();
  int64_t last;
  if (llvm::AddOverflow(*limit, *stride, last) ||
      (width < 64 && last >= int64_t(1) << (width - 1)))
    return std::nullopt;
  return (distance - 1) / *stride + 1;
}

/// Made where it is read, from few elements for each of its own.
bool isCheap(Operation &op) {
  using stablehlo::Access;
  return op.getNumRegions() == 0 &&
         stablehlo::readsOnly(
             &op, Access::Elementwise | Access::Reshaped | Access::Permuted |
                      Access::Moved | Access::Repeated | Access::Part |
                      Access::Fill | Access::Indices | Access::Sizes);
}

bool isWorthIt(stablehlo::WhileOp loop, int64_t rounds) {
  auto ops = loop.getBody().front().without_terminator();
  return rounds <= 1 ||
         (rounds <= maxRounds && llvm::all_of(ops, isCheap) &&
          rounds * static_cast<int64_t>(llvm::range_size(ops)) <= maxOps);
}

void unroll(stablehlo::WhileOp loop, int64_t rounds) {
  OpBuilder builder(loop);
  SmallVector<Value> carried(loop->getOperands());
  Block &body = loop.getBody().front();
  for (int64_t round = 0; round < rounds; ++round) {
    IRMapping mapping;
    mapping.map(body.getArguments(), carried);
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    for (auto [value, result] :
         llvm::zip_equal(carried, body.getTerminator()->getOperands()))
      value = mapping.lookupOrDefault(result);
  }
  loop->replaceAllUsesWith(carried);
  loop->erase();
}

struct UnrollLoops : public alula::optimize::impl::UnrollLoopsBase<UnrollLoops> {
  void runOnOperation() override {
    // Inner ones first.
    SmallVector<stablehlo::WhileOp> loops;
    getOperation().walk([&](stablehlo::WhileOp loop) { loops.push_back(loop); });
    for (stablehlo::WhileOp loop : loops) {
      // Sizes of what is carried may be less known outside than inside.
      if (loop->getOperandTypes() != loop->getResultTypes())
        continue;
      auto rounds = countRounds(loop);
      if (rounds && isWorthIt(loop, *rounds))
        unroll(loop, *rounds);
    }
  }
};
} // namespace
