#pragma once

#include "artifact/writer.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

namespace alula::emit {

/// Adds a constant's elements as they lie in memory (alula/dtype.h says how).
/// Most are so in the attribute, which must live as long as the writer. Nothing
/// for an attribute whose elements can't be read.
std::optional<uint32_t> addConstant(artifact::ArtifactWriter &writer,
                                    mlir::ElementsAttr value, uint32_t type);

} // namespace alula::emit
