#pragma once

#include "dialect/vhlo/export_nodes.h"

#include "mlir/IR/Operation.h"

namespace alula::vhlo {

/// Lets an operation of a dialect that the portable form only carries along
/// write its own properties. False if it has none.
mlir::FailureOr<bool> writeOwnProperties(mlir::Operation *op,
                                         NodeExporter &nodes,
                                         uint32_t containerVersion,
                                         Properties &properties);

} // namespace alula::vhlo
