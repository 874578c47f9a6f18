#pragma once

#include "compiler/kernel/element/sum_types.h"
#include "compiler/kernel/lowering.h"

// The arithmetic of one element. Values are as element_form.h says.

namespace alula::kernel {

/// One element of an elementwise op.
mlir::Value lowerScalar(Lowering &lowering, mlir::Operation *op,
                        mlir::ValueRange arguments);

// The kinds; each declines what it does not know.
mlir::Value lowerIntegerScalar(Lowering &lowering, mlir::Operation *op,
                               mlir::ValueRange arguments);
mlir::Value lowerFloatScalar(Lowering &lowering, mlir::Operation *op,
                             mlir::ValueRange arguments);
mlir::Value lowerComplexScalar(Lowering &lowering, mlir::Operation *op,
                               mlir::ValueRange arguments);
/// convert between any two types.
mlir::Value convertScalar(Lowering &lowering, mlir::Operation *op,
                          mlir::Value value, mlir::Type from, mlir::Type to);

/// The value of a float type as what it is computed in, f32 or f64, and back:
/// rounded to the type.
mlir::Value widenFloat(Lowering &lowering, mlir::Value value);
mlir::Value roundFloat(Lowering &lowering, mlir::Value value, mlir::Type element);

mlir::Value widenForSum(Lowering &lowering, mlir::Operation *op,
                        mlir::Value value, mlir::Type element,
                        mlir::Type sumType);
/// a * b + sum. `count`, how many terms the sum gets in all, may be unknown: the
/// order of many is free, which pays; a few are added as they come.
mlir::Value multiplyAdd(Lowering &lowering, mlir::Value a, mlir::Value b,
                        mlir::Value sum, std::optional<int64_t> count);
/// A sum as an element of a type.
mlir::Value roundSum(Lowering &lowering, mlir::Value sum, mlir::Type element);

/// A number of an arithmetic type, which is not complex.
mlir::Value makeNumber(Lowering &lowering, mlir::Type type, double value);
mlir::Value makeInteger(Lowering &lowering, mlir::Type type, int64_t value);

} // namespace alula::kernel
