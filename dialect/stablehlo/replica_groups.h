#pragma once

#include "dialect/stablehlo/rule_site.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::stablehlo {

/// What a collective asks of its replica groups beyond unique ids.
struct ReplicaGroupRules {
  /// All groups have as many members as the attribute has columns. Otherwise
  /// -1 fills up smaller ones.
  bool evenGroups = false;
  /// There is at least one group. Otherwise no group stands for one of all.
  bool needsGroup = false;
  /// Some processes may be in no group.
  bool mayLeaveOut = false;
};

/// Checks groups that are listed as ids or said by mesh axes. Returns the
/// number of members of a group, nothing if it is not known here.
FailureOr<std::optional<int64_t>>
verifyReplicaGroups(const RuleSite &site, Attribute groups,
                    ReplicaGroupRules rules);

/// Pairs of processes that send to each other: no process sends or receives
/// twice.
LogicalResult verifySourceTargetPairs(const RuleSite &site,
                                      DenseIntElementsAttr pairs);

/// The mesh that replica groups name by a symbol exists.
LogicalResult verifyMeshSymbol(Operation *op, Attribute groups,
                               SymbolTableCollection &symbolTables);

} // namespace mlir::stablehlo
