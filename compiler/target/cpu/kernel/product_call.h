#pragma once

#include "compiler/kernel/element/sum_types.h"
#include "compiler/target/cpu/kernel/matrix_operand.h"

namespace alula::cpu {

/// Multiply-adds of a product while a scalar loop takes one step.
inline int64_t getProductsPerStep(const dispatch::MachineFacts &machine) {
  return machine.lanes;
}

/// Rows of the result of a block, `groups` times; see library/product.h.
struct ProductCall {
  mlir::Value output, outputRow;
  /// Of the left side; its pointer is that of the first row.
  MatrixBlock left, right;
  mlir::Value depth, rows, columns;
  /// No call has more columns.
  int64_t columnLimit = 0;
  /// How many pieces a row has; a pointer to where they begin, if there are
  /// several.
  mlir::Value pieces, offsets;
  /// And to where their rows of the right side begin, if they don't follow each
  /// other.
  mlir::Value rightOffsets;
  /// Distances of the groups, if there are several.
  mlir::Value groups, outputGroup, leftGroup;
  /// An i32 that is not zero to add to what is there; null to write.
  mlir::Value adds;
};

void callProduct(kernel::Lowering &lowering, const kernel::ProductTypes &types,
                 const ProductCall &call);

} // namespace alula::cpu
