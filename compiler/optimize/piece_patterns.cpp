// What padding by reflection and rolls over several dimensions are made of:
//   slice(concatenate(x, y))         → slice(x), or a concatenation of slices
//   slice(reverse x)                 → reverse(slice x)
//   reverse(concatenate(x, y))       → concatenate(reverse y, reverse x)
//   concatenate(concatenate(x, y), z) → concatenate(x, y, z)
//   transpose(concatenate(x, y))     → concatenate(reshape x, reshape y)
//                                      where pieces are rows of one dimension
// Pieces are then read where they lie, and nothing is copied twice.

#include "compiler/optimize/piece_patterns.h"

#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/wrapped_slices.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// Each piece has code of its own.
constexpr size_t maxPieces = 64, maxSliced = 4;

bool isStatic(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

int64_t getSize(Value value, int64_t dim) {
  return cast<RankedTensorType>(value.getType())
      .getDimSize(static_cast<unsigned>(dim));
}

/// Where a slice begins and ends, and its steps.
struct Range {
  SmallVector<int64_t> starts, limits, strides;

  explicit Range(SliceOp slice)
      : starts(slice.getStartIndices()), limits(slice.getLimitIndices()),
        strides(slice.getStrides()) {}

  Value take(Value from, PatternRewriter &rewriter, Location location) const {
    return rewriter.create<SliceOp>(location, from, starts, limits, strides);
  }
};

/// Whether it is in memory whoever reads it, but for its place.
bool isInMemory(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<SliceOp, ReverseOp, ReshapeOp, BroadcastInDimOp>(op))
      return !value.hasOneUse() || op->hasTrait<mlir::OpTrait::ConstantLike>();
    value = op->getOperand(0);
  }
  return true;
}

struct SliceReverse : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op,
                                PatternRewriter &rewriter) const override {
    auto reverse = op.getOperand().getDefiningOp<ReverseOp>();
    if (!reverse || !isStatic(reverse) ||
        cast<RankedTensorType>(op.getType()).getNumElements() == 0)
      return failure();
    Range range(op);
    for (int64_t dim : reverse.getDimensions()) {
      auto at = static_cast<size_t>(dim);
      int64_t last = getSize(reverse, dim) - 1, first = range.starts[at];
      range.starts[at] =
          last - (first + (getSize(op, dim) - 1) * range.strides[at]);
      range.limits[at] = last - first + 1;
    }
    Value part = range.take(reverse.getOperand(), rewriter, op.getLoc());
    rewriter.replaceOpWithNewOp<ReverseOp>(op, part, reverse.getDimensions());
    return success();
  }
};

struct SliceConcatenate : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op,
                                PatternRewriter &rewriter) const override {
    auto concatenate = op.getOperand().getDefiningOp<ConcatenateOp>();
    if (!concatenate || !llvm::all_of(concatenate.getInputs(), isStatic) ||
        cast<RankedTensorType>(op.getType()).getNumElements() == 0)
      return failure();
    SmallVector<Part> parts = findParts(concatenate, op);
    // What is computed where it is put together stays there.
    if (!llvm::all_of(parts,
                      [](Part &part) { return isInMemory(part.from); }) &&
        !isTakenApart(concatenate))
      return failure();
    auto dim = static_cast<int64_t>(concatenate.getDimension());
    int64_t stride = op.getStrides()[static_cast<size_t>(dim)];
    if (parts.size() > 1 && (stride != 1 || parts.size() > maxSliced ||
                             isRolledFurther(concatenate, op)))
      return failure();
    SmallVector<Value> slices;
    for (const Part &part : parts)
      slices.push_back(part.range.take(part.from, rewriter, op.getLoc()));
    if (slices.size() == 1)
      rewriter.replaceOp(op, slices[0]);
    else
      rewriter.replaceOpWithNewOp<ConcatenateOp>(op, op.getType(), slices, dim);
    return success();
  }

