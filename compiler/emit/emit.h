#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace alula::emit {

/// What the artifact says about its making.
struct Provenance {
  std::string compiler, options, inputHash;
};

/// Writes a scheduled module with its variants as an artifact. Same module,
/// same bytes.
mlir::LogicalResult emitArtifact(mlir::ModuleOp module,
                                 const Provenance &provenance,
                                 std::string &bytes);

} // namespace alula::emit
