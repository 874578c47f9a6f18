#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"

namespace mlir::stablehlo {

// What the constraints in type_constraints.td ask.
bool isSignedIntElement(Type type);
bool isUnsignedIntElement(Type type);
/// Every float of the language, also those that MLIR 19 lacks.
bool isFloatElement(Type type);
bool isComplexElement(Type type);
bool isPerTensorQuantizedElement(Type type);
/// Quantized per axis or in sub-channels.
bool isPerAxisQuantizedElement(Type type);
bool isQuantizedElement(Type type);
/// True for types that are not quantized per axis; otherwise the axis exists
/// and has one scale for each index.
bool hasValidQuantizedAxis(Type type);
bool isToken(Type type);
bool isFuture(Type type);
/// Every dimension is static, or all but one that has a bound. (More of them,
/// and a reshape or broadcast would not say which is how large.)
bool isStaticOrBounded(Type type);

/// The element type of a tensor, of a memref, or the type itself.
Type elementType(Type type);
/// Number of bits of an element; of a quantized one, of its storage. Zero for
/// what has no width.
unsigned elementBits(Type elementType);
/// The element type that arithmetic is about: the expressed type of a
/// quantized type, the type itself otherwise.
Type expressedType(Type elementType);
/// The bounds of a ranked tensor type, empty if it has none. kDynamic stands
/// where a dimension has no bound.
ArrayRef<int64_t> getBounds(Type type);
/// `shape` with `elementType` and, if any dimension has one, `bounds`.
RankedTensorType getTensorType(ArrayRef<int64_t> shape, Type elementType,
                               ArrayRef<int64_t> bounds = {});

/// Dimensions agree where both are static; a bound is at least the static size.
bool areCompatibleShapes(Type a, Type b);
/// Equal, or quantized with equal storage and expressed type. A quantized and a
/// real type are never compatible.
bool areCompatibleElementTypes(Type a, Type b);
/// Both of the above; tuples element by element; anything else must be equal.
bool areCompatibleTypes(Type a, Type b);
bool areCompatibleTypes(TypeRange a, TypeRange b);
/// A type that both could be, with everything that either knows. Null if they
/// contradict each other.
Type mergeTypes(Type a, Type b);

} // namespace mlir::stablehlo
