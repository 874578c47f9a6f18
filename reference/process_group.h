// How collectives split the grid into groups.
#pragma once

#include "reference/process.h"

namespace alula::reference {

enum class GroupStrategy : uint8_t {
  CrossReplica,
  CrossPartition,
  CrossReplicaAndPartition,
  FlattenedIds,
};

/// The groups of a collective's `replica_groups`, as the specification's
/// strategy of that name builds them; reports what does not fit the grid.
mlir::FailureOr<std::vector<ProcessGroup>>
getProcessGroups(const OpCall &call, GroupStrategy strategy);

/// Pairs of `source_target_pairs` as processes.
mlir::FailureOr<std::vector<ProcessGroup>>
getProcessPairs(const OpCall &call, GroupStrategy strategy);

} // namespace alula::reference
