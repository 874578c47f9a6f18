#pragma once

#include "compiler/kernel/lowering.h"
#include "compiler/kernel/plan/fill_order.h"

namespace alula::cpu {

/// Fills memory with a transpose of other memory, by blocks or strips that the
/// kernel library transposes.
void fillTransposed(const kernel::Filling &filling,
                    const kernel::FillOrder &order, kernel::Lowering &lowering);

} // namespace alula::cpu
