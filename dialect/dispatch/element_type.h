#pragma once

#include "alula/dtype.h"

#include "mlir/IR/Types.h"

#include <optional>

namespace alula::dispatch {

/// The artifact's number for an element type; nothing for one that it lacks.
std::optional<alula_dtype> getDtype(mlir::Type elementType);

} // namespace alula::dispatch
