#pragma once

#include "compiler/kernel/plan/row_nests.h"

namespace alula::kernel {
class Lowering;

void emitRowNest(const RowNest &nest, Lowering &lowering);

} // namespace alula::kernel
