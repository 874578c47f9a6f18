#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace alula::schedule {
#define GEN_PASS_DECL
#include "compiler/schedule/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/schedule/passes.h.inc"
} // namespace alula::schedule
