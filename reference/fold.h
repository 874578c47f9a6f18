// Folding many values into each of up to laneCount accumulators at a time with
// a region: what reduce, reduce_window and the reducing collectives share.
#pragma once

#include "reference/scalar_body.h"

namespace alula::reference {

class Fold {
public:
  /// A fold over `numInputs` values at a time. `initial` has the 0-d tensors to
  /// start from. Checks that the region fits.
  static mlir::FailureOr<Fold> prepare(const OpCall &call,
                                       mlir::Region &region,
                                       llvm::ArrayRef<Tensor> initial);

  mlir::Type getResultType(size_t k) const { return body.getResultType(k); }
  Kind getResultKind(size_t k) const { return body.getResultKind(k); }

  /// Puts the initial values into n accumulators.
  void start(size_t n);
  /// Where the caller puts the next values of input k.
  Cell *getNext(size_t k) { return values.data() + k * laneCount; }
  const Cell &getInitial(size_t k) const { return initial[k]; }
  const Cell *getAccumulator(size_t k) const {
    return accumulators.data() + k * laneCount;
  }
  Cell *getAccumulator(size_t k) {
    return accumulators.data() + k * laneCount;
  }
  /// accumulators = body(accumulators, next values)
  mlir::LogicalResult step(size_t n) { return body.run(n, inputs, outputs); }

private:
  explicit Fold(ScalarBody body) : body(std::move(body)) {}
  ScalarBody body;
  std::vector<Cell> initial, accumulators, values;
  llvm::SmallVector<const Cell *> inputs;
  llvm::SmallVector<Cell *> outputs;
};

} // namespace alula::reference
