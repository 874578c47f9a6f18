#pragma once

#include "mlir/IR/Operation.h"

namespace alula::kernel {

/// The input room spells out functions that StableHLO lacks. Where it said of
/// which function a formula is, and the library has that, the function comes
/// back:
///   select (compare NE, %x, %x), %x, %formula {alula.function = "chlo.erfc"}
///   →  chlo.erfc %x
/// So does erfc of f32 where JAX has spelled it out.
void restoreFunctions(mlir::Operation *root);

} // namespace alula::kernel
