#pragma once

#include "mlir/Support/LLVM.h"

#include <optional>
#include <string>

namespace mlir::stablehlo {

/// An einsum configuration such as `ab,bc->ac` for operands of known ranks: a
/// number for each dimension, equal where dimensions are the same.
struct EinsumConfig {
  SmallVector<SmallVector<int>> operands;
  SmallVector<int> result;
};

/// Reads `text`. `...` stands for the dimensions that an operand has beyond its
/// letters; they are aligned at the right. On failure `error` is the rule that
/// the text breaks, with the values.
std::optional<EinsumConfig> parseEinsumConfig(StringRef text,
                                              ArrayRef<int64_t> ranks,
                                              std::string &error);

} // namespace mlir::stablehlo
