#pragma once

#include "compiler/kernel/lowering.h"

namespace alula::cuda {

/// Sums of parts of a product's depth, each computed by whom there would be too
/// few of otherwise; another launch adds them up.
class DepthParts {
public:
  explicit DepthParts(kernel::Lowering &lowering) : lowering(lowering) {}

  /// Whether parts may be workgroups of their own: what follows the control
  /// flow of a workgroup has no other one.
  static bool mayBeUsed(kernel::Lowering &lowering);

  /// Memory for sums of elements that have a place in `sizes`; none for one
  /// part, which is the sum.
  void create(int64_t parts, mlir::ValueRange sizes, mlir::Type type);
  explicit operator bool() const { return sums != nullptr; }
  void store(mlir::Value sum, mlir::Value part, mlir::ValueRange place);
  /// The whole sums, in the order of the parts, so that a product always is the
  /// same.
  void addUp(llvm::function_ref<void(mlir::Value sum, mlir::ValueRange place)>
                 storeSum);

private:
  kernel::Lowering &lowering;
  mlir::Value sums;
  mlir::Type type;
  /// The number of parts is the first.
  llvm::SmallVector<mlir::Value> sizes;
};

} // namespace alula::cuda
