#include "reference/process_group.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;

namespace alula::reference {
namespace {

using Lists = std::vector<std::vector<int64_t>>;

/// Rows of a two-dimensional attribute; -1 pads short rows.
FailureOr<Lists> readRows(const OpCall &call, llvm::StringRef name) {
  auto elements = call.op->getAttrOfType<DenseIntElementsAttr>(name);
  if (!elements)
    return call.error() << name << " must be a tensor of integers";
  ShapedType type = elements.getType();
  int64_t columns = type.getRank() == 2 ? type.getDimSize(1)
                                        : type.getNumElements();
  Lists rows;
  int64_t at = 0;
  for (const llvm::APInt &value : elements.getValues<llvm::APInt>()) {
    if (at++ % columns == 0)
      rows.emplace_back();
    if (value.getSExtValue() != -1)
      rows.back().push_back(value.getSExtValue());
  }
  return rows;
}

/// The mesh that an attribute or the symbol that it names describes.
stablehlo::MeshAttr findMesh(const OpCall &call, Attribute attribute) {
  if (auto mesh = dyn_cast<stablehlo::MeshAttr>(attribute))
    return mesh;
  auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute);
  if (!symbol)
    return {};
  auto it = call.evaluator.program.symbols.find(symbol.getValue());
  if (it == call.evaluator.program.symbols.end())
    return {};
  return it->second->getAttrOfType<stablehlo::MeshAttr>("mesh");
}

/// Groups that run along some axes of a mesh.
FailureOr<Lists>
readMeshAxes(const OpCall &call,
             stablehlo::ReplicaGroupMeshAxesAttr attribute) {
  stablehlo::MeshAttr mesh = findMesh(call, attribute.getMesh());
  if (!mesh)
    return call.error() << "replica_groups must name a mesh, it names "
                        << attribute.getMesh();
  // Every axis cut at the borders of the sub-axes that are named.
  struct Part {
    llvm::StringRef axis;
    int64_t before, size;
  };
  llvm::SmallVector<Part> named;
  for (Attribute axis : attribute.getAxes()) {
    auto ref = dyn_cast<stablehlo::AxisRefAttr>(axis);
    if (!ref)
      return call.error() << "axes must be axis references";
    Part part{ref.getName(), 1, 0};
    if (auto sub = ref.getSubAxisInfo())
      part = {ref.getName(), sub.getPreSize(), sub.getSize()};
    named.push_back(part);
  }
  Dims sizes;
  llvm::SmallVector<Part> parts;
  for (stablehlo::MeshAxisAttr axis : mesh.getAxes()) {
    llvm::SmallVector<int64_t> borders = {1, axis.getSize()};
    for (Part &part : named) {
      if (part.axis != axis.getName())
        continue;
      if (part.size == 0)
        part.size = axis.getSize();
      borders.push_back(part.before);
      borders.push_back(part.before * part.size);
    }
    llvm::sort(borders);
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    for (size_t k = 0; k + 1 < borders.size(); ++k) {
      if (borders[k] < 1 || borders[k + 1] % borders[k] != 0)
        return call.error() << "sub-axes of " << axis.getName()
                            << " do not divide its size " << axis.getSize();
      parts.push_back({axis.getName(), borders[k],
                       borders[k + 1] / borders[k]});
      sizes.push_back(parts.back().size);
    }
    if (borders.size() == 1) {
      parts.push_back({axis.getName(), 1, 1});
      sizes.push_back(1);
    }
  }
  std::optional<int64_t> count = getNumElements(sizes);
  if (!count || *count > (1 << 20))
    return call.error() << "the mesh is too large";
  std::vector<int64_t> ids(static_cast<size_t>(*count));
  for (size_t k = 0; k < ids.size(); ++k)
    ids[k] = int64_t(k);
  if (auto given = mesh.getDeviceIds()) {
    if (given.getNumElements() != *count)
      return call.error() << "the mesh has " << *count << " places for "
                          << given.getNumElements() << " devices";
    size_t k = 0;
    for (const llvm::APInt &id : given.getValues<llvm::APInt>())
      ids[k++] = id.getSExtValue();
  }
  // Axes in the order they are named move inside a group, the others outside.
  Dims inner, innerStrides, outer, outerStrides, strides = getStrides(sizes);
  llvm::SmallVector<bool> used(parts.size(), false);
  for (const Part &wanted : named)
    for (size_t k = 0; k < parts.size(); ++k)
      if (parts[k].axis == wanted.axis && !used[k] &&
          parts[k].before >= wanted.before &&
          parts[k].before * parts[k].size <= wanted.before * wanted.size) {
        used[k] = true;
        inner.push_back(sizes[k]);
        innerStrides.push_back(strides[k]);
      }
  for (size_t k = 0; k < parts.size(); ++k)
    if (!used[k]) {
      outer.push_back(sizes[k]);
      outerStrides.push_back(strides[k]);
    }
  Lists groups;
  for (BoxWalk group(outer); !group.isDone(); group.next()) {
    groups.emplace_back();
    for (BoxWalk member(inner); !member.isDone(); member.next())
      groups.back().push_back(
          ids[size_t(dotIndex(group.getIndex(), outerStrides) +
                     dotIndex(member.getIndex(), innerStrides))]);
  }
  return groups;
}

/// One group of ids as processes, `fixed` being the coordinate that the
/// strategy keeps.
FailureOr<ProcessGroup> makeGroup(const OpCall &call, const Grid &grid,
                                  GroupStrategy strategy,
                                  llvm::ArrayRef<int64_t> ids,
                                  uint32_t fixed) {
  ProcessGroup group;
  int64_t limit = 0;
  switch (strategy) {
  case GroupStrategy::CrossReplica:
  case GroupStrategy::CrossReplicaAndPartition:
    limit = grid.replicas;
    break;
  case GroupStrategy::CrossPartition:
    limit = grid.partitions;
    break;
  case GroupStrategy::FlattenedIds:
    limit = int64_t(grid.replicas) * grid.partitions;
    break;
  }
  for (int64_t id : ids) {
    if (id < 0 || id >= limit)
      return call.error() << "id " << id << " of a process group must be below "
                          << limit << ", the size of the grid";
    switch (strategy) {
    case GroupStrategy::CrossReplica:
    case GroupStrategy::CrossReplicaAndPartition:
      group.push_back({uint32_t(id), fixed});
      break;
    case GroupStrategy::CrossPartition:
      group.push_back({fixed, uint32_t(id)});
      break;
    case GroupStrategy::FlattenedIds:
      group.push_back({uint32_t(id / grid.partitions),
                       uint32_t(id % grid.partitions)});
      break;
    }
  }
  return group;
}

FailureOr<std::vector<ProcessGroup>> makeGroups(const OpCall &call,
                                                GroupStrategy strategy,
                                                const Lists &lists) {
  Grid &grid = call.evaluator.process->grid;
  std::vector<ProcessGroup> groups;
  for (const std::vector<int64_t> &ids : lists) {
    uint32_t copies = 1;
    if (strategy == GroupStrategy::CrossReplica ||
        strategy == GroupStrategy::CrossReplicaAndPartition)
      copies = grid.partitions;
    else if (strategy == GroupStrategy::CrossPartition)
      copies = grid.replicas;
    ProcessGroup joined;
    for (uint32_t fixed = 0; fixed < copies; ++fixed) {
      FailureOr<ProcessGroup> group =
          makeGroup(call, grid, strategy, ids, fixed);
      if (failed(group))
        return failure();
      if (strategy == GroupStrategy::CrossReplicaAndPartition)
        joined.insert(joined.end(), group->begin(), group->end());
      else
        groups.push_back(std::move(*group));
    }
    if (strategy == GroupStrategy::CrossReplicaAndPartition)
      groups.push_back(std::move(joined));
  }
  return groups;
}

} // namespace

