#pragma once

#include "dialect/vhlo/import_nodes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace alula::vhlo {

/// Makes the operations of an artifact, those of the portable form as
/// StableHLO and func ones. The result is not verified yet.
mlir::OwningOpRef<mlir::ModuleOp> importOps(const Artifact &artifact,
                                            const NodeImporter &nodes,
                                            mlir::MLIRContext *context);

} // namespace alula::vhlo
