// Puts many small pieces together in steps.
//   concatenate %0, …, %999   →   concatenate of concatenate %0, …, %63; …
// Each piece is code of its own, and what puts 64 pieces of one size together
// is one kernel for all that do. The pieces are copied once more, which costs
// less than a launch for each of them would.

#include "compiler/dispatch/passes.h"
#include "dialect/stablehlo/ops.h"

namespace alula::dispatch {
#define GEN_PASS_DEF_SPLITCONCATENATIONS
#include "compiler/dispatch/passes.h.inc"
} // namespace alula::dispatch

using namespace mlir;

namespace {
constexpr size_t maxPieces = 64;
/// Of a piece, on average: copying more takes longer than compiling saves.
constexpr int64_t maxElements = 1024;

void split(stablehlo::ConcatenateOp concatenate) {
  OpBuilder builder(concatenate);
  SmallVector<Value> pieces(concatenate.getInputs());
  while (pieces.size() > maxPieces) {
    SmallVector<Value> larger;
    for (size_t i = 0; i < pieces.size(); i += maxPieces) {
      auto part =
          ArrayRef(pieces).slice(i, std::min(maxPieces, pieces.size() - i));
      larger.push_back(
          part.size() == 1
              ? part.front()
              : builder.create<stablehlo::ConcatenateOp>(
                    concatenate.getLoc(), part, concatenate.getDimension()));
    }
    pieces = std::move(larger);
  }
  concatenate.getInputsMutable().assign(pieces);
}

struct SplitConcatenations
    : public alula::dispatch::impl::SplitConcatenationsBase<
          SplitConcatenations> {
  void runOnOperation() override {
    SmallVector<stablehlo::ConcatenateOp> found;
    getOperation().walk([&](stablehlo::ConcatenateOp concatenate) {
      auto pieces = static_cast<int64_t>(concatenate.getInputs().size());
      auto type = dyn_cast<RankedTensorType>(concatenate.getType());
      if (pieces > int64_t(maxPieces) && type && type.hasStaticShape() &&
          type.getNumElements() <= maxElements * pieces)
        found.push_back(concatenate);
    });
    llvm::for_each(found, split);
  }
};
} // namespace
