#include "compiler/partition/named_axes.h"

#include "dialect/sdy/ops.h"

using namespace mlir;
using namespace alula::partition;

namespace {
/// The device at each step along one axis, all others being at 0.
SmallVector<int64_t> getSteps(sdy::MeshAttr mesh, StringRef name) {
  int64_t stride = 1, size = 1;
  for (sdy::MeshAxisAttr axis : llvm::reverse(mesh.getAxes())) {
    size = axis.getSize();
    if (axis.getName() == name)
      break;
    stride *= size;
  }
  SmallVector<int64_t> steps;
  for (int64_t i = 0; i < size; ++i)
    steps.push_back(getDevice(mesh, i * stride));
  return steps;
}

/// Steps as a number of digits, the last of which is the fastest.
std::optional<Spans> findDigits(ArrayRef<int64_t> steps) {
  Spans minorFirst;
  auto size = static_cast<int64_t>(steps.size());
  if (steps[0] != 0)
    return std::nullopt;
  for (int64_t done = 1; done < size;) {
    int64_t stride = steps[static_cast<size_t>(done)], count = 2;
    while (count * done < size &&
           steps[static_cast<size_t>(count * done)] == count * stride)
      ++count;
    if (stride < 1 || size % (done * count))
      return std::nullopt;
    minorFirst.push_back({stride, stride * count});
    done *= count;
  }
  for (int64_t i = 0; i < size; ++i) {
    int64_t left = i, device = 0;
    for (Span span : minorFirst) {
      device += left % span.size() * span.begin;
      left /= span.size();
    }
    if (steps[static_cast<size_t>(i)] != device)
      return std::nullopt;
  }
  Spans spans;
  for (Span span : llvm::reverse(minorFirst))
    append(spans, span);
  return spans;
}

/// The digits of each axis; nothing if these don't make up all numbers.
std::optional<SmallVector<Spans>> findAllDigits(sdy::MeshAttr mesh) {
  SmallVector<Spans> all;
  Spans set;
  for (sdy::MeshAxisAttr axis : mesh.getAxes()) {
    std::optional<Spans> spans = findDigits(getSteps(mesh, axis.getName()));
    if (!spans)
      return std::nullopt;
    set.append(spans->begin(), spans->end());
    all.push_back(std::move(*spans));
  }
  int64_t devices = mesh.getDeviceCount();
  for (int64_t at = 0; at < devices && !mesh.getDeviceIds().empty(); ++at) {
    int64_t left = at, device = 0;
    for (const Spans &spans : llvm::reverse(all))
      for (Span span : llvm::reverse(spans)) {
        device += left % span.size() * span.begin;
        left /= span.size();
      }
    if (getDevice(mesh, at) != device)
      return std::nullopt;
  }
  return all;
}
} // namespace

LogicalResult ShardingReader::check(Operation *op,
                                    sdy::TensorShardingAttr sharding) const {
  if (!sharding.getUnreducedAxes().empty() &&
      sharding.getReductionOp() != sdy::ReductionOp::SUM)
    return op->emitOpError()
           << "parts of arrays can only be added up yet: " << sharding;
  sdy::MeshAttr mesh = sharding.lookupMesh(op);
  if (!mesh)
    return op->emitOpError() << "there is no such mesh: " << sharding;
  if (!mesh.isMaximal() && !mesh.isEmpty() && mesh.getDeviceCount() != devices)
    return op->emitOpError() << "the mesh has " << mesh.getDeviceCount()
                             << " devices, the program runs on " << devices;
  return success();
}

std::optional<Spans> ShardingReader::getSpans(sdy::MeshAttr mesh,
                                              sdy::AxisRefAttr axis) {
  auto [found, isNew] = digits.try_emplace(mesh);
  if (isNew)
    found->second = findAllDigits(mesh);
  int64_t index = mesh.findAxisIndex(axis.getName());
  if (!found->second || index < 0)
    return std::nullopt;
  Spans spans = (*found->second)[static_cast<size_t>(index)];
  auto part = axis.getSubAxisInfo();
  if (!part)
    return spans;
  Spans before = getDividingPrefix(spans, part.getPreSize());
  Spans rest = removePrefix(spans, before);
  Spans wanted = getDividingPrefix(rest, part.getSize());
  if (countShards(before) != part.getPreSize() ||
      countShards(wanted) != part.getSize())
    return std::nullopt;
  return wanted;
}

