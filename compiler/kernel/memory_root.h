#pragma once

#include "mlir/IR/Value.h"

namespace alula::kernel {

/// The memory that a buffer, or a pointer to one, is a view of.
mlir::Value findRoot(mlir::Value buffer);

} // namespace alula::kernel
