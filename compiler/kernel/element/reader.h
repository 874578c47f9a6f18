#pragma once

#include "compiler/kernel/element/code_builder.h"
#include "compiler/kernel/element/element_form.h"

#include "llvm/ADT/DenseSet.h"

// Elements and sizes of tensors, as code of a kernel. A tensor is one of
//   an inlined op   whoever reads an element computes it on the spot,
//   a scalar        an SSA value, for tensors of rank 0,
//   a buffer        memory that loops have filled,
//   packed          a binding whose elements share bytes (see alula/dtype.h).
// Reading fills no memory and makes no loop: it is the same for all targets.

namespace alula::kernel {

class Reader : public CodeBuilder {
public:
  using Branch = llvm::function_ref<llvm::SmallVector<mlir::Value>()>;

  explicit Reader(mlir::func::FuncOp function);
  virtual ~Reader();

  // ---- Reading ----

  mlir::Value getDim(mlir::Value tensor, int64_t dim);
  llvm::SmallVector<mlir::Value> getShape(mlir::Value tensor);
  /// One element, as a value (see element_form.h).
  mlir::Value getElement(mlir::Value tensor, mlir::ValueRange indices);
  /// The only element of a tensor of rank 0.
  mlir::Value getScalar(mlir::Value tensor) { return getElement(tensor, {}); }
  /// An element of an integer tensor as an index; unsigned ones may not wrap.
  mlir::Value getIndexElement(mlir::Value tensor, mlir::ValueRange indices);

  // ---- Where tensors are ----

  bool isInlined(mlir::Value tensor);
  bool hasBuffer(mlir::Value tensor);
  bool hasPacked(mlir::Value tensor);
  /// Whoever reads an element computes it.
  void setInlined(mlir::Value tensor);
  void setScalar(mlir::Value tensor, mlir::Value value);
  void setBuffer(mlir::Value tensor, mlir::Value buffer);
  /// `bytes` has one dimension and holds the packed elements of `tensor`.
  void setPacked(mlir::Value tensor, mlir::Value bytes);
  /// For sizes that only the host knows.
  void setShape(mlir::Value tensor, mlir::ValueRange sizes);
  /// What the element at `indices` is, for ops that make it themselves.
  void setElement(mlir::Value tensor, mlir::ValueRange indices,
                  mlir::Value value);

  // ---- Memory ----

  /// `element` is the StableHLO element type.
  mlir::Value load(mlir::Value buffer, mlir::ValueRange indices,
                   mlir::Type element);
  void store(mlir::Value value, mlir::Type element, mlir::Value buffer,
             mlir::ValueRange indices);
  /// A buffer's bytes under another shape.
  mlir::Value createView(mlir::Value buffer, mlir::ValueRange sizes);

  // ---- Control flow ----

  llvm::SmallVector<mlir::Value> choose(mlir::Value condition,
                                        mlir::TypeRange types, Branch ifTrue,
                                        Branch ifFalse);
  /// What a body of tensors of rank 0 returns for these arguments.
  llvm::SmallVector<mlir::Value> call(mlir::Block &body,
                                      mlir::ValueRange arguments);
  /// All ops of a block; their tensors live as long as the innermost scope.
  virtual void lowerBlock(mlir::Block &block) = 0;

  /// What is remembered of tensors inside a loop or a branch ends with it.
  class Scope {
  public:
    explicit Scope(Reader &reader);
    ~Scope();
    Scope(const Scope &) = delete;

  private:
    Reader &reader;
  };

protected:
  virtual void beginScope();
  virtual void endScope();

  struct Place {
    enum Kind { Inlined, Scalar, Buffer, Packed } kind = Inlined;
    mlir::Value value;
  };
  /// Null for what has not been lowered yet.
  const Place *findPlace(mlir::Value tensor);
  /// The same, if the innermost scope has put it there.
  const Place *findInnermostPlace(mlir::Value tensor);

private:
  struct Frame {
    llvm::DenseMap<mlir::Value, Place> places;
    llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> shapes;
    /// Elements of inlined ops and buffers that have been computed.
    llvm::DenseMap<mlir::Value,
                   llvm::SmallVector<
                       std::pair<llvm::SmallVector<mlir::Value>, mlir::Value>>>
        elements;
  };

  mlir::Value loadPacked(mlir::Value bytes, mlir::ValueRange indices,
                         mlir::Value tensor);
  /// The sizes of a result with dynamic dimensions, as its operands say; empty
  /// if they can't.
  llvm::SmallVector<mlir::Value> computeShape(mlir::OpResult result);

  std::vector<Frame> frames;
};

} // namespace alula::kernel
