#pragma once

#include "dialect/dispatch/attention.h"

namespace alula::kernel {

/// The attentions of a block that workgroups compute, each in one launch.
struct Attentions {
  std::vector<dispatch::Attention> all;
  llvm::DenseMap<mlir::Operation *, size_t> numberOf;

  /// Null for an op that is in none.
  const dispatch::Attention *find(mlir::Operation *op) const {
    auto found = numberOf.find(op);
    return found == numberOf.end() ? nullptr : &all[found->second];
  }
  void add(dispatch::Attention attention);
};

Attentions planAttentions(mlir::Block &block);

} // namespace alula::kernel
