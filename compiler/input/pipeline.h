#pragma once

#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace alula::input {

struct PipelineOptions {
  /// The types of main's arguments where the program is dynamic, as text;
  /// empty to take the program's own.
  std::vector<std::string> argumentTypes;
  /// Composites that a later room knows by name.
  std::vector<std::string> keptComposites;
  /// Say quantized types in integers and floats: kernels know nothing else,
  /// the interpreter does.
  bool lowerQuantized = false;
  /// Leave what is dynamic to the next room.
  bool dynamicShapes = false;
  /// Check the output of the room.
  bool verify = true;
};

/// Any program in, stablehlo out, static unless an option says otherwise.
void addInputPipeline(mlir::OpPassManager &manager,
                      const PipelineOptions &options);

} // namespace alula::input
