#pragma once

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace alula::kernel {

/// Of one element in memory; of an index as many as of a pointer.
int64_t getElementBytes(mlir::MemRefType type);

/// Builds the arithmetic that leads to `value` once more, from what `mapping`
/// has; false if it is more than arithmetic.
bool repeatArithmetic(mlir::Value value, mlir::OpBuilder &builder,
                      mlir::IRMapping &mapping);

/// The bytes of a temporary, rounded up, and its dynamic sizes; null if they
/// are more than arithmetic.
mlir::Value computeTemporaryBytes(mlir::memref::AllocOp alloc,
                                  mlir::OpBuilder &builder,
                                  mlir::IRMapping &mapping,
                                  llvm::SmallVectorImpl<mlir::Value> &sizes);

} // namespace alula::kernel
