#pragma once

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>
#include <string>

namespace alula::emit {

/// The configuration of a custom call of StableHLO's API version 4 in the bytes
/// of artifact/SPEC.md: its number in the program, what dispatch.custom_call's
/// `values` says of its operands and results, its attributes with their types.
/// Nothing if an attribute holds something that has no form there.
std::optional<std::string> getCallConfig(uint32_t number,
                                         mlir::ArrayAttr values,
                                         mlir::DictionaryAttr attributes);

} // namespace alula::emit
