// How an op is split whose operands are there in some way and whose results are
// wanted in some way: so that the least is moved and computed.
#pragma once

#include "compiler/partition/rule.h"

namespace alula::partition {

struct TensorUse {
  mlir::RankedTensorType type;
  const TensorFactors *factors;
  Sharding sharding;
  bool isResult;
};

/// For each factor of the rule how it is split: consistently, evenly, and
/// without what the op needs whole.
llvm::SmallVector<Spans> chooseFactors(mlir::Operation *op, const Rule &rule,
                                       llvm::ArrayRef<TensorUse> tensors,
                                       llvm::ArrayRef<Span> forbidden);

/// What an operand or a result is then, but for parts.
Sharding projectFactors(const Rule &rule, const TensorFactors &tensor,
                        llvm::ArrayRef<Spans> factors, int64_t rank);
/// Digits along which results are parts.
Spans getPartSpans(const Rule &rule, llvm::ArrayRef<Spans> factors);

} // namespace alula::partition
