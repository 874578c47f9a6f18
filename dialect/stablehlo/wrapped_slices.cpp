#include "dialect/stablehlo/wrapped_slices.h"

using namespace mlir;
using namespace mlir::stablehlo;

std::optional<WrappedSlices>
mlir::stablehlo::findWrappedSlices(ConcatenateOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  auto dim = static_cast<size_t>(op.getDimension());
  WrappedSlices wrapped;
  int64_t begin = 0;
  for (Value piece : op.getInputs()) {
    auto pieceType = dyn_cast<RankedTensorType>(piece.getType());
    if (!pieceType || !pieceType.hasStaticShape())
      return std::nullopt;
    Value source = piece;
    SmallVector<int64_t> starts(static_cast<size_t>(type.getRank()), 0);
    if (auto slice = piece.getDefiningOp<SliceOp>()) {
      if (llvm::any_of(slice.getStrides(), [](int64_t s) { return s != 1; }))
        return std::nullopt;
      source = slice.getOperand();
      starts.assign(slice.getStartIndices().begin(),
                    slice.getStartIndices().end());
    }
    wrapped.begins.push_back(begin);
    wrapped.distances.push_back(starts[dim] - begin);
    starts[dim] = 0;
    if (wrapped.source &&
        (source != wrapped.source || starts != wrapped.starts))
      return std::nullopt;
    wrapped.source = source;
    wrapped.starts = std::move(starts);
    begin += pieceType.getDimSize(static_cast<unsigned>(dim));
  }
  if (wrapped.begins.size() < 2)
    return std::nullopt;
  return wrapped;
}
