#pragma once

#include "dialect/dispatch/machine.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

// Products whose elements are sums of a few terms: they are maps, whose
// elements are computed where they are read. No call and no tile is worth its
// price.

namespace alula::dispatch {

/// A product with few terms for each element and few rows or columns, or little
/// to compute in each matrix of a batch.
bool isShortSum(mlir::Operation *op);

/// While the elements of a tensor are computed in loops over its dimensions: by
/// which of these loops each dimension of another tensor is indexed.
using LoopsOfDims = llvm::SmallVector<int64_t>;
/// A dimension whose elements are all computed in one round.
inline constexpr int64_t unrolled = -1;

/// Of the tensor that is written. Its last dimensions are unrolled if they have
/// few elements.
LoopsOfDims getLoopsOfDims(mlir::Value written);
/// Of the operand, from those of the user's result; nothing where elements at
/// other indices are read.
std::optional<LoopsOfDims> getLoopsOfDims(mlir::OpOperand &use,
                                          const LoopsOfDims &ofResult);
/// Whether no two rounds of the loops over `written` read the same element.
bool isReadOnce(const LoopsOfDims &loops, llvm::ArrayRef<int64_t> written);

} // namespace alula::dispatch
