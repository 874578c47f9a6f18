#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace alula::cpu {

/// The module of one executable: loops over buffers → LLVM dialect with the
/// entries that the runtime calls.
void addLoweringPipeline(mlir::OpPassManager &pm, unsigned indexBits);

/// The same without entries: functions of pointers and integers, for any
/// machine that LLVM knows.
void addLlvmPipeline(mlir::OpPassManager &pm, unsigned indexBits);

} // namespace alula::cpu
