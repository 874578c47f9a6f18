#pragma once

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>
#include <string>

namespace alula::emit {

/// A constant's elements as they lie in memory (alula/dtype.h says how), or
/// nothing for an attribute whose elements can't be read.
std::optional<std::string> getConstantBytes(mlir::ElementsAttr value);

} // namespace alula::emit
