#pragma once

#include "compiler/kernel/lowering.h"
#include "compiler/kernel/plan/row_nests.h"

namespace alula::cuda {

/// The loop over rows that several ops share, each row a warp's; false if it is
/// done in another way.
bool emitRowNest(const kernel::RowNest &nest, kernel::Lowering &lowering);

} // namespace alula::cuda
