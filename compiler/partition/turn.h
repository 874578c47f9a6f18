// Arrays whose end comes before their beginning: a concatenation of two slices,
// of which neither divides, is one op for the partitioner.
#pragma once

#include "compiler/partition/rule.h"

namespace alula::partition {

/// Element k of the result is element k + first, and behind the last one comes
/// the first.
struct Turn {
  int64_t dim, first;
};

/// concatenate(slice(%x, first to the end), slice(%x, 0 to first)) becomes
/// `custom_call @alula.partition.turn`, which stands until the program is
/// local.
void joinTurns(mlir::Operation *root);
std::optional<Turn> getTurn(mlir::Operation *op);
Rule getTurnRule(mlir::Operation *op, const Turn &turn);
/// On an array that is there as a whole.
mlir::Value buildTurn(mlir::OpBuilder &builder, mlir::Value value,
                      const Turn &turn);

} // namespace alula::partition
