#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace alula::driver {

/// What one run of a function takes.
struct Costs {
  /// Additions, multiplications, comparisons … of numbers; four multiplications
  /// and two additions for a product of complex numbers.
  double flops = 0;
  /// Elements of functions that no few instructions compute.
  double transcendentals = 0;
  /// Read and written by everything that is not fused into its reader.
  double bytesAccessed = 0;
  /// How much of that is read from each argument, written to the results.
  std::vector<double> argumentBytes;
  double resultBytes = 0;
  /// A loop of unknown length counts once, an unknown size as one.
  bool isUnknown = false;
};

/// Counts on StableHLO and CHLO as programs bring them. Loops whose length is
/// written in the program count that often, of branches the dearest.
Costs analyzeCosts(mlir::func::FuncOp function);

/// The same of the body of a kernel: of bytes only what it reads from its
/// arguments, no argument more than once whole, and writes to its results. What
/// its operations hand on to each other stays inside, but for loops.
Costs analyzeKernelCosts(mlir::func::FuncOp body);

} // namespace alula::driver
