#pragma once

#include "compiler/kernel/element/code_builder.h"
#include "compiler/kernel/element/sum_types.h"

// The arithmetic of one element. Values are as element_form.h says.

namespace alula::kernel {

/// One element of an elementwise op.
mlir::Value lowerScalar(CodeBuilder &builder, mlir::Operation *op,
                        mlir::ValueRange arguments);

// The kinds; each declines what it does not know.
mlir::Value lowerIntegerScalar(CodeBuilder &builder, mlir::Operation *op,
                               mlir::ValueRange arguments);
mlir::Value lowerFloatScalar(CodeBuilder &builder, mlir::Operation *op,
                             mlir::ValueRange arguments);
mlir::Value lowerComplexScalar(CodeBuilder &builder, mlir::Operation *op,
                               mlir::ValueRange arguments);
/// convert between any two types.
mlir::Value convertScalar(CodeBuilder &builder, mlir::Operation *op,
                          mlir::Value value, mlir::Type from, mlir::Type to);

/// The value of a float type as what it is computed in, f32 or f64, and back:
/// rounded to the type.
mlir::Value widenFloat(CodeBuilder &builder, mlir::Value value);
mlir::Value roundFloat(CodeBuilder &builder, mlir::Value value,
                       mlir::Type element);

mlir::Value widenForSum(CodeBuilder &builder, mlir::Operation *op,
                        mlir::Value value, mlir::Type element,
                        mlir::Type sumType);
/// a * b + sum. `count`, how many terms the sum gets in all, may be unknown: the
/// order of many is free, which pays; a few are added as they come.
mlir::Value multiplyAdd(CodeBuilder &builder, mlir::Value a, mlir::Value b,
                        mlir::Value sum, std::optional<int64_t> count);
/// A sum as an element of a type.
mlir::Value roundSum(CodeBuilder &builder, mlir::Value sum, mlir::Type element);

/// A number of an arithmetic type, which is not complex.
mlir::Value makeNumber(CodeBuilder &builder, mlir::Type type, double value);
mlir::Value makeInteger(CodeBuilder &builder, mlir::Type type, int64_t value);

} // namespace alula::kernel
