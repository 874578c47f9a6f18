#include "compiler/partition/placement.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace alula::partition;

int64_t alula::partition::getDevice(sdy::MeshAttr mesh, int64_t position) {
  auto ids = mesh.getDeviceIds();
  return ids.empty() ? position : ids[static_cast<size_t>(position)];
}

namespace {
/// What one axis, or a part of one, adds to positions: the last axis is the
/// fastest.
struct Digit {
  int64_t stride, size;
  int64_t get(int64_t position) const { return position / stride % size; }
};

Digit getDigit(sdy::MeshAttr mesh, sdy::AxisRefAttr axis) {
  int64_t stride = 1;
  for (sdy::MeshAxisAttr other : llvm::reverse(mesh.getAxes())) {
    if (other.getName() != axis.getName()) {
      stride *= other.getSize();
      continue;
    }
    // A part of an axis: what is to the right of it comes first.
    int64_t size = axis.getSize(mesh);
    if (auto part = axis.getSubAxisInfo())
      stride *= other.getSize() / (part.getPreSize() * size);
    return {stride, size};
  }
  return {1, 1};
}
} // namespace

bool Placement::isWhole() const {
  return unreduced.empty() &&
         llvm::all_of(dims, [](auto &axes) { return axes.empty(); });
}

bool Placement::operator==(const Placement &other) const {
  return dims == other.dims && unreduced == other.unreduced &&
         (mesh == other.mesh || isWhole());
}

int64_t Placement::countShards(const Axes &axes) const {
  int64_t count = 1;
  for (sdy::AxisRefAttr axis : axes)
    count *= getDigit(mesh, axis).size;
  return count;
}

int64_t Placement::getShard(const Axes &axes, int64_t position) const {
  int64_t shard = 0;
  for (sdy::AxisRefAttr axis : axes) {
    Digit digit = getDigit(mesh, axis);
    shard = shard * digit.size + digit.get(position);
  }
  return shard;
}

SmallVector<SmallVector<int64_t>> Placement::getGroups(const Axes &axes) const {
  llvm::MapVector<int64_t, SmallVector<int64_t>> groups;
  for (int64_t at = 0, count = mesh.getDeviceCount(); at < count; ++at) {
    int64_t first = at;
    for (sdy::AxisRefAttr axis : axes) {
      Digit digit = getDigit(mesh, axis);
      first -= digit.get(at) * digit.stride;
    }
    auto &group = groups[first];
    group.resize(static_cast<size_t>(countShards(axes)));
    group[static_cast<size_t>(getShard(axes, at))] = getDevice(mesh, at);
  }
  SmallVector<SmallVector<int64_t>> list;
  for (auto &[first, group] : groups)
    list.push_back(std::move(group));
  return list;
}

RankedTensorType Placement::getLocalType(RankedTensorType whole) const {
  SmallVector<int64_t> shape(whole.getShape());
  for (auto [dim, axes] : llvm::enumerate(dims)) {
    if (axes.empty())
      continue;
    int64_t count = countShards(axes);
    if (ShapedType::isDynamic(shape[dim]) || shape[dim] % count)
      return nullptr;
    shape[dim] /= count;
  }
  return whole.clone(shape);
}

RankedTensorType Placement::getWholeType(RankedTensorType local) const {
  SmallVector<int64_t> shape(local.getShape());
  for (auto [dim, axes] : llvm::enumerate(dims))
    if (!axes.empty())
      shape[dim] *= countShards(axes);
  return local.clone(shape);
}

std::string Placement::printForXla() const {
  if (isWhole())
    return "{replicated}";
  int64_t devices = mesh.getDeviceCount(), tiles = 1;
  for (const Axes &axes : dims)
    tiles *= countShards(axes);
  int64_t parts = countShards(unreduced), copies = devices / tiles / parts;
  // Devices by their tile, then by their copy, then by their part.
  std::vector<std::vector<std::vector<int64_t>>> holders(
      static_cast<size_t>(tiles),
      std::vector<std::vector<int64_t>>(static_cast<size_t>(parts)));
  for (int64_t at = 0; at < devices; ++at) {
    int64_t tile = 0;
    for (const Axes &axes : dims)
      tile = tile * countShards(axes) + getShard(axes, at);
    holders[static_cast<size_t>(tile)]
           [static_cast<size_t>(getShard(unreduced, at))]
               .push_back(getDevice(mesh, at));
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{devices=[";
  llvm::interleave(
      dims, os, [&](const Axes &axes) { os << countShards(axes); }, ",");
  if (copies > 1)
    os << (dims.empty() ? "" : ",") << copies;
  if (parts > 1)
    os << (dims.empty() && copies == 1 ? "" : ",") << parts;
  os << "]";
  bool isFirst = true;
  for (auto &tile : holders)
    for (size_t copy = 0; copy < static_cast<size_t>(copies); ++copy)
      for (auto &part : tile) {
        os << (isFirst ? "" : ",") << part[copy];
        isFirst = false;
      }
  if (parts > 1)
    os << " last_tile_dims={" << (copies > 1 ? "replicated, " : "")
       << "unreduced}";
  else if (copies > 1)
    os << " last_tile_dim_replicate";
  os << "}";
  return text;
}

Placement
alula::partition::makePlacement(sdy::TensorShardingAttr sharding,
                                sdy::MeshAttr mesh,
                                function_ref<bool(StringRef)> isWanted) {
  Placement placement;
  placement.mesh = mesh;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings()) {
    auto &axes = placement.dims.emplace_back();
    for (sdy::AxisRefAttr axis : dim.getAxes())
      if (axis.getSize(mesh) > 1 && isWanted(axis.getName()))
        axes.push_back(axis);
  }
  for (sdy::AxisRefAttr axis : sharding.getUnreducedAxes())
    if (axis.getSize(mesh) > 1 && isWanted(axis.getName()))
      placement.unreduced.push_back(axis);
  return placement;
}
