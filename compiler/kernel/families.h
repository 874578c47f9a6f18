#pragma once

#include "compiler/kernel/lowering.h"

// The generators and emitters of the op families, for `op_table.cpp`.

namespace alula::kernel {

#define ALULA_GENERATOR(name)                                                  \
  mlir::Value name(mlir::OpResult result, mlir::ValueRange indices,            \
                   Lowering &lowering);
#define ALULA_EMITTER(name)                                                    \
  void name(mlir::Operation *op, Lowering &lowering);

// elementwise
ALULA_GENERATOR(generateElementwise)
ALULA_GENERATOR(generateMap)

// shape
bool aliasReshape(mlir::Operation *op, Lowering &lowering);
ALULA_EMITTER(emitConstant)
ALULA_EMITTER(emitReshape)
ALULA_EMITTER(emitIdentity)
ALULA_EMITTER(emitNothing)
ALULA_GENERATOR(generateConstant)
ALULA_GENERATOR(generateBitcast)
ALULA_GENERATOR(generateBroadcast)
ALULA_GENERATOR(generateDimensionSize)
ALULA_GENERATOR(generateFromPanels)
ALULA_GENERATOR(generateIota)
ALULA_GENERATOR(generatePack)
ALULA_GENERATOR(generateReshape)
ALULA_GENERATOR(generateReverse)
ALULA_GENERATOR(generateSetDimensionSize)
ALULA_GENERATOR(generateTranspose)

// slice
ALULA_GENERATOR(generateConcatenate)
ALULA_GENERATOR(generatePad)
ALULA_EMITTER(emitConcatenate)
ALULA_EMITTER(emitPad)
ALULA_GENERATOR(generateDynamicSlice)
ALULA_GENERATOR(generateRealDynamicSlice)
ALULA_GENERATOR(generateSlice)
ALULA_EMITTER(emitDynamicUpdateSlice)

// gather, scatter
ALULA_GENERATOR(generateGather)
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
ALULA_EMITTER(emitRng)
ALULA_EMITTER(emitRngBitGenerator)
ALULA_EMITTER(emitTriangularSolve)

// imports
bool isImportOp(mlir::Operation *op);
ALULA_EMITTER(emitImport)
ALULA_EMITTER(emitIndexConstant)

// control
ALULA_EMITTER(emitCase)
ALULA_EMITTER(emitIf)
ALULA_EMITTER(emitWhile)

#undef ALULA_GENERATOR
#undef ALULA_EMITTER

} // namespace alula::kernel
