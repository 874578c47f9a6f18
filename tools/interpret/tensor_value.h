// Between the tensors of the reference and the values of the tools.
#pragma once

#include "reference/interpreter.h"
#include "tools/values/value.h"

namespace alula::interpret {

/// `value` as an input of type `type`; false with a message if it does not
/// fit.
bool toTensor(const values::Value &value, mlir::Type type,
              reference::Tensor &tensor, std::string &error);

/// False with a message if the tools have no such type.
bool fromTensor(const reference::Tensor &tensor, values::Value &value,
                std::string &error);

} // namespace alula::interpret
