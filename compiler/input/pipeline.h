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
  /// Leave special functions (dialect/chlo/functions.h) to `addFormulas`.
  bool keepFunctions = false;
  /// Say ragged_dot by calls that multiply group by group: all targets have
  /// code for them.
  bool raggedCalls = false;
  /// Check the output of the room.
  bool verify = true;
};

/// Any program in, stablehlo out, static unless an option says otherwise.
void addInputPipeline(mlir::OpPassManager &manager,
                      const PipelineOptions &options);

/// Spells out the functions that were left, wherever they are by now.
void addFormulas(mlir::OpPassManager &manager);

/// Says all of chlo in what portable artifacts may hold; its functions by
/// composites of their names.
void addPortableForm(mlir::OpPassManager &manager);

} // namespace alula::input
