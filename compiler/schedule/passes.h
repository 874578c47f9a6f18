#pragma once

#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace alula::schedule {
#define GEN_PASS_DECL
#include "compiler/schedule/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/schedule/passes.h.inc"
} // namespace alula::schedule
