#pragma once

#include "mlir/IR/Operation.h"

// Which ops' elements can be computed one by one, and how.

namespace alula::kernel {
class Reader;

/// The element of `result` at `indices`, from elements of its operands.
using Generator = mlir::Value (*)(mlir::OpResult result,
                                  mlir::ValueRange indices, Reader &reader);

/// Null for an op whose elements need more than elements of its operands.
Generator findGenerator(mlir::Operation *op);
bool hasGenerator(mlir::Operation *op);

#define ALULA_GENERATOR(name)                                                  \
  mlir::Value name(mlir::OpResult result, mlir::ValueRange indices,            \
                   Reader &reader);

// elementwise
ALULA_GENERATOR(generateElementwise)
ALULA_GENERATOR(generateMap)

// dot
ALULA_GENERATOR(generateShortSum)

// shape
ALULA_GENERATOR(generateBitcast)
ALULA_GENERATOR(generateBroadcast)
ALULA_GENERATOR(generateConstant)
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
ALULA_GENERATOR(generateDynamicSlice)
ALULA_GENERATOR(generatePad)
ALULA_GENERATOR(generateRealDynamicSlice)
ALULA_GENERATOR(generateSlice)

// gather
ALULA_GENERATOR(generateGather)

#undef ALULA_GENERATOR

} // namespace alula::kernel
