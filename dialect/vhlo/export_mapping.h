#pragma once

#include "dialect/vhlo/op_table.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace alula::vhlo {

/// The attributes of an operation as the portable form names and holds them
/// (though still as builtin and StableHLO attributes): one for each row of its
/// spec, with defaults filled in. Names that were taken are in `taken`.
mlir::LogicalResult
mapToPortable(mlir::Operation *op, const OpSpec &spec,
              llvm::SmallVectorImpl<mlir::Attribute> &values,
              llvm::SmallPtrSetImpl<mlir::StringAttr> &taken);

} // namespace alula::vhlo
