#pragma once

#include "dialect/stablehlo/ops.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace alula::partition {
#define GEN_PASS_DECL
#include "compiler/partition/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/partition/passes.h.inc"
} // namespace alula::partition
