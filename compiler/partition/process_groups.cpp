#include "compiler/partition/process_groups.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace alula::partition;

namespace {
/// The groups as they are written; none stands for one of all.
ProcessGroups readNumbers(DenseIntElementsAttr attribute, int64_t count) {
  ProcessGroups groups;
  auto type = cast<ShapedType>(attribute.getType());
  if (attribute.empty()) {
    auto &all = groups.emplace_back();
    for (int64_t i = 0; i < count; ++i)
      all.push_back(i);
    return groups;
  }
  int64_t width = type.getDimSize(1), at = 0;
  for (const APInt &number : attribute.getValues<APInt>()) {
    if (at++ % width == 0)
      groups.emplace_back();
    // -1 fills a smaller group up.
    if (!number.isNegative())
      groups.back().push_back(number.getSExtValue());
  }
  return groups;
}
} // namespace

FailureOr<ProcessGroups>
alula::partition::readGroups(Operation *op, Attribute attribute, GroupKind kind,
                             Participants participants) {
  auto numbers = dyn_cast<DenseIntElementsAttr>(attribute);
  if (!numbers)
    return op->emitOpError() << "groups by the axes of a mesh are not "
                                "implemented: "
                             << attribute;
  int64_t replicas = participants.replicas;
  int64_t partitions = participants.partitions;
  int64_t count = kind == GroupKind::Both         ? participants.count()
                  : kind == GroupKind::Partitions ? partitions
                                                  : replicas;
  ProcessGroups written = readNumbers(numbers, count);
  for (auto &group : written) {
    if (group.empty())
      return op->emitOpError()
             << "a group must have a participant: " << attribute
             << " has one of none";
    for (int64_t number : group)
      if (number >= count)
        return op->emitOpError()
               << "a group names " << number << ", the program runs on "
               << replicas << " replicas of " << partitions << " partitions";
  }
  ProcessGroups groups;
  for (auto &group : written) {
    switch (kind) {
    case GroupKind::Both:
      groups.push_back(group);
      break;
    case GroupKind::Replicas:
      for (int64_t partition = 0; partition < partitions; ++partition) {
        auto &made = groups.emplace_back();
        for (int64_t replica : group)
          made.push_back(replica * partitions + partition);
      }
      break;
    case GroupKind::Partitions:
      for (int64_t replica = 0; replica < replicas; ++replica) {
        auto &made = groups.emplace_back();
        for (int64_t partition : group)
          made.push_back(replica * partitions + partition);
      }
      break;
    case GroupKind::ReplicasAndPartitions: {
      auto &made = groups.emplace_back();
      for (int64_t partition = 0; partition < partitions; ++partition)
        for (int64_t replica : group)
          made.push_back(replica * partitions + partition);
      break;
    }
    }
  }
  return groups;
}
