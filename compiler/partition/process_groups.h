// Who takes part in a collective.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace alula::partition {

/// How many run the program; each is a participant, counted partition by
/// partition of replica 0, then of replica 1, and so on.
struct Participants {
  int64_t replicas = 1, partitions = 1;
  int64_t count() const { return replicas * partitions; }
};

/// What the numbers in the groups of an op count.
enum class GroupKind { Replicas, Partitions, ReplicasAndPartitions, Both };

using ProcessGroups = llvm::SmallVector<llvm::SmallVector<int64_t>>;

/// The groups as participants; an error if they name others.
mlir::FailureOr<ProcessGroups> readGroups(mlir::Operation *op,
                                          mlir::Attribute groups,
                                          GroupKind kind,
                                          Participants participants);

} // namespace alula::partition
