// Rules of the groups of processes that collectives work in.

#include "dialect/stablehlo/replica_groups.h"

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/shape_math.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
FailureOr<std::optional<int64_t>>
verifyListedGroups(const RuleSite &site, DenseIntElementsAttr groups,
                   ReplicaGroupRules rules) {
  ShapedType type = groups.getType();
  if (type.getRank() != 2)
    return site.fail("replica_groups must be 2-dimensional: is ", type);
  if (llvm::is_contained(type.getShape(), 0)) {
    if (rules.needsGroup)
      return site.fail("replica_groups must not be empty: is ", type);
    return std::optional<int64_t>();
  }
  std::optional<int64_t> groupSize;
  if (rules.evenGroups)
    groupSize = type.getDimSize(1);

  llvm::SmallSet<int64_t, 16> seen;
  bool isSplat = groups.isSplat();
  for (int64_t id : groups.getValues<int64_t>()) {
    if (id < -1 || (id == -1 && rules.evenGroups))
      return site.fail("replica_groups must not have negative ids: has ", id);
    // Many times the same id: the first two tell everything.
    if (id == -1 && isSplat)
      return groupSize;
    if (id != -1 && !seen.insert(id).second)
      return site.fail("replica_groups must be unique: id ", id,
                       " is repeated");
  }
  if (rules.mayLeaveOut)
    return groupSize;
  for (int64_t id = 0, end = static_cast<int64_t>(seen.size()); id < end; ++id)
    if (!seen.contains(id))
      return site.fail("replica_groups must have every id below ", end, ": ",
                       id, " is missing");
  return groupSize;
}

/// The number of devices along the axes, for a mesh that stands in the
/// attribute itself.
FailureOr<std::optional<int64_t>>
verifyMeshGroups(const RuleSite &site, ReplicaGroupMeshAxesAttr groups) {
  auto mesh = dyn_cast<MeshAttr>(groups.getMesh());
  if (!mesh)
    return std::optional<int64_t>();
  std::optional<int64_t> count = 1;
  for (Attribute axis : groups.getAxes()) {
    auto ref = dyn_cast<AxisRefAttr>(axis);
    const auto *named =
        llvm::find_if(mesh.getAxes(), [&](MeshAxisAttr candidate) {
          return ref && candidate.getName() == ref.getName();
        });
    // The attribute's own verifier reports this.
    if (named == mesh.getAxes().end())
      return std::optional<int64_t>();
    int64_t size = named->getSize();
    if (SubAxisInfoAttr part = ref.getSubAxisInfo()) {
      std::optional<int64_t> reach =
          multiplySizes(part.getPreSize(), part.getSize());
      if (part.getPreSize() <= 0 || part.getSize() <= 0 || !reach ||
          size % *reach != 0)
        return site.fail("sizes of a sub-axis must divide its axis: ", ref,
                         " of an axis of size ", size);
      size = part.getSize();
    }
    if (count)
      count = multiplySizes(*count, size);
  }
  if (!count || *count <= 0)
    return site.fail("axes of replica_groups must have a positive number of "
                     "devices: do not in ",
                     groups);
  return count;
}
} // namespace

FailureOr<std::optional<int64_t>>
stablehlo::verifyReplicaGroups(const RuleSite &site, Attribute groups,
                               ReplicaGroupRules rules) {
  if (auto listed = dyn_cast<DenseIntElementsAttr>(groups))
    return verifyListedGroups(site, listed, rules);
  return verifyMeshGroups(site, cast<ReplicaGroupMeshAxesAttr>(groups));
}

LogicalResult
stablehlo::verifySourceTargetPairs(const RuleSite &site,
                                   DenseIntElementsAttr attribute) {
  auto pairs = readPairs(site, "source_target_pairs", attribute);
  if (failed(pairs))
    return failure();
  llvm::SmallSet<int64_t, 16> sources, targets;
  for (auto [source, target] : *pairs) {
    if (source < 0 || target < 0)
      return site.fail("source_target_pairs must not have negative ids: has ",
                       std::min(source, target));
    if (!sources.insert(source).second)
      return site.fail("source_target_pairs must have unique sources: ", source,
                       " is repeated");
    if (!targets.insert(target).second)
      return site.fail("source_target_pairs must have unique targets: ", target,
                       " is repeated");
  }
  return success();
}

LogicalResult
stablehlo::verifyMeshSymbol(Operation *op, Attribute groups,
                            SymbolTableCollection &symbolTables) {
  auto axes = dyn_cast_or_null<ReplicaGroupMeshAxesAttr>(groups);
  auto symbol =
      axes ? dyn_cast<SymbolRefAttr>(axes.getMesh()) : SymbolRefAttr();
  if (!symbol || symbolTables.lookupNearestSymbolFrom(op, symbol))
    return success();
  return opError(op) << "mesh of replica_groups must be defined: " << symbol
                     << " is not";
}
