#pragma once

#include "compiler/kernel/element/reader.h"
#include "compiler/kernel/plan/epilogue.h"
#include "compiler/kernel/target_kernels.h"

// How the body of one kernel is turned from StableHLO on tensors to loops over
// buffers, as its plan says. What is read goes through the reader, what is
// written through the target's loops and memory. For each op there is a
// generator (element/generators.h: indices → element) or an emitter (loops that
// fill a buffer), in the file of its family.

namespace alula::kernel {

class Lowering final : public Reader {
public:
  using Body = Loops::Body;
  using Fold = Loops::Fold;
  using Filling = kernel::Filling;

  /// Builds into `function`, whose signature has buffers already.
  Lowering(mlir::func::FuncOp function, const TargetKernels &target);
  ~Lowering() override;

  // ---- Memory of tensors ----

  /// Fills it if there is none yet.
  mlir::Value getBuffer(mlir::Value tensor);
  /// The same, packed if the tensor is.
  mlir::Value getBinding(mlir::Value tensor);
  /// Memory for `result` that holds `operand`, for an op that changes a part of
  /// it: the operand's own if this is its last use, else a copy.
  mlir::Value createUpdated(mlir::OpResult result, mlir::Value operand);
  /// Fresh memory for a result: where it belongs if it is returned.
  mlir::Value createResult(mlir::Value result);
  /// Computes the elements of an op that has a generator into memory.
  void materialize(mlir::Value result);
  /// The same tensor under another name.
  void setAlias(mlir::Value tensor, mlir::Value original);
  void setPacked(mlir::Value tensor, mlir::Value bytes);
  /// Packed memory that `lowerBlockInto` fills.
  void setPackedResult(mlir::Value bytes) { packedMemory.insert(bytes); }

  /// What is written instead of `result`: the last op of its epilogue, whose
  /// elements are computed from those of `result` (see plan/epilogue.h).
  mlir::OpResult getFinalResult(mlir::OpResult result);
  /// Writes the element of the final result where that of `result` is `value`.
  void storeFinal(mlir::OpResult result, mlir::Value value, mlir::Value buffer,
                  mlir::ValueRange indices);

  // ---- Memory ----

  /// A temporary with elements of a memory type; with the shape of a tensor.
  mlir::Value createTemporary(mlir::ValueRange sizes, mlir::Type memoryType);
  mlir::Value createTemporary(mlir::Value likeTensor);
  void storeIntegers(mlir::Value buffer, llvm::ArrayRef<int64_t> values);
  /// Writes all elements of a tensor to memory.
  void fill(mlir::Value buffer, mlir::Value tensor);
  void fill(llvm::ArrayRef<Filling> fillings) { memory->fill(fillings); }
  /// Writes all elements of a tensor, packed. Each byte is written once, whole.
  void fillPacked(mlir::Value bytes, mlir::Value tensor);

  // ---- Loops (loops.h) ----

  void forEach(mlir::ValueRange sizes, Body body) {
    loops->forEach(sizes, body);
  }
  void forEachBlock(mlir::Value count, int64_t steps,
                    llvm::function_ref<void(mlir::Value number)> body) {
    loops->forEachBlock(count, steps, body);
  }
  llvm::SmallVector<mlir::Value> fold(mlir::ValueRange sizes,
                                      mlir::ValueRange initial, Fold body) {
    return loops->fold(sizes, initial, body);
  }
  llvm::SmallVector<mlir::Value> foldRange(mlir::Value lower, mlir::Value upper,
                                           mlir::ValueRange initial,
                                           Fold body) {
    return loops->foldRange(lower, upper, initial, body);
  }

  // ---- Blocks ----

  void lowerBlock(mlir::Block &block) override;
  /// The same; each value that the block returns is written to its buffer,
  /// where there is one.
  void lowerBlockInto(mlir::Block &block, mlir::ValueRange buffers);

private:
  /// What is known of the block that a scope is about.
  struct Frame {
    Epilogues epilogues;
    /// Where values that are returned belong, until somebody has written them.
    llvm::DenseMap<mlir::Value, mlir::Value> destinations;
  };

  void beginScope() override;
  void endScope() override;
  mlir::Value claimMemory(mlir::Value result);
  void lowerOp(mlir::Operation *op, bool isInlined);
  void prepareCaptures(mlir::Operation *op);
  void returnInto(mlir::Block &block, mlir::ValueRange buffers);

  const TargetKernels &target;
  std::unique_ptr<Loops> loops;
  std::unique_ptr<Memory> memory;
  std::vector<Frame> frames;
  /// Memory that only its tensor's users read.
  llvm::DenseSet<mlir::Value> owned;
  /// Bindings of packed elements.
  llvm::DenseSet<mlir::Value> packedMemory;
};

} // namespace alula::kernel
