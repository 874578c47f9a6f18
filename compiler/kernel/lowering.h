#pragma once

#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/plan/epilogue.h"
#include "dialect/dispatch/machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

// How the body of one kernel is turned from StableHLO on tensors to loops over
// buffers. A tensor is one of
//   an inlined op   whoever reads an element computes it on the spot,
//   a scalar        an SSA value, for tensors of rank 0,
//   a buffer        memory that loops have filled,
//   packed          a binding whose elements share bytes (see alula/dtype.h):
//                   elements are read where they are, and written by
//                   `fillPacked`, byte by byte; what works in memory works in a
//                   temporary with one element to a byte.
// For each op there is a generator (indices → element), or an emitter (loops
// that fill a buffer), in the file of its family; `op_table.cpp` lists them.

namespace alula::kernel {

class Lowering {
public:
  using Body = llvm::function_ref<void(mlir::ValueRange indices)>;
  using Fold = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::ValueRange indices, mlir::ValueRange carried)>;
  using Branch = llvm::function_ref<llvm::SmallVector<mlir::Value>()>;

  /// Builds into `function`, whose signature has buffers already.
  explicit Lowering(mlir::func::FuncOp function);

  /// Its location is that of the op being lowered.
  mlir::ImplicitLocOpBuilder b;
  /// What the kernel will run on.
  const dispatch::MachineFacts machine;

  // ---- Tensors ----

  mlir::Value getDim(mlir::Value tensor, int64_t dim);
  llvm::SmallVector<mlir::Value> getShape(mlir::Value tensor);
  /// For sizes that only the host knows.
  void setShape(mlir::Value tensor, mlir::ValueRange sizes);

  /// One element, as a value (see element_form.h).
  mlir::Value getElement(mlir::Value tensor, mlir::ValueRange indices);
  /// The only element of a tensor of rank 0.
  mlir::Value getScalar(mlir::Value tensor) { return getElement(tensor, {}); }
  /// An element of an integer tensor as an index; unsigned ones may not wrap.
  mlir::Value getIndexElement(mlir::Value tensor, mlir::ValueRange indices);

  /// The memory of a tensor; fills it if there is none yet.
  mlir::Value getBuffer(mlir::Value tensor);
  bool hasBuffer(mlir::Value tensor);
  bool hasPacked(mlir::Value tensor);
  /// The same, packed if the tensor is.
  mlir::Value getBinding(mlir::Value tensor);
  /// Memory for `result` that holds `operand`, for an op that changes a part of
  /// it: the operand's own if this is its last use, else a copy.
  mlir::Value createUpdated(mlir::OpResult result, mlir::Value operand);

  /// Whoever reads an element computes it.
  void setInlined(mlir::Value tensor);
  void setScalar(mlir::Value tensor, mlir::Value value);
  void setBuffer(mlir::Value tensor, mlir::Value buffer);
  /// `bytes` has one dimension and holds packed elements: those of `tensor`, or
  /// those of a result, which `lowerBlockInto` fills then.
  void setPacked(mlir::Value tensor, mlir::Value bytes);
  void setPackedResult(mlir::Value bytes) { packedMemory.insert(bytes); }
  /// The same tensor under another name.
  void setAlias(mlir::Value tensor, mlir::Value original);
  /// Computes the elements of an op that has a generator into memory.
  void materialize(mlir::Value result);
  /// Fresh memory for a result: where it belongs if it is returned.
  mlir::Value createResult(mlir::Value result);
  /// What is written instead of `result`: the last op of its epilogue, whose
  /// elements are computed from those of `result` (see plan/epilogue.h).
  mlir::OpResult getFinalResult(mlir::OpResult result);
  /// Writes the element of the final result where that of `result` is `value`.
  void storeFinal(mlir::OpResult result, mlir::Value value, mlir::Value buffer,
                  mlir::ValueRange indices);
  /// A temporary with the shape of a tensor and elements of a memory type.
  mlir::Value createTemporary(mlir::ValueRange sizes, mlir::Type memoryType);
  mlir::Value createTemporary(mlir::Value likeTensor);

  /// Element access to memory; `element` is the StableHLO element type.
  mlir::Value load(mlir::Value buffer, mlir::ValueRange indices,
                   mlir::Type element);
  void store(mlir::Value value, mlir::Type element, mlir::Value buffer,
             mlir::ValueRange indices);
  void storeIntegers(mlir::Value buffer, llvm::ArrayRef<int64_t> values);
  /// Writes all elements of a tensor to memory.
  void fill(mlir::Value buffer, mlir::Value tensor);
  /// The same for tensors of one shape, in one loop: at each index all elements
  /// are computed before any is written.
  struct Filling {
    mlir::Value buffer, tensor;
  };
  void fill(llvm::ArrayRef<Filling> fillings);
  /// Writes all elements of a tensor, packed. Each byte is written once, whole.
  void fillPacked(mlir::Value bytes, mlir::Value tensor);
  /// A buffer's bytes under another shape.
  mlir::Value createView(mlir::Value buffer, mlir::ValueRange sizes);

  // ---- Index arithmetic; folds what is constant ----

