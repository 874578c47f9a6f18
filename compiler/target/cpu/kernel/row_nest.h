#pragma once

#include "compiler/kernel/plan/row_nests.h"

namespace alula::kernel {
class Lowering;
} // namespace alula::kernel

namespace alula::cpu {

void emitRowNest(const kernel::RowNest &nest, kernel::Lowering &lowering);

} // namespace alula::cpu
