#pragma once

#include "compiler/kernel/target_kernels.h"

namespace alula::cpu {

/// All null for an op that has none.
kernel::OpEmitters findEmitters(mlir::Operation *op);

} // namespace alula::cpu
