#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace alula::schedule {

/// Host functions that launch → the same with a place for every value.
void addSchedulePipeline(mlir::OpPassManager &pm);

} // namespace alula::schedule
