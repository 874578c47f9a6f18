#pragma once

#include "mlir/Pass/Pass.h"

namespace alula::kernel {
#define GEN_PASS_DECL
#include "compiler/kernel/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/kernel/passes.h.inc"
} // namespace alula::kernel