  mlir::Value index(int64_t value);
  mlir::Value makeTrue();
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  /// Of numbers that are not negative.
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value ceilDiv(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value rem(mlir::Value a, mlir::Value b);
  /// Between 0 and `limit`, which is not negative.
  mlir::Value clamp(mlir::Value value, mlir::Value limit);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b);
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// Row-major number of an element, and back.
  mlir::Value linearize(mlir::ValueRange indices, mlir::ValueRange sizes);
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value number,
                                             mlir::ValueRange sizes);
  mlir::Value product(mlir::ValueRange sizes);
  /// How far apart neighbours in each dimension are in memory without gaps.
  llvm::SmallVector<mlir::Value> getStrides(mlir::ValueRange sizes);

  // ---- Control flow ----

  /// For every index below `sizes`, in any order.
  void forEach(mlir::ValueRange sizes, Body body);
  /// The same, in squares over two dimensions: reading along one and writing
  /// along the other, both stay in the cache.
  void forEachInSquares(mlir::ValueRange sizes, size_t first, size_t second,
                        Body body);
  /// For blocks that cost `steps` steps each.
  void forEachBlock(mlir::Value count, int64_t steps,
                    llvm::function_ref<void(mlir::Value number)> body);
  /// In row-major order, each step given what the one before returned.
  llvm::SmallVector<mlir::Value> fold(mlir::ValueRange sizes,
                                      mlir::ValueRange initial, Fold body);
  /// The same from `lower` to `upper`.
  llvm::SmallVector<mlir::Value> foldRange(mlir::Value lower, mlir::Value upper,
                                           mlir::ValueRange initial, Fold body);
  llvm::SmallVector<mlir::Value> choose(mlir::Value condition,
                                        mlir::TypeRange types, Branch ifTrue,
                                        Branch ifFalse);
  /// What a body of tensors of rank 0 returns for these arguments.
  llvm::SmallVector<mlir::Value> call(mlir::Block &body,
                                      mlir::ValueRange arguments);
  /// All ops of a block; their tensors live as long as the innermost scope.
  void lowerBlock(mlir::Block &block);
  /// The same; each value that the block returns is written to its buffer,
  /// where there is one.
  void lowerBlockInto(mlir::Block &block, mlir::ValueRange buffers);

  /// What is remembered of tensors inside a loop or a branch ends with it.
  class Scope {
  public:
    explicit Scope(Lowering &lowering);
    ~Scope();
    Scope(const Scope &) = delete;

  private:
    Lowering &lowering;
  };

  // ---- The kernel library and errors ----

  mlir::Value callLibrary(const llvm::Twine &name, mlir::Type result,
                          mlir::ValueRange arguments);
  /// For functions that return nothing.
  void callLibrary(const llvm::Twine &name, mlir::ValueRange arguments);
  /// A buffer's first byte, as the library takes it.
  mlir::Value getPointer(mlir::Value buffer);

  /// A place on the stack for one part of a complex number.
  mlir::Value getPartMemory(mlir::Type type, unsigned number);

  mlir::Value zero(mlir::Type valueType);
  /// Says "'op': no native code: reason" at `op`; the lowering has failed then.
  void decline(mlir::Operation *op, const llvm::Twine &reason);
  /// The same where an element of some type is expected.
  mlir::Value decline(mlir::Operation *op, const llvm::Twine &reason,
                      mlir::Type valueType);
  bool hasFailed() const { return failed; }

private:
  struct Place {
    enum Kind { Inlined, Scalar, Buffer, Packed } kind = Inlined;
    mlir::Value value;
  };
  struct Frame {
    llvm::DenseMap<mlir::Value, Place> places;
    llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> shapes;
    /// Elements of inlined ops and buffers that have been computed.
    llvm::DenseMap<mlir::Value,
                   llvm::SmallVector<
                       std::pair<llvm::SmallVector<mlir::Value>, mlir::Value>>>
        elements;
    /// The epilogues of the block.
    Epilogues epilogues;
    /// Where values that are returned belong, until somebody has written them.
    llvm::DenseMap<mlir::Value, mlir::Value> destinations;
  };

  const Place *findPlace(mlir::Value tensor);
  std::optional<size_t> findCrossedDim(mlir::Value tensor, unsigned depth = 0);
  void forEachElement(llvm::ArrayRef<mlir::Value> tensors, Body body);
  mlir::Value claimMemory(mlir::Value result);
  mlir::Value loadPacked(mlir::Value bytes, mlir::ValueRange indices,
                         mlir::Value tensor);
  mlir::Value decode(mlir::Value memory, mlir::Type element);
  mlir::Value encode(mlir::Value value, mlir::Type element);
  void lowerOp(mlir::Operation *op, bool isInlined);
  void prepareCaptures(mlir::Operation *op);
  void returnInto(mlir::Block &block, mlir::ValueRange buffers);

  mlir::func::FuncOp function;
  std::vector<Frame> frames;
  llvm::DenseMap<int64_t, mlir::Value> indexConstants;
  llvm::DenseMap<std::pair<mlir::Type, unsigned>, mlir::Value> partMemory;
  /// Memory that only its tensor's users read.
  llvm::DenseSet<mlir::Value> owned;
  /// Bindings of packed elements.
  llvm::DenseSet<mlir::Value> packedMemory;
  bool failed = false;
};

/// The element of `result` at `indices`.
using Generator = mlir::Value (*)(mlir::OpResult result,
                                  mlir::ValueRange indices, Lowering &lowering);
/// Fills or sets every result of an op.
using Emitter = void (*)(mlir::Operation *op, Lowering &lowering);
/// The same if it costs nothing, since operands are in memory already.
using Aliaser = bool (*)(mlir::Operation *op, Lowering &lowering);

/// Some ops have several; the first that fits is taken: alias, then generate if
/// the op is inlined, then emit.
struct OpLowering {
  Generator generate = nullptr;
  Emitter emit = nullptr;
  Aliaser alias = nullptr;
};

/// All null for an op without native code.
OpLowering findLowering(mlir::Operation *op);

/// The sizes of a result with dynamic dimensions, as its operands say; empty if
/// they can't.
llvm::SmallVector<mlir::Value> computeResultShape(mlir::OpResult result,
                                                  Lowering &lowering);

} // namespace alula::kernel
