#pragma once

#include "compiler/kernel/lowering.h"
#include "dialect/dispatch/attention.h"

// Emitters of op families where they are not those of one thread.

namespace alula::cuda {

void emitDotGeneral(mlir::Operation *op, kernel::Lowering &lowering);
void emitReduce(mlir::Operation *op, kernel::Lowering &lowering);
void emitAttention(const dispatch::Attention &attention,
                   kernel::Lowering &lowering);

} // namespace alula::cuda
