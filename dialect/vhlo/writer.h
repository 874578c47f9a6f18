#pragma once

#include "dialect/vhlo/version.h"

#include "mlir/IR/BuiltinOps.h"

namespace alula::vhlo {

struct WriteOptions {
  /// The version whose readers shall understand the artifact.
  Version target = Version::current();
  /// Carry operations and attributes of other dialects along (sdy above all).
  /// They are not portable: only a reader with the same dialect has them.
  bool allowOtherDialects = false;
};

/// Writes a module of StableHLO and func operations as a portable artifact.
/// What the target version can't say is an error that names the operation and
/// the version that it needs. Equal modules give equal bytes.
mlir::LogicalResult writePortable(mlir::ModuleOp module,
                                  const WriteOptions &options,
                                  std::string &bytes);

/// The lowest version that can say a module.
mlir::FailureOr<Version> lowestVersion(mlir::ModuleOp module,
                                       bool allowOtherDialects = false);

} // namespace alula::vhlo