FailureOr<const Sharding *>
ShardingReader::read(Operation *op, sdy::TensorShardingAttr attribute) {
  auto found = known.find(attribute.getAsOpaquePointer());
  if (found != known.end())
    return found->second ? &*found->second : nullptr;
  if (failed(check(op, attribute)))
    return failure();
  sdy::MeshAttr mesh = attribute.lookupMesh(op);
  Sharding sharding(attribute.getRank());
  bool isOrderly = true;
  auto add = [&](Spans &spans, sdy::AxisRefAttr axis) {
    if (auto more = getSpans(mesh, axis))
      append(spans, *more);
    else
      isOrderly = false;
  };
  if (!mesh.isMaximal() && !mesh.isEmpty()) {
    for (auto [spans, dim] :
         llvm::zip_equal(sharding.dims, attribute.getDimShardings()))
      for (sdy::AxisRefAttr axis : dim.getAxes())
        add(spans, axis);
    for (sdy::AxisRefAttr axis : attribute.getUnreducedAxes())
      add(sharding.unreduced, axis);
    sharding.unreduced = sortSpans(sharding.unreduced);
  }
  auto &kept = known[attribute.getAsOpaquePointer()];
  if (isOrderly)
    kept = std::move(sharding);
  return kept ? &*kept : nullptr;
}

Spans ShardingReader::getManualSpans(Operation *op,
                                     sdy::TensorShardingAttr sharding,
                                     ArrayRef<StringAttr> axes) {
  Spans spans;
  if (sdy::MeshAttr mesh = sharding.lookupMesh(op))
    for (StringAttr axis : axes)
      if (auto more = getSpans(
              mesh, sdy::AxisRefAttr::get(op->getContext(), axis.getValue())))
        spans.append(more->begin(), more->end());
  return sortSpans(spans);
}

std::optional<Sharding>
alula::partition::getSharding(const Placement &placement, int64_t rank,
                              ShardingReader &reader) {
  Sharding sharding(rank);
  auto add = [&](Spans &spans, const Placement::Axes &axes) {
    for (sdy::AxisRefAttr axis : axes) {
      auto more = reader.getSpans(placement.mesh, axis);
      if (!more)
        return false;
      append(spans, *more);
    }
    return true;
  };
  for (auto [dim, axes] : llvm::enumerate(placement.dims))
    if (!add(sharding.dims[dim], axes))
      return std::nullopt;
  if (!add(sharding.unreduced, placement.unreduced))
    return std::nullopt;
  sharding.unreduced = sortSpans(sharding.unreduced);
  return sharding;
}

MeshNames::MeshNames(ModuleOp module, int64_t devices)
    : module(module), devices(devices) {
  for (auto op : module.getOps<sdy::MeshOp>()) {
    sdy::MeshAttr mesh = op.getMesh();
    if (mesh.isMaximal() || mesh.isEmpty() || mesh.getDeviceCount() != devices)
      continue;
    auto all = findAllDigits(mesh);
    if (!all)
      continue;
    Mesh &known = meshes.emplace_back();
    known.name = op.getSymNameAttr();
    known.mesh = mesh;
    for (const Spans &spans : *all)
      // An axis of several digits has no parts that could be named.
      known.axes.push_back(spans.size() == 1 ? spans.front() : Span{1, 1});
  }
}

