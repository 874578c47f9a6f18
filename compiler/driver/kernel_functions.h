#pragma once

#include "compiler/driver/cost_analysis.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

// Kernels as others see them, of a program that has been through `dispatch`.

namespace alula::driver {

struct KernelDescription {
  std::string name;
  /// Without the dialect, each once, in order.
  std::string operations;
  /// The same with element types of results: "add:f32".
  std::string typedOperations;
  /// What the source calls the result, and where.
  std::string sourceName, source;
  Costs costs;
};

/// In the order of the module.
std::vector<KernelDescription> describeKernels(mlir::ModuleOp module);

/// Keeps what it says for the artifact, as lines of a word and what it is: the
/// facts "kernel.NAME" of SPEC.md.
void keepKernelFacts(mlir::ModuleOp module);

/// Makes each executable a function, each launch a call of it, and takes away
/// what only we understand. An error if something else is left.
mlir::LogicalResult makeKernelFunctions(mlir::ModuleOp module);

std::string printWithLocations(mlir::ModuleOp module);

} // namespace alula::driver
