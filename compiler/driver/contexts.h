#pragma once

#include "mlir/IR/MLIRContext.h"

#include <memory>

namespace alula::driver {

/// A context with all dialects of ours, for one compilation. Filling one takes
/// as long as compiling a small program, so one that has seen little waits for
/// the next compilation. What a program leaves in a context stays there: one
/// that has seen much goes.
class ContextLease {
public:
  ContextLease();
  ContextLease(const ContextLease &) = delete;
  ContextLease &operator=(const ContextLease &) = delete;
  ~ContextLease();

  mlir::MLIRContext &operator*() const { return *context; }
  /// The compilation went well, from and to so many bytes in all: the context
  /// may serve again.
  void giveBack(size_t bytes);

private:
  std::unique_ptr<mlir::MLIRContext> context;
  size_t seenBytes = 0;
};

} // namespace alula::driver
