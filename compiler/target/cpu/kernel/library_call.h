#pragma once

#include "compiler/kernel/lowering.h"

namespace alula::cpu {

/// A call of a library function on whole arrays: `alula_<name>_<type>`. Narrow
/// floats are computed in f32. Parameters are added in their order.
class LibraryCall {
public:
  /// `element` is what the function's name ends with.
  LibraryCall(kernel::Lowering &lowering, llvm::StringRef name,
              mlir::Type element);

  void addInput(mlir::Value tensor);
  void addOutput(mlir::OpResult result);
  /// Memory that the function fills and nobody reads.
  void addUnused(mlir::ValueRange sizes);
  void addMemory(mlir::Value buffer);
  void addNull();
  void addSize(mlir::Value size);
  void addFlag(int64_t value);
  /// What the function reads to know that it may end early.
  void addCancel();
  void addScratch(int64_t bytes) { addScratch(lowering.index(bytes)); }
  void addScratch(mlir::Value bytes);
  /// Everything of `tensor` but its last `rank` dimensions.
  void addBatch(mlir::Value tensor, int64_t rank);
  void run();

  /// The type that is computed in, real or complex; null if there is none.
  mlir::Type getType() const { return type; }
  int64_t getElementBytes() const;

private:
  /// How an array of elements is passed.
  mlir::Type getPassedType(mlir::Type element) const;

  kernel::Lowering &lowering;
  std::string name;
  mlir::Type type;
  llvm::SmallVector<mlir::Value> arguments;
  llvm::SmallVector<std::pair<mlir::OpResult, mlir::Value>> outputs;
};

} // namespace alula::cpu