private:
  struct Part {
    Value from;
    Range range;
  };

  /// The pieces that a slice may have elements of.
  static SmallVector<Part> findParts(ConcatenateOp concatenate, SliceOp slice) {
    auto dim = static_cast<int64_t>(concatenate.getDimension());
    auto at = static_cast<size_t>(dim);
    int64_t first = slice.getStartIndices()[at], begin = 0;
    int64_t last = first + (getSize(slice, dim) - 1) * slice.getStrides()[at];
    SmallVector<Part> parts;
    for (Value input : concatenate.getInputs()) {
      int64_t end = begin + getSize(input, dim);
      if (first < end && begin <= last) {
        Range range(slice);
        range.starts[at] = std::max(first, begin) - begin;
        range.limits[at] = std::min(last + 1, end) - begin;
        parts.push_back({input, range});
      }
      begin = end;
    }
    return parts;
  }

  /// Whether nobody needs pieces side by side.
  static bool isTakenApart(ConcatenateOp concatenate) {
    return llvm::all_of(concatenate->getUsers(), [&](Operation *user) {
      auto slice = dyn_cast<SliceOp>(user);
      return slice && findParts(concatenate, slice).size() <= 1;
    });
  }

  /// Elementwise ops read rolls where they lie, those of one dimension.
  static bool isRolledFurther(ConcatenateOp concatenate, SliceOp slice) {
    return findWrappedSlices(concatenate) &&
           llvm::any_of(slice->getUsers(), [](Operation *user) {
             auto outer = dyn_cast<ConcatenateOp>(user);
             return outer && findWrappedSlices(outer) &&
                    llvm::any_of(outer->getUsers(), isElementwise);
           });
  }
};

struct ReverseConcatenate : OpRewritePattern<ReverseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReverseOp op,
                                PatternRewriter &rewriter) const override {
    auto concatenate = op.getOperand().getDefiningOp<ConcatenateOp>();
    if (!concatenate || !concatenate->hasOneUse() ||
        !llvm::all_of(concatenate.getInputs(), isStatic))
      return failure();
    SmallVector<Value> parts;
    for (Value input : concatenate.getInputs())
      parts.push_back(
          rewriter.create<ReverseOp>(op.getLoc(), input, op.getDimensions()));
    auto dim = static_cast<int64_t>(concatenate.getDimension());
    if (llvm::is_contained(op.getDimensions(), dim))
      std::reverse(parts.begin(), parts.end());
    rewriter.replaceOpWithNewOp<ConcatenateOp>(op, op.getType(), parts, dim);
    return success();
  }
};

/// Columns that are put together as rows: vectors by their coordinates.
struct TransposeConcatenate : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto concatenate = op.getOperand().getDefiningOp<ConcatenateOp>();
    ArrayRef<int64_t> permutation = op.getPermutation();
    if (!concatenate || !concatenate->hasOneUse() ||
        concatenate->getNumOperands() > maxSliced ||
        !llvm::all_of(concatenate->getOperands(), [&](Value piece) {
          SmallVector<int64_t> large;
          for (int64_t dim : permutation)
            if (isStatic(piece) && getSize(piece, dim) != 1)
              large.push_back(dim);
          return isStatic(piece) && llvm::is_sorted(large);
        }))
      return failure();
    SmallVector<Value> pieces;
    for (Value piece : concatenate->getOperands()) {
      SmallVector<int64_t> shape;
      for (int64_t dim : permutation)
        shape.push_back(getSize(piece, dim));
      pieces.push_back(rewriter.create<ReshapeOp>(
          op.getLoc(), cast<RankedTensorType>(piece.getType()).clone(shape),
          piece));
    }
    auto dim = static_cast<int64_t>(concatenate.getDimension());
    rewriter.replaceOpWithNewOp<ConcatenateOp>(
        op, op.getType(), pieces,
        static_cast<uint64_t>(llvm::find(permutation, dim) -
                              permutation.begin()));
    return success();
  }
};

struct FlattenConcatenate : OpRewritePattern<ConcatenateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatenateOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> pieces;
    for (Value input : op.getInputs()) {
      auto inner = input.getDefiningOp<ConcatenateOp>();
      if (inner && inner->hasOneUse() &&
          inner.getDimension() == op.getDimension() &&
          llvm::all_of(inner.getInputs(), isStatic))
        llvm::append_range(pieces, inner.getInputs());
      else
        pieces.push_back(input);
    }
    if (pieces.size() == op.getInputs().size() || pieces.size() > maxPieces)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op->setOperands(pieces); });
    return success();
  }
};
} // namespace

void alula::optimize::addPiecePatterns(RewritePatternSet &patterns) {
  patterns.add<SliceReverse, SliceConcatenate, ReverseConcatenate,
               TransposeConcatenate, FlattenConcatenate>(patterns.getContext());
}
