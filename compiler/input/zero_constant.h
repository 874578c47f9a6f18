#pragma once

#include "mlir/IR/Builders.h"

namespace alula::input {

/// A 0-dimensional constant that holds zero, of any element type of the
/// language. Null for a type that has none, such as one quantized per axis.
mlir::Value buildZero(mlir::OpBuilder &builder, mlir::Location location,
                      mlir::Type elementType);

} // namespace alula::input
