// Arrays whose pieces lie on devices in any order: the whole from the pieces,
// and the piece of a device from the whole. For what digits say there is
// `reshard.h`.
#pragma once

#include "compiler/partition/placement.h"

#include "mlir/IR/PatternMatch.h"

namespace alula::partition {

/// Builds ops where `rewriter` stands.
class Pieces {
public:
  Pieces(mlir::IRRewriter &rewriter, int64_t devices)
      : rewriter(rewriter), devices(devices) {}

  /// The array that each device has a piece of.
  mlir::Value gather(mlir::Value piece, const Placement &placement);
  /// This device's piece of a whole array. Errors are those of `op`.
  mlir::FailureOr<mlir::Value> localize(mlir::Operation *op, mlir::Value whole,
                                        const Placement &placement);

private:
  mlir::Value addUp(mlir::Value part, const Placement &placement);
  mlir::Value keepOnce(mlir::Value piece, mlir::Value id,
                       const Placement &placement);
  mlir::Value makeStart(mlir::Location location, mlir::Value id,
                        const Placement &placement, size_t dim, int64_t size);
  mlir::DenseIntElementsAttr
  makeGroups(llvm::ArrayRef<llvm::SmallVector<int64_t>> groups);

  mlir::IRRewriter &rewriter;
  int64_t devices;
};

} // namespace alula::partition
