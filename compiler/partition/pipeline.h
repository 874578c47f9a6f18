#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace alula::partition {

/// A program over all devices → the one that each device runs, with StableHLO's
/// collectives.
void addPartitionPipeline(mlir::OpPassManager &pm);

/// Collectives → `dispatch.collective`, and computation on what it gives.
void addCollectivesPipeline(mlir::OpPassManager &pm);

} // namespace alula::partition
