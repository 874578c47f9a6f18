#pragma once

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace alula::dispatch {

/// Bytes that a tensor takes in memory: its elements one after the other, those
/// of 2 and 4 bits packed (see alula/dtype.h). Nothing where the size is not
/// known, has no bytes or does not fit.
std::optional<int64_t> getByteSize(mlir::ShapedType type);

} // namespace alula::dispatch
