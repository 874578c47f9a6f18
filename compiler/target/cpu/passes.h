#pragma once

#include "mlir/Pass/Pass.h"

namespace alula::cpu {
#define GEN_PASS_DECL
#include "compiler/target/cpu/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/target/cpu/passes.h.inc"
} // namespace alula::cpu
