#pragma once

#include "mlir/IR/Attributes.h"

#include <optional>
#include <string>

namespace alula::emit {

/// An attribute as JSON: dictionaries, arrays, numbers, truth values, text;
/// nothing for one that holds something else. Floats that JSON lacks are text.
std::optional<std::string> getJsonText(mlir::Attribute attribute);

} // namespace alula::emit
