#pragma once

#include "compiler/kernel/lowering.h"

#include "dialect/stablehlo/ops.h"

#include <optional>

namespace alula::cpu {

/// Rows to sort as the library's routines for numbers in memory take them
/// (library/sort.h): side by side, of 32 or 64 bits.
struct RowsInMemory {
  struct Operand {
    /// Null where the elements are their places.
    mlir::Value buffer;
    mlir::Value result;
    /// Of an element.
    int64_t bytes;
  };

  llvm::SmallVector<Operand> operands;
  /// The operand whose numbers are compared.
  size_t key;
  /// Zeros of both signs are equal, and so are NaNs, which count as `nan`.
  bool hasEquals;
  int64_t nan;
  llvm::SmallVector<mlir::Value> strides;

  /// Numbers of a row from place `begin` on.
  mlir::Value getKeys(kernel::Lowering &lowering, mlir::ValueRange row,
                      mlir::Value begin) const;
  /// A whole row of an operand; null pointer for places.
  mlir::Value getRow(kernel::Lowering &lowering, size_t operand,
                     mlir::ValueRange row) const;
  mlir::Value getResult(kernel::Lowering &lowering, size_t operand,
                        mlir::ValueRange row, mlir::Value begin) const;

private:
  mlir::Value getPlace(kernel::Lowering &lowering, mlir::ValueRange row,
                       mlir::Value begin) const;
};

/// Nothing where an operand is computed as it is read, or the comparator does
/// more than `number`: a number as it is, or as JAX compares floats.
std::optional<RowsInMemory>
findRowsInMemory(mlir::stablehlo::SortOp sort, mlir::Value number,
                 llvm::ArrayRef<mlir::Value> results,
                 kernel::Lowering &lowering);

} // namespace alula::cpu
