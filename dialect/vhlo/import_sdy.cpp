#include "dialect/vhlo/import_nodes.h"

#include "dialect/sdy/dialect.h"

using namespace mlir;

namespace alula::vhlo {

static SmallVector<int64_t> toSigned(std::span<const uint64_t> words) {
  SmallVector<int64_t> result;
  for (uint64_t word : words)
    result.push_back(int64_t(word));
  return result;
}

Attribute NodeImporter::importTensorSharding(const Node &node) {
  namespace shard = mlir::sdy;
  Fields fields(artifact, node);
  Attribute mesh = attribute(fields.take());
  if (!isa<shard::MeshAttr, FlatSymbolRefAttr>(mesh)) {
    error(node) << "expected a mesh or its name, found " << mesh;
    return {};
  }
  SmallVector<shard::DimensionShardingAttr> dims;
  SmallVector<shard::AxisRefAttr> replicated;
  SmallVector<shard::AxisRefAttr> unreduced;
  if (!expectAll(node, fields.takeList(), "a dimension's sharding", dims) ||
      !expectAll(node, fields.takeList(), "an axis", replicated))
    return {};
  sdy::Attr code = sdy::Attr(node.code);
  if (code != sdy::Attr::TensorSharding &&
      !expectAll(node, fields.takeList(), "an axis", unreduced))
    return {};
  auto reduction = shard::ReductionOp::SUM;
  if (code == sdy::Attr::ReducedTensorSharding) {
    uint64_t number = fields.take();
    auto known = shard::symbolizeReductionOp(
        uint32_t(std::min<uint64_t>(number, UINT32_MAX)));
    if (!known) {
      error(node) << "unknown reduction " << int64_t(number);
      return {};
    }
    reduction = *known;
  }
  return shard::TensorShardingAttr::get(context, mesh, dims, replicated,
                                        unreduced, reduction);
}

Attribute NodeImporter::importSdyAttribute(const Node &node) {
  namespace shard = mlir::sdy;
  Fields fields(artifact, node);
  auto emitError = [&] { return error(node); };
  function_ref<InFlightDiagnostic()> emit = emitError;
  // An attribute that is nothing but a list of others.
  auto list = [&](auto element, auto result, const char *what) -> Attribute {
    SmallVector<decltype(element)> elements;
    if (!expectAll(node, fields.takeList(), what, elements))
      return {};
    return decltype(result)::get(context, elements);
  };
  switch (sdy::Attr(node.code)) {
  case sdy::Attr::ManualAxes:
    return list(StringAttr(), shard::ManualAxesAttr(), "an axis' name");
  case sdy::Attr::MeshAxis: {
    std::string_view name = artifact.strings[size_t(fields.take())];
    return shard::MeshAxisAttr::getChecked(emit, context, StringRef(name),
                                           fields.takeSigned());
  }
  case sdy::Attr::Mesh: {
    SmallVector<shard::MeshAxisAttr> axes;
    if (!expectAll(node, fields.takeList(), "a mesh axis", axes))
      return {};
    return shard::MeshAttr::getChecked(
        emit, context, ArrayRef(axes),
        ArrayRef<int64_t>(toSigned(fields.takeList())));
  }
  case sdy::Attr::SubAxisInfo: {
    int64_t preSize = fields.takeSigned();
    return shard::SubAxisInfoAttr::get(context, preSize, fields.takeSigned());
  }
  case sdy::Attr::AxisRef: {
    std::string_view name = artifact.strings[size_t(fields.take())];
    shard::SubAxisInfoAttr part;
    if (fields.take() && !(part = expect<shard::SubAxisInfoAttr>(
                               node, fields.take(), "a part of an axis")))
      return {};
    return shard::AxisRefAttr::get(context, name, part);
  }
  case sdy::Attr::DimensionSharding: {
    SmallVector<shard::AxisRefAttr> axes;
    if (!expectAll(node, fields.takeList(), "an axis", axes))
      return {};
    bool isClosed = fields.take() != 0;
    // The lowest bit says whether there is a priority.
    uint64_t word = fields.take();
    std::optional<int64_t> priority;
    if (word & 1)
      priority = int64_t(word >> 1);
    return shard::DimensionShardingAttr::get(context, axes, isClosed, priority);
  }
  case sdy::Attr::TensorSharding:
  case sdy::Attr::UnreducedTensorSharding:
  case sdy::Attr::ReducedTensorSharding:
    return importTensorSharding(node);
  case sdy::Attr::TensorShardingPerValue:
  case sdy::Attr::UnreducedPerValue:
    return list(shard::TensorShardingAttr(),
                shard::TensorShardingPerValueAttr(), "a sharding");
  case sdy::Attr::DimMapping:
    return shard::DimMappingAttr::get(context, toSigned(fields.takeList()));
  case sdy::Attr::TensorMapping:
    return list(shard::DimMappingAttr(), shard::TensorMappingAttr(),
                "a dimension's mapping");
  case sdy::Attr::OpShardingRule: {
    SmallVector<int64_t> sizes = toSigned(fields.takeList());
    SmallVector<shard::TensorMappingAttr> operands;
    SmallVector<shard::TensorMappingAttr> results;
    if (!expectAll(node, fields.takeList(), "a tensor's mapping", operands) ||
        !expectAll(node, fields.takeList(), "a tensor's mapping", results))
      return {};
    SmallVector<int64_t> reduction = toSigned(fields.takeList());
    SmallVector<int64_t> replication = toSigned(fields.takeList());
    SmallVector<int64_t> permutation = toSigned(fields.takeList());
    SmallVector<int64_t> blocked = toSigned(fields.takeList());
    return shard::OpShardingRuleAttr::get(context, sizes, operands, results,
                                          reduction, replication, permutation,
                                          blocked, fields.take() != 0);
  }
  case sdy::Attr::AxisRefList:
    return list(shard::AxisRefAttr(), shard::AxisRefListAttr(), "an axis");
  case sdy::Attr::ListOfAxisRefLists:
    return list(shard::AxisRefListAttr(), shard::ListOfAxisRefListsAttr(),
                "a list of axes");
  case sdy::Attr::AllToAllParam: {
    SmallVector<shard::AxisRefAttr> axes;
    if (!expectAll(node, fields.takeList(), "an axis", axes))
      return {};
    int64_t from = fields.takeSigned();
    return shard::AllToAllParamAttr::get(context, axes, from,
                                         fields.takeSigned());
  }
  case sdy::Attr::AllToAllParamList:
    return list(shard::AllToAllParamAttr(), shard::AllToAllParamListAttr(),
                "parameters of an exchange");
  }
  return {};
}

} // namespace alula::vhlo
