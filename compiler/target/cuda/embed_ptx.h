#pragma once

#include "compiler/objects/target_key.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace alula::cuda {

/// The key of "sm_80"; an error if it names no device.
llvm::Expected<objects::TargetKey> findDevice(llvm::StringRef name);

/// Adds a `dispatch.variant` with the PTX of every executable: each must have
/// brought one, as there is no code generator of ours.
mlir::LogicalResult generateVariant(mlir::ModuleOp module,
                                    const objects::TargetKey &key);

} // namespace alula::cuda
