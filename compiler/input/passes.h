#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/input/passes.h.inc"
} // namespace alula::input
