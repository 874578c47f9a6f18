#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace alula::partition {

/// Shardings of ops as ops, before the input room, which may rewrite those.
void addShardingImport(mlir::OpPassManager &pm);

/// A program over all devices → the one that each device runs, with StableHLO's
/// collectives.
void addPartitionPipeline(mlir::OpPassManager &pm);

/// "auto" → a layout, before the input room, which may change what says it.
void addLayoutChoice(mlir::OpPassManager &pm);

/// What a device runs → the same with its arrays as they lie in memory, if
/// `physicalLayouts`, and with collectives as `dispatch.collective` and
/// computation on what it gives.
void addDevicePipeline(mlir::OpPassManager &pm, bool physicalLayouts);

} // namespace alula::partition