FailureOr<std::vector<ProcessGroup>> getProcessGroups(const OpCall &call,
                                                      GroupStrategy strategy) {
  FailureOr<Lists> lists = failure();
  if (auto axes = call.op->getAttrOfType<stablehlo::ReplicaGroupMeshAxesAttr>(
          "replica_groups"))
    lists = readMeshAxes(call, axes);
  else
    lists = readRows(call, "replica_groups");
  if (failed(lists))
    return failure();
  // No groups: everybody in one.
  bool empty = llvm::all_of(*lists, [](auto &row) { return row.empty(); });
  if (empty) {
    Grid &grid = call.evaluator.process->grid;
    int64_t count = grid.replicas;
    if (strategy == GroupStrategy::CrossPartition)
      count = grid.partitions;
    else if (strategy == GroupStrategy::FlattenedIds)
      count = int64_t(grid.replicas) * grid.partitions;
    lists->assign(1, {});
    for (int64_t k = 0; k < count; ++k)
      lists->front().push_back(k);
  }
  return makeGroups(call, strategy, *lists);
}

FailureOr<std::vector<ProcessGroup>> getProcessPairs(const OpCall &call,
                                                     GroupStrategy strategy) {
  FailureOr<Lists> lists = readRows(call, "source_target_pairs");
  if (failed(lists))
    return failure();
  for (const std::vector<int64_t> &pair : *lists)
    if (pair.size() != 2)
      return call.error() << "source_target_pairs must be pairs";
  return makeGroups(call, strategy, *lists);
}

} // namespace alula::reference
