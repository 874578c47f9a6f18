#pragma once

#include "dialect/dispatch/ops.h"
#include "dialect/plan/plan.h"

#include "mlir/Pass/Pass.h"

namespace alula::kernel {
#define GEN_PASS_DECL
#include "compiler/kernel/plan/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/kernel/plan/passes.h.inc"
} // namespace alula::kernel
