#pragma once

#include "compiler/objects/options.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace alula::objects {

/// Attaches files as objects, to be read by `embedObjects`.
mlir::LogicalResult substituteExecutables(mlir::ModuleOp program,
                                          const Substitutions &substitutions,
                                          bool missingIsError);

} // namespace alula::objects
