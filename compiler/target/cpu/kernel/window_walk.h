#pragma once

#include "compiler/kernel/element/window_axis.h"
#include "compiler/kernel/lowering.h"

// Windows that slide over a tensor: reduce_window and select_and_scatter.
// Places in the padding, or in a hole between elements, are left out.

namespace alula::cpu {

using WindowStep = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::ValueRange position, mlir::ValueRange carried)>;

/// For every element of `input` under the window at `place`, in order. Has
/// fewer axes than `input` if the last ones are left to the caller; `position`
/// then has as few.
llvm::SmallVector<mlir::Value>
walkWindow(mlir::Value input, llvm::ArrayRef<kernel::WindowAxis> window,
           mlir::ValueRange place, mlir::ValueRange initial,
           kernel::Lowering &lowering, WindowStep step);

} // namespace alula::cpu
