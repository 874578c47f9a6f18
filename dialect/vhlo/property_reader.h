#pragma once

#include "dialect/vhlo/import_nodes.h"

#include "mlir/IR/OperationSupport.h"

namespace alula::vhlo {

/// Lets an operation of a dialect that the portable form only carries along
/// (sdy, builtin, …) read its own properties from an artifact. `state` has its
/// name and gets the properties.
mlir::LogicalResult readOwnProperties(const Artifact &artifact,
                                      const NodeImporter &nodes,
                                      const Properties &properties,
                                      mlir::OperationState &state);

} // namespace alula::vhlo
