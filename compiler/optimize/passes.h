#pragma once

#include "mlir/Pass/Pass.h"

namespace alula::optimize {
#define GEN_PASS_DECL
#include "compiler/optimize/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/optimize/passes.h.inc"
} // namespace alula::optimize
