#pragma once

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace alula::dispatch {

/// Bytes that a tensor or a buffer takes: its elements one after the other,
/// each at least one byte. Nothing where the size is not known, has no bytes
/// or does not fit.
std::optional<int64_t> getByteSize(mlir::ShapedType type);

} // namespace alula::dispatch
