// Pieces that are longer than what a device has: which elements its results
// read, from whom they come, and how. Halos of convolutions, slices that begin
// elsewhere, arrays that are turned round.
#pragma once

#include "compiler/partition/reshard.h"
#include "compiler/partition/rule.h"

namespace alula::partition {

/// Along one dimension: device j of `shards` reads the elements [step · j +
/// begin,
/// + count), of which it has a piece.
struct WindowReads {
  int64_t shards, step, begin, count;
  /// Of the operand, and what j's results are: so many, and so many in all.
  int64_t size, pieceResults, results;
  /// Padding that is left to the op, in positions.
  int64_t low, high;
};

/// Nothing where devices' windows don't begin at elements.
std::optional<WindowReads> getReads(const Window &window, int64_t size,
                                    int64_t shards);

/// How devices get what they read. The pieces that device j reads of are
/// numbers first[j], first[j] + 1, …: the parts.
struct WindowPlan {
  struct Part {
    /// The rows of a piece that anybody reads.
    int64_t low, high;
    /// Who has that part in its own piece.
    llvm::SmallVector<bool> isOwn;
    /// From whom to whom, each device once in each round.
    llvm::SmallVector<llvm::SmallVector<std::pair<int64_t, int64_t>>> rounds;
  };
  llvm::SmallVector<Part> parts;
  /// Where in all parts together what j reads begins, and how long they have to
  /// be.
  llvm::SmallVector<int64_t> offsets;
  int64_t length = 0;
  /// Exchanged rows and messages.
  int64_t rows = 0, messages = 0;
  /// What is read beyond the ends of the array is zero.
  bool hasZeros = true;
};

/// Nothing where too many messages would be needed.
std::optional<WindowPlan> planWindow(const Window &window,
                                     const WindowReads &reads);

/// What it costs to read a window, in the measure of reshard.h; nothing if it
/// can't be.
std::optional<double> getWindowCost(const Window &window,
                                    mlir::RankedTensorType type,
                                    const Sharding &sharding);

/// `piece` of an array of the size that `reads` says, along `window.dim`.
mlir::Value buildWindow(mlir::OpBuilder &builder, ReshardBuilder &reshards,
                        mlir::Value piece, const Window &window,
                        const WindowReads &reads, llvm::ArrayRef<Span> spans,
                        mlir::Value fill);

/// The same where each device has the whole array.
mlir::Value buildWindowOfWhole(mlir::OpBuilder &builder,
                               ReshardBuilder &reshards, mlir::Value whole,
                               size_t dim, const WindowReads &reads,
                               llvm::ArrayRef<Span> spans, mlir::Value fill);

/// `value` where the place along `dim`, counted from `first`, is in [0, size),
/// else `fill`.
mlir::Value buildMask(mlir::OpBuilder &builder, mlir::Value value, size_t dim,
                      mlir::Value first, int64_t size, mlir::Value fill);

} // namespace alula::partition
