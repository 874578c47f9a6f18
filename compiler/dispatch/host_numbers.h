#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace alula::dispatch {

/// Integer arithmetic of the host function. Everything stands as early as its
/// operands allow and is there once, so that two numbers that are computed
/// alike are one value. Numbers are of type index, conditions i1.
class HostNumbers {
public:
  explicit HostNumbers(mlir::func::FuncOp function);

  mlir::Value make(int64_t value);
  mlir::Value makeTrue();
  mlir::Value getDim(mlir::Value tensor, int64_t dim);
  /// An element of a tensor in memory.
  mlir::Value extract(mlir::Value tensor, llvm::ArrayRef<int64_t> position);

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value subtract(mlir::Value a, mlir::Value b);
  mlir::Value multiply(mlir::Value a, mlir::Value b);
  /// Towards zero; a division by zero is not seen.
  mlir::Value divide(mlir::Value a, mlir::Value b);
  mlir::Value getRemainder(mlir::Value a, mlir::Value b);
  mlir::Value getMaximum(mlir::Value a, mlir::Value b);
  mlir::Value getMinimum(mlir::Value a, mlir::Value b);
  mlir::Value bitAnd(mlir::Value a, mlir::Value b);
  mlir::Value bitOr(mlir::Value a, mlir::Value b);
  mlir::Value bitXor(mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);

  /// Whether a number is known to be 0 or more.
  static bool isNotNegative(mlir::Value number, unsigned depth = 8);

private:
  template <typename Op, typename... Args>
  mlir::Value build(llvm::ArrayRef<mlir::Value> operands, Args &&...args);
  void moveAfter(llvm::ArrayRef<mlir::Value> operands);

  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  llvm::DenseMap<int64_t, mlir::Value> constants;
  /// By op name, predicate and operands.
  std::map<std::tuple<void *, int64_t, std::vector<void *>>, mlir::Value> known;
};

} // namespace alula::dispatch
