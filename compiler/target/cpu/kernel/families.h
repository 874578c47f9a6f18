#pragma once

#include "compiler/kernel/lowering.h"
#include "dialect/dispatch/attention.h"

// The emitters of the op families, for `op_table.cpp`.

namespace alula::cpu {
using kernel::Lowering;

#define ALULA_EMITTER(name) void name(mlir::Operation *op, Lowering &lowering);

// gather, scatter
ALULA_EMITTER(emitGather)
ALULA_EMITTER(emitScatter)

// reduce
ALULA_EMITTER(emitReduce)

// sort
ALULA_EMITTER(emitSort)

// windows
ALULA_EMITTER(emitReduceWindow)
ALULA_EMITTER(emitSelectAndScatter)

// dot
ALULA_EMITTER(emitDotGeneral)

// conv
ALULA_EMITTER(emitConvolution)

// linear algebra, fft, rng
ALULA_EMITTER(emitCholesky)
ALULA_EMITTER(emitCustomCall)
ALULA_EMITTER(emitDynamicRngBits)
ALULA_EMITTER(emitFft)
ALULA_EMITTER(emitRaggedProduct)
ALULA_EMITTER(emitRng)
ALULA_EMITTER(emitRngBitGenerator)
ALULA_EMITTER(emitSparseProduct)
ALULA_EMITTER(emitSparseSampled)
ALULA_EMITTER(emitTriangularSolve)

#undef ALULA_EMITTER

void emitAttention(const dispatch::Attention &attention, Lowering &lowering);

} // namespace alula::cpu
