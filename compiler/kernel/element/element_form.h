#pragma once

#include "mlir/IR/BuiltinTypes.h"

// What an element of a StableHLO type is in memory, and what it is while it is
// computed with. Memory follows alula/dtype.h; the value is what arithmetic
// takes: an i1 is a byte in memory and an i1 as a value, an f8 is a byte in
// memory and an f32 as a value. Memory is that of a kernel's own: several
// elements of 2 or 4 bits share a byte of a binding, and each has one in a
// temporary.

namespace alula::kernel {

enum class ElementKind { Bool, Signed, Unsigned, Float, Complex };

/// Null for a type that has no native code.
mlir::Type getMemoryType(mlir::Type element);
mlir::Type getValueType(mlir::Type element);
ElementKind getElementKind(mlir::Type element);
/// How many elements share a byte of a binding: 2 for i4, 1 for f32.
int64_t getPacking(mlir::Type element);

/// A float of fewer than 16 bits: a code in memory, an f32 as a value.
bool isSmallFloat(mlir::Type element);
/// How the kernel library spells a type: "f8e4m3fn", "f32", "c64".
std::string getLibraryName(mlir::Type element);

/// The element type of a tensor's value.
inline mlir::Type getElementType(mlir::Value tensor) {
  return mlir::cast<mlir::ShapedType>(tensor.getType()).getElementType();
}

/// The buffer that a tensor becomes: row-major, without gaps.
mlir::MemRefType getBufferType(mlir::RankedTensorType tensor);

} // namespace alula::kernel
