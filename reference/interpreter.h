// The reference interpreter: StableHLO as the specification says, obvious and
// exact rather than fast. It is the oracle of tests and the constant folder.
#pragma once

#include "reference/value.h"

#include "mlir/Support/LLVM.h"

#include <functional>

namespace mlir {
class Operation;
class ModuleOp;
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace alula::reference {

struct EvalOptions {
  /// Bytes that the tensors of a program may hold at one time.
  int64_t maxBytes = int64_t(16) << 30;
  /// Ops plus elements that a program may compute.
  int64_t maxSteps = INT64_MAX;
  /// Depth of calls and regions inside each other.
  int64_t maxDepth = 400;
  /// Sums of floats (reduce, windows, dot, convolution) round once at the end
  /// instead of after each addition in ascending order: nearer to the true
  /// value, for comparing with programs that add in another order.
  bool wideSums = false;
  /// Polled between ops; true ends the program with an error.
  const std::atomic<bool> *cancel = nullptr;
  /// Where interpreter.print writes; stdout when empty.
  std::function<void(llvm::StringRef)> print;
  /// Where interpreter.probe keeps .npy files and index.csv; nothing is
  /// written when empty.
  std::string probeDirectory;
  /// Processes of a program that is run without interpreter.run_parallel.
  uint32_t numReplicas = 1;
  uint32_t numPartitions = 1;
};

/// Runs `function` on `inputs`. Every error is reported at the location of the
/// op that could not be computed; nothing throws and nothing aborts.
mlir::FailureOr<std::vector<Value>>
evalFunction(mlir::func::FuncOp function, llvm::ArrayRef<Value> inputs,
             const EvalOptions &options = {});

/// Runs the same function once for each process of the grid of
/// `options.numReplicas` by `options.numPartitions`; `inputs` and the results
/// are ordered by replica, then partition.
mlir::FailureOr<std::vector<std::vector<Value>>>
evalOnGrid(mlir::func::FuncOp function,
           llvm::ArrayRef<std::vector<Value>> inputs,
           const EvalOptions &options = {});

/// Computes one op from constant operands, for a folder: pure ops only, no
/// diagnostics. Nothing if it cannot be done within the limits.
std::optional<std::vector<mlir::ElementsAttr>>
foldOp(mlir::Operation *op, llvm::ArrayRef<mlir::ElementsAttr> operands,
       const EvalOptions &options = {});

/// A tensor from bytes in the layout of `Tensor`; nothing if they do not fit.
std::optional<Tensor> makeTensor(mlir::Type elementType,
                                 llvm::ArrayRef<int64_t> dims,
                                 llvm::ArrayRef<uint8_t> bytes);

/// "dense<[1, 2]> : tensor<2xi32>", for messages and interpreter.print.
std::string printTensor(const Tensor &tensor);
/// The same on lines of their own, one row a line: "tensor<2xi32> {\n  [1, 2]\n}".
std::string printTensorPretty(const Tensor &tensor);
/// One element: "1.500000e+00", "(1.000000e+00,0.000000e+00)", "true".
std::string printCell(Kind kind, const Cell &cell);

} // namespace alula::reference
