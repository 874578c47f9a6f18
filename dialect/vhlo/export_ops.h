#pragma once

#include "dialect/vhlo/artifact.h"
#include "dialect/vhlo/writer.h"

namespace alula::vhlo {

/// Fills `artifact` with the portable form of a module at the target version.
/// `needed` becomes the lowest version that can say the module.
mlir::LogicalResult exportModule(mlir::ModuleOp module,
                                 const WriteOptions &options,
                                 Artifact &artifact, Version &needed);

} // namespace alula::vhlo
