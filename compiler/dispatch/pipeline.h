#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace alula::dispatch {

struct PipelineOptions {
  /// Constants may change their layout. Not where the outside supplies them.
  bool packWeights = true;
};

/// StableHLO without calls → host functions that launch executables, whose
/// bodies are StableHLO too.
void addDispatchPipeline(mlir::OpPassManager &pm,
                         const PipelineOptions &options = {});

} // namespace alula::dispatch
