#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace alula::driver {
#define GEN_PASS_DECL
#include "compiler/driver/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/driver/passes.h.inc"
} // namespace alula::driver
