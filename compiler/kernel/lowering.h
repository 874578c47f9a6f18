#pragma once

#include "compiler/kernel/element/reader.h"
#include "compiler/kernel/plan/epilogue.h"
#include "compiler/kernel/target_kernels.h"

// Lowers the body of one kernel from StableHLO on tensors to loop nests over
// buffers, as its plan says. Loads of operands go through the reader, stores
// through the target's loops and memory. Each op has a generator
// (element/generators.h: indices → element), which fuses into its consumers, or
// an emitter (a loop nest that fills a buffer), in the file of its family.

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

  /// The buffer of a tensor, materialized at the first use.
  mlir::Value getBuffer(mlir::Value tensor);
  /// The same for a binding: of packed bytes if the tensor is packed.
  mlir::Value getBinding(mlir::Value tensor);
  /// A buffer for `result` that holds `operand`, for an op that updates a slice
  /// of it: in place if this is the operand's last use, else a copy.
  mlir::Value createUpdated(mlir::OpResult result, mlir::Value operand);
  /// A buffer for a result: its destination if the kernel returns it.
  mlir::Value createResult(mlir::Value result);
  /// Stores the elements of an op that has a generator to a buffer.
  void materialize(mlir::Value result);
  /// Both tensors are views of one buffer.
  void setAlias(mlir::Value tensor, mlir::Value original);
  void setPacked(mlir::Value tensor, mlir::Value bytes);
  /// A destination of packed bytes for `lowerBlockInto`.
  void setPackedResult(mlir::Value bytes) { packedMemory.insert(bytes); }

  /// What is stored instead of `result`: the last op of its epilogue, computed
  /// elementwise from those of `result` in registers (see plan/epilogue.h).
  mlir::OpResult getFinalResult(mlir::OpResult result);
  /// Applies the epilogue to one element of `result`, `value`, and stores it.
  void storeFinal(mlir::OpResult result, mlir::Value value, mlir::Value buffer,
                  mlir::ValueRange indices);

  // ---- Memory ----

  /// A temporary with elements of a memory type; with the shape of a tensor.
  mlir::Value createTemporary(mlir::ValueRange sizes, mlir::Type memoryType);
  mlir::Value createTemporary(mlir::Value likeTensor);
  /// What is in the code's own data under a name, made at the first use.
  mlir::Value createData(mlir::MemRefType type, llvm::StringRef name,
                         llvm::function_ref<mlir::ElementsAttr()> makeNumbers);
  /// The same under a name of its own.
  mlir::Value createData(mlir::MemRefType type,
                         mlir::DenseElementsAttr numbers);
  /// The same of i64.
  mlir::Value createTable(llvm::ArrayRef<int64_t> numbers);
  /// Stores all elements of a tensor to a buffer.
  void fill(mlir::Value buffer, mlir::Value tensor);
  void fill(llvm::ArrayRef<Filling> fillings) { memory->fill(fillings); }
  /// The same for packed elements: each byte is stored once, whole.
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
  /// The same in destination-passing style: each value that the block returns
  /// is stored to its buffer, where there is one.
  void lowerBlockInto(mlir::Block &block, mlir::ValueRange buffers);

private:
  /// What is known of the block that a scope is about.
  struct Frame {
    Epilogues epilogues;
    /// Destinations of returned values that are not stored yet.
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
  /// Buffers without aliases: an update in place is safe after the last use.
  llvm::DenseSet<mlir::Value> owned;
  /// Bindings of packed elements.
  llvm::DenseSet<mlir::Value> packedMemory;
};

} // namespace alula::kernel
