#pragma once

#include "dialect/stablehlo/rule_site.h"

#include "mlir/IR/Types.h"

namespace mlir::stablehlo {

/// The dimension that a per-axis quantized element type counts its scales
/// along; nothing for other types.
std::optional<int64_t> quantizedDimension(Type elementType);
/// Whether every zero point of a quantized element type is zero.
bool hasZeroZeroPoints(Type elementType);

/// What dot_general and convolution ask of quantized element types: rhs is
/// quantized, lhs and result both or neither, storage and expressed types
/// agree, and a result is not finer quantized than rhs. Does nothing if no type
/// is quantized.
LogicalResult verifyQuantizedProduct(const RuleSite &site, Type lhs, Type rhs,
                                     Type result);

} // namespace mlir::stablehlo
