#pragma once

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>
#include <string>

namespace alula::dispatch {

/// A constant's elements as they lie in memory (alula/dtype.h says how): a part
/// of the attribute, or made anew.
struct ConstantBytes {
  llvm::ArrayRef<char> borrowed;
  std::string owned;

  llvm::StringRef get() const {
    return borrowed.empty()
               ? llvm::StringRef(owned)
               : llvm::StringRef(borrowed.data(), borrowed.size());
  }
};

/// Nothing for an attribute whose elements can't be read.
std::optional<ConstantBytes> getConstantBytes(mlir::ElementsAttr value);

} // namespace alula::dispatch
