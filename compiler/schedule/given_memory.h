#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace alula::schedule {

/// The argument whose memory result `result` of `function` takes over, or
/// nothing. Static types only: another size would not fit.
std::optional<unsigned> getAliasedArgument(mlir::func::FuncOp function,
                                           unsigned result);

/// The global that an argument or a result of an entry stands for, or nothing.
mlir::FlatSymbolRefAttr getGlobalOfArgument(mlir::func::FuncOp function,
                                            unsigned argument);
mlir::FlatSymbolRefAttr getGlobalOfResult(mlir::func::FuncOp function,
                                          unsigned result);

/// The operand of a launch or a call that a result takes the memory of.
std::optional<unsigned> getInPlaceOperand(mlir::OpResult result);

/// Whether a loop hands a value on as it got it, from the first to the last
/// iteration.
bool isInvariant(mlir::Operation *whileOp, unsigned number);

} // namespace alula::schedule
