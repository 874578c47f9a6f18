#pragma once

#include "compiler/kernel/lowering.h"

namespace alula::cpu {

/// Fills memory with a tensor that is another one's memory with the last
/// dimension elsewhere, by blocks that the kernel library transposes. False, and
/// nothing done, for any other tensor.
bool fillTransposed(mlir::Value buffer, mlir::Value tensor,
                    kernel::Lowering &lowering);

} // namespace alula::cpu