std::optional<SmallVector<sdy::AxisRefAttr>>
MeshNames::print(const Mesh &mesh, ArrayRef<Span> spans) const {
  SmallVector<sdy::AxisRefAttr> refs;
  MLIRContext *context = mesh.mesh.getContext();
  for (Span span : spans)
    for (int64_t end = span.end; end > span.begin;) {
      const Span *found = llvm::find_if(mesh.axes, [&](Span axis) {
        return axis.begin < end && end <= axis.end && axis.end % end == 0;
      });
      if (found == mesh.axes.end())
        return std::nullopt;
      int64_t begin = std::max(span.begin, found->begin);
      if (end % begin || begin % found->begin)
        return std::nullopt;
      StringRef name =
          mesh.mesh.getAxes()[static_cast<size_t>(found - mesh.axes.begin())]
              .getName();
      sdy::SubAxisInfoAttr part;
      if (begin != found->begin || end != found->end)
        part =
            sdy::SubAxisInfoAttr::get(context, found->end / end, end / begin);
      refs.push_back(sdy::AxisRefAttr::get(context, name, part));
      end = begin;
    }
  return refs;
}

const MeshNames::Mesh &MeshNames::addFlatMesh() {
  MLIRContext *context = module.getContext();
  auto mesh = sdy::MeshAttr::get(
      context, {sdy::MeshAxisAttr::get(context, "device", devices)}, {});
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto op = builder.create<sdy::MeshOp>(module.getLoc(), "alula_devices", mesh);
  SymbolTable(module).insert(op);
  meshes.push_back({op.getSymNameAttr(), mesh, {Span{1, devices}}});
  return meshes.back();
}

sdy::TensorShardingAttr MeshNames::print(const Sharding &sharding) {
  MLIRContext *context = module.getContext();
  auto print = [&](const Mesh &mesh) -> sdy::TensorShardingAttr {
    SmallVector<sdy::DimensionShardingAttr> dims;
    for (const Spans &spans : sharding.dims) {
      auto refs = this->print(mesh, spans);
      if (!refs)
        return {};
      dims.push_back(sdy::DimensionShardingAttr::get(
          context, *refs, /*is_closed=*/true, /*priority=*/std::nullopt));
    }
    auto unreduced = this->print(mesh, sharding.unreduced);
    if (!unreduced)
      return {};
    return sdy::TensorShardingAttr::get(
        context, FlatSymbolRefAttr::get(mesh.name), dims,
        ArrayRef<sdy::AxisRefAttr>(), *unreduced);
  };
  for (const Mesh &mesh : meshes)
    if (auto attribute = print(mesh))
      return attribute;
  return print(addFlatMesh());
}

Sharding MeshNames::cutToWholeAxes(const Sharding &sharding) const {
  // Who names no axes has no words for them either.
  if (meshes.empty())
    return sharding;
  Sharding best(static_cast<int64_t>(sharding.dims.size()));
  int64_t most = 0;
  for (const Mesh &mesh : meshes) {
    Sharding cut(static_cast<int64_t>(sharding.dims.size()));
    cut.unreduced = sharding.unreduced;
    int64_t count = 1;
    for (auto [dim, spans] : llvm::enumerate(sharding.dims)) {
      for (Spans rest = spans; !rest.empty();) {
        const Span *found = llvm::find_if(mesh.axes, [&](Span axis) {
          return axis.end == rest.front().end && axis.begin < axis.end &&
                 axis.begin >= rest.front().begin &&
                 axis.begin % rest.front().begin == 0;
        });
        if (found == mesh.axes.end())
          break;
        append(cut.dims[dim], *found);
        rest = removePrefix(spans, cut.dims[dim]);
      }
      count *= countShards(cut.dims[dim]);
    }
    if (count > most) {
      most = count;
      best = std::move(cut);
    }
  }
  return best;
}

Placement alula::partition::makePlacement(const Sharding &sharding,
                                          int64_t devices,
                                          MLIRContext *context) {
  Placement placement;
  placement.mesh = sdy::MeshAttr::get(
      context, {sdy::MeshAxisAttr::get(context, "device", devices)}, {});
  auto name = [&](ArrayRef<Span> spans) {
    Placement::Axes axes;
    for (Span span : spans)
      axes.push_back(sdy::AxisRefAttr::get(
          context, "device",
          span.size() == devices
              ? sdy::SubAxisInfoAttr()
              : sdy::SubAxisInfoAttr::get(context, devices / span.end,
                                          span.size())));
    return axes;
  };
  for (const Spans &spans : sharding.dims)
    placement.dims.push_back(name(spans));
  placement.unreduced = name(sharding.unreduced);
  return placement;
}
