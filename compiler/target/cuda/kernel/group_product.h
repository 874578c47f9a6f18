#pragma once

#include "compiler/kernel/lowering.h"

// Products by warpgroups, of devices that have an instruction for them.

namespace alula::cuda {

/// A part of a product that a workgroup computes, by functions of the library
/// that have these in their names.
struct ProductTile {
  int64_t rows, columns, threads;
  /// Rows of tiles that are computed column by column; elements that a thread
  /// finishes at once.
  int64_t together, neighbours;
  llvm::StringLiteral name, suffix;
};

struct GroupSizes {
  int64_t rows, columns, depth, batches;
  /// Whether all lines of the operands begin at multiples of 16 bytes.
  bool areLinesAligned;
};

/// Whether lines so many elements apart all begin so if the first one does.
inline bool isLineAligned(int64_t stride) { return stride % 8 == 0; }

/// The tile of `library/group_product.inc` for a product of these sizes, where
/// code is emitted now; nothing if it is computed by other means.
std::optional<ProductTile> findGroupTile(kernel::Lowering &lowering,
                                         mlir::Type element,
                                         const GroupSizes &sizes);

/// The place of a tile, row and column, in the order in which they are
/// computed, so that those that run at the same time are near each other in
/// both: what they load, they load from the cache. `place` numbers `rows` x
/// `columns` tiles row by row.
std::pair<mlir::Value, mlir::Value> orderTiles(kernel::Lowering &lowering,
                                               const ProductTile &tile,
                                               mlir::ValueRange place,
                                               int64_t rows, int64_t columns);

/// Of the loop over a tile's elements: a thread has several neighbours at once,
/// if nothing that it does with one has to be done before the next.
void joinNeighbours(const ProductTile &tile, mlir::Operation &loop);

} // namespace alula::cuda
