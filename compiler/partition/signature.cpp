#include "compiler/partition/signature.h"

#include "compiler/partition/gspmd_text.h"
#include "compiler/partition/reshard.h"

using namespace mlir;

namespace alula::partition {

LogicalResult readPlacement(Operation *op, sdy::TensorShardingAttr sharding,
                            const ShardingReader &reader,
                            function_ref<bool(StringRef)> isWanted,
                            Placement &placement) {
  placement = Placement();
  if (failed(reader.check(op, sharding)))
    return failure();
  sdy::MeshAttr mesh = sharding.lookupMesh(op);
  // On one device, or nowhere in particular.
  if (!mesh.isMaximal() && !mesh.isEmpty())
    placement = makePlacement(sharding, mesh, isWanted);
  return success();
}

static bool hasSharding(DictionaryAttr attributes) {
  return attributes && (attributes.contains(sdy::shardingAttrName) ||
                        attributes.contains(gspmdName));
}

LogicalResult readSignature(func::FuncOp function, DictionaryAttr attributes,
                            RankedTensorType type, int64_t devices,
                            const ShardingReader &reader,
                            Placement &placement) {
  placement = Placement();
  if (!hasSharding(attributes))
    return success();
  if (auto sharding =
          attributes.getAs<sdy::TensorShardingAttr>(sdy::shardingAttrName))
    return readPlacement(
        function, sharding, reader, [](StringRef) { return true; }, placement);
  auto text = attributes.getAs<StringAttr>(gspmdName);
  auto known = text ? readGspmdText(text.getValue(),
                                    static_cast<unsigned>(type.getRank()),
                                    function.getContext())
                    : std::nullopt;
  if (!known || (!known->isWhole() && known->mesh.getDeviceCount() != devices))
    return function.emitOpError()
           << "arrays of type " << type << " on " << devices
           << " devices can't lie as " << attributes.get(gspmdName);
  placement = *known;
  return success();
}

/// Memory that no result can take stays with whoever offers it.
static void dropDonors(func::FuncOp function) {
  auto getSize = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape()
               ? getBytes(tensor, Sharding(tensor.getRank()))
               : -1;
  };
  SmallVector<int64_t> free(
      llvm::map_range(function.getResultTypes(), getSize));
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto alias =
            function.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output"))
      if (auto result = static_cast<size_t>(alias.getInt());
          result < free.size())
        free[result] = -1;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (!function.getArgAttr(i, "jax.buffer_donor"))
      continue;
    auto *found = llvm::find(free, getSize(function.getArgumentTypes()[i]));
    if (found == free.end())
      function.removeArgAttr(i, "jax.buffer_donor");
    else
      *found = -1;
  }
}

void keepAliases(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto alias =
        function.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output");
    if (!alias)
      continue;
    auto result = static_cast<unsigned>(alias.getInt());
    if (result < function.getNumResults() &&
        function.getArgumentTypes()[i] == function.getResultTypes()[result])
      continue;
    function.removeArgAttr(i, "tf.aliasing_output");
    function.setArgAttr(i, "jax.buffer_donor",
                        BoolAttr::get(function.getContext(), true));
  }
  dropDonors(function);
}

} // namespace alula::partition
