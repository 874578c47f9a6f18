#pragma once

#include "dialect/sdy/axis_span.h"

#include "mlir/IR/Diagnostics.h"

namespace mlir::sdy {

/// Begins an error that names the op and the value; the rule and the actual
/// values follow.
using ErrorReporter = llvm::function_ref<InFlightDiagnostic()>;

/// Each axis is in the mesh, parts of axes are possible ones, nothing overlaps
/// what is in `seen`, and no two neighbours could be written as one. Adds the
/// axes to `seen`.
llvm::LogicalResult verifyAxes(llvm::ArrayRef<AxisRefAttr> axes, MeshAttr mesh,
                               AxisSpans &seen, ErrorReporter report);

/// The same, and the axes are in the order of the mesh.
llvm::LogicalResult verifySortedAxes(llvm::ArrayRef<AxisRefAttr> axes,
                                     MeshAttr mesh, AxisSpans &seen,
                                     llvm::StringRef kind,
                                     ErrorReporter report);

/// `sharding` fits a value of `type` at `op`: the mesh is there, the rank is
/// right, the axes are good and none of them belongs to a manual computation
/// around `op`.
llvm::LogicalResult verifySharding(TensorShardingAttr sharding, Type type,
                                   Operation *op, ErrorReporter report);

/// One good sharding for each of `types`; `kind` says in errors what they are.
llvm::LogicalResult verifyShardings(TensorShardingPerValueAttr shardings,
                                    TypeRange types, Operation *op,
                                    llvm::StringRef kind);

/// The sharding that stands at the definition of `value`, or null: at the op
/// or function argument, or at a region op of this dialect.
TensorShardingAttr findSharding(Value value);

} // namespace mlir::sdy
