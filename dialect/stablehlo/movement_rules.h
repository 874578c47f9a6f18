#pragma once

#include "dialect/stablehlo/rule_site.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace mlir::stablehlo {

// Rules of ops that move elements without computing, where the static and the
// dynamic form of an op share them.

/// The result's element type is the operand's; of one quantized per axis, the
/// axis may be another.
LogicalResult verifyKeptElementType(const RuleSite &site, Type operand,
                                    Type result);

/// Operand dimension `d` becomes dimension `dimensions[d]` of the result.
/// `resultIsKnown` says that an unknown size of the result has to come from the
/// operand, so that a known one can't be behind it.
LogicalResult verifyBroadcast(const RuleSite &site, RankedTensorType operand,
                              ArrayRef<int64_t> dimensions,
                              RankedTensorType result, bool resultIsKnown);

/// Operand and result have the same elements in the same order.
LogicalResult verifyReshape(const RuleSite &site, RankedTensorType operand,
                            RankedTensorType result);

/// `dims` has one entry for each dimension of `type`, and if it is a constant,
/// its sizes are those of `type`. `name` is what messages call it.
LogicalResult verifyShapeOperand(const RuleSite &site, StringRef name,
                                 Value dims, RankedTensorType type);

} // namespace mlir::stablehlo
