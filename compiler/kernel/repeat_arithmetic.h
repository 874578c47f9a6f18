#pragma once

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace alula::kernel {

/// On the allocation of a temporary that is small and written before it is read
/// by whoever runs the kernel: where only the host knows its size, each has its
/// own.
constexpr llvm::StringLiteral privateName = "kernel.private";
/// Of a loop: it writes parts of results that no other loop writes or reads.
constexpr llvm::StringLiteral pieceName = "kernel.piece";

/// The bytes of one element in memory; an index is as wide as a pointer.
int64_t getElementBytes(mlir::Type element);

/// Rematerializes `value` from what `mapping` has; false if its backward slice
/// has ops other than arithmetic.
bool repeatArithmetic(mlir::Value value, mlir::OpBuilder &builder,
                      mlir::IRMapping &mapping);

/// The bytes of a temporary, aligned, and its dynamic sizes; null if these
/// can't be rematerialized.
mlir::Value computeTemporaryBytes(mlir::memref::AllocOp alloc,
                                  mlir::OpBuilder &builder,
                                  mlir::IRMapping &mapping,
                                  llvm::SmallVectorImpl<mlir::Value> &sizes);

} // namespace alula::kernel
