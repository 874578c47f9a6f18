#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace alula::optimize {

struct PipelineOptions {
  /// Products and convolutions of f32 that ask for no precision are computed
  /// from numbers rounded to bf16.
  bool bf16Products = false;
  /// Products of f32 that ask for no precision may be computed from numbers
  /// rounded to tf32, where a machine has instructions for that.
  bool tf32Products = false;
  /// What is multiplied by weights of few bits may be rounded to bytes.
  bool byteActivations = false;
};

/// Legal StableHLO → the same program, less work.
void addOptimizePipeline(mlir::OpPassManager &pm,
                         const PipelineOptions &options = {});

} // namespace alula::optimize
