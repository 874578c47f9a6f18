// Custom call targets that have files of their own.
#pragma once

#include "reference/evaluator.h"

namespace alula::reference {

/// Exact top k by a comparator: a result that approximation allows.
mlir::LogicalResult evalApproxTopK(OpCall &call);
/// The k largest of the last dimension and their indices.
mlir::LogicalResult evalTopK(OpCall &call);
/// Householder QR as LAPACK's geqrf packs it: R and reflectors, then taus.
mlir::LogicalResult evalQr(OpCall &call);
/// LAPACK's orgqr and ungqr: the product of packed reflectors.
mlir::LogicalResult evalHouseholderProduct(OpCall &call);
/// S b, or S' b, of a matrix S whose elements are listed as pairs of indices.
mlir::LogicalResult evalSparseProduct(OpCall &call);
/// S b of a matrix whose elements are listed row after row.
mlir::LogicalResult evalSparseRowsProduct(OpCall &call);
/// The elements of a b' at indices.
mlir::LogicalResult evalSparseSampled(OpCall &call);

} // namespace alula::reference
