#pragma once

#include "mlir/Pass/Pass.h"

namespace alula::dispatch {
#define GEN_PASS_DECL
#include "compiler/dispatch/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/dispatch/passes.h.inc"
} // namespace alula::dispatch
