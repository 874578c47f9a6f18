#pragma once

#include "mlir/IR/Operation.h"

// Emitters that are independent of the target's loops and memory.

namespace alula::kernel {
class Lowering;

#define ALULA_EMITTER(name) void name(mlir::Operation *op, Lowering &lowering);

// movement
bool aliasReshape(mlir::Operation *op, Lowering &lowering);
ALULA_EMITTER(emitConcatenate)
ALULA_EMITTER(emitConstant)
ALULA_EMITTER(emitDynamicUpdateSlice)
ALULA_EMITTER(emitIdentity)
ALULA_EMITTER(emitNothing)
ALULA_EMITTER(emitPad)
ALULA_EMITTER(emitReshape)

// control
ALULA_EMITTER(emitCase)
ALULA_EMITTER(emitIf)
ALULA_EMITTER(emitWhile)

// imports
bool isImportOp(mlir::Operation *op);
ALULA_EMITTER(emitImport)
ALULA_EMITTER(emitIndexConstant)

#undef ALULA_EMITTER

} // namespace alula::kernel
