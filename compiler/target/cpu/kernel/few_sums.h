#pragma once

#include "compiler/kernel/lowering.h"

namespace alula::cpu {

/// Whether sums of products are best kept in registers, a few at a time: on
/// machines without vectors. On others a row of them is in memory, which
/// vectors go along.
bool keepsSumsInRegisters(const kernel::Lowering &lowering);

/// `body` for every index below `size`, a few neighbours at a time if their
/// number is known.
void forEachFew(kernel::Lowering &lowering, mlir::Value size,
                llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);

} // namespace alula::cpu
