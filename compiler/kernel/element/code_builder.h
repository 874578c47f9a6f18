#pragma once

#include "dialect/dispatch/machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/DenseMap.h"

namespace alula::kernel {

/// Builds scalar code of one kernel: arithmetic on indices, elements as memory
/// has them, calls of the kernel library. It knows nothing of tensors.
class CodeBuilder {
public:
  /// Builds into `function`, whose signature has buffers already.
  explicit CodeBuilder(mlir::func::FuncOp function);
  CodeBuilder(const CodeBuilder &) = delete;

  /// Its location is that of the op being lowered.
  mlir::ImplicitLocOpBuilder b;
  /// What the kernel will run on.
  const dispatch::MachineFacts machine;

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

  // ---- Elements in memory (element_form.h) ----

  /// What memory holds as a value; `element` is the StableHLO element type.
  mlir::Value decode(mlir::Value memory, mlir::Type element);
  mlir::Value encode(mlir::Value value, mlir::Type element);
  mlir::Value zero(mlir::Type valueType);

  // ---- The kernel library ----

  mlir::Value callLibrary(const llvm::Twine &name, mlir::Type result,
                          mlir::ValueRange arguments);
  /// For functions that return nothing.
  void callLibrary(const llvm::Twine &name, mlir::ValueRange arguments);
  /// A buffer's first byte, as the library takes it.
  mlir::Value getPointer(mlir::Value buffer);
  /// A place on the stack for one part of a complex number.
  mlir::Value getPartMemory(mlir::Type type, unsigned number);

  // ---- Errors ----

  /// Says "'op': no native code: reason" at `op`; the lowering has failed then.
  void decline(mlir::Operation *op, const llvm::Twine &reason);
  /// The same where an element of some type is expected.
  mlir::Value decline(mlir::Operation *op, const llvm::Twine &reason,
                      mlir::Type valueType);
  bool hasFailed() const { return failed; }

protected:
  mlir::func::FuncOp function;

private:
  llvm::DenseMap<int64_t, mlir::Value> indexConstants;
  llvm::DenseMap<std::pair<mlir::Type, unsigned>, mlir::Value> partMemory;
  bool failed = false;
};

} // namespace alula::kernel
