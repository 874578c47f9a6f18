#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace alula::schedule {

/// For each result of `function` the argument whose memory it takes over, or
/// nothing. Static types only: another size would not fit.
llvm::SmallVector<std::optional<unsigned>>
getAliasedArguments(mlir::func::FuncOp function);

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
