#include "dialect/sdy/axis_span.h"
#include "dialect/sdy/dialect.h"
#include "dialect/sdy/ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sdy;

#define GET_ATTRDEF_CLASSES
#include "dialect/sdy/attributes.cpp.inc"

void SdyDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/sdy/attributes.cpp.inc"
      >();
}

std::string mlir::sdy::getFactorName(int64_t index) {
  constexpr int64_t letters = 'z' - 'i';
  if (index <= letters)
    return std::string(1, char('i' + index));
  return "z_" + std::to_string(index - letters);
}

// --- meshes -----------------------------------------------------------------

LogicalResult
MeshAxisAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     StringRef name, int64_t size) {
  if (size < 1)
    return emitError() << "mesh axis \"" << name
                       << "\": size must be at least 1: " << size;
  return success();
}

/// The product, or nothing if it does not fit 62 bits.
static std::optional<int64_t> multiply(ArrayRef<MeshAxisAttr> axes) {
  int64_t product = 1;
  for (MeshAxisAttr axis : axes) {
    if (axis.getSize() > (int64_t(1) << 62) / product)
      return std::nullopt;
    product *= axis.getSize();
  }
  return product;
}

bool MeshAttr::isUsualOrder(ArrayRef<MeshAxisAttr> axes,
                            ArrayRef<int64_t> deviceIds) {
  return !axes.empty() && multiply(axes) == int64_t(deviceIds.size()) &&
         llvm::equal(deviceIds, llvm::seq<int64_t>(0, deviceIds.size()));
}

LogicalResult
MeshAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 ArrayRef<MeshAxisAttr> axes, ArrayRef<int64_t> deviceIds) {
  for (int64_t id : deviceIds)
    if (id < 0)
      return emitError() << "mesh: device id must not be negative: " << id;
  if (axes.empty()) {
    if (deviceIds.size() > 1)
      return emitError() << "mesh: without axes there is at most one device: "
                         << deviceIds.size();
    return success();
  }
  if (axes.size() > 1024)
    return emitError() << "mesh: more than 1024 axes: " << axes.size();
  llvm::StringSet<> names;
  for (MeshAxisAttr axis : axes)
    if (!names.insert(axis.getName()).second)
      return emitError() << "mesh: axis name used twice: \"" << axis.getName()
                         << "\"";
  std::optional<int64_t> count = multiply(axes);
  if (!count)
    return emitError() << "mesh: more than 2^62 devices";
  if (deviceIds.empty())
    return success();
  if (*count != int64_t(deviceIds.size()))
    return emitError() << "mesh: device ids must be as many as the devices: "
                       << deviceIds.size() << " ids for " << *count
                       << " devices";
  SmallVector<int64_t> sorted(deviceIds);
  llvm::sort(sorted);
  for (auto [index, id] : llvm::enumerate(sorted))
    if (int64_t(index) != id)
      return emitError() << "mesh: device ids must be 0 to " << *count - 1
                         << ", each once: "
                         << (int64_t(index) < id ? int64_t(index) : id)
                         << (int64_t(index) < id ? " is missing"
                                                 : " appears twice");
  return success();
}

int64_t MeshAttr::findAxisIndex(StringRef name) const {
  for (auto [index, axis] : llvm::enumerate(getAxes()))
    if (axis.getName() == name)
      return int64_t(index);
  return -1;
}

MeshAxisAttr MeshAttr::findAxis(StringRef name) const {
  int64_t index = findAxisIndex(name);
  return index < 0 ? MeshAxisAttr() : getAxes()[index];
}

int64_t MeshAttr::getDeviceCount() const {
  return multiply(getAxes()).value_or(0);
}

// --- shardings --------------------------------------------------------------

int64_t AxisRefAttr::getSize(MeshAttr mesh) const {
  if (SubAxisInfoAttr part = getSubAxisInfo())
    return part.getSize();
  MeshAxisAttr axis = mesh.findAxis(getName());
  return axis ? axis.getSize() : 0;
}

std::string AxisRefAttr::toString() const {
  std::string text = "\"" + getName().str() + "\"";
  if (SubAxisInfoAttr part = getSubAxisInfo())
    text += ":(" + std::to_string(part.getPreSize()) + ")" +
            std::to_string(part.getSize());
  return text;
}

int64_t DimensionShardingAttr::getShardCount(MeshAttr mesh) const {
  int64_t count = 1;
  for (AxisRefAttr axis : getAxes())
    count *= axis.getSize(mesh);
  return count;
}

MeshAttr TensorShardingAttr::lookupMesh(Operation *op) const {
  if (auto mesh = llvm::dyn_cast<MeshAttr>(getMeshOrRef()))
    return mesh;
  StringRef name = llvm::cast<FlatSymbolRefAttr>(getMeshOrRef()).getValue();
  auto module = op->getParentOfType<ModuleOp>();
  if (!module)
    return {};
  // No symbol table: verifiers of functions run in parallel.
  for (auto mesh : module.getOps<MeshOp>())
    if (mesh.getSymName() == name)
      return mesh.getMesh();
  return {};
}

void TensorShardingAttr::forEachAxis(
    llvm::function_ref<void(AxisRefAttr)> visit) const {
  for (DimensionShardingAttr dim : getDimShardings())
    llvm::for_each(dim.getAxes(), visit);
  llvm::for_each(getReplicatedAxes(), visit);
  llvm::for_each(getUnreducedAxes(), visit);
}

// --- traces -----------------------------------------------------------------

LogicalResult
PropagationEdgesAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                             ArrayRef<PropagationOneStepAttr> steps) {
  llvm::SmallSet<int64_t, 8> seen;
  for (PropagationOneStepAttr step : steps) {
    int64_t index = step.getStepIndex();
    if (index < 0)
      return emitError() << "propagation edges: step must not be negative: "
                         << index;
    if (!seen.insert(index).second)
      return emitError() << "propagation edges: step appears twice: " << index;
    for (AxisToPropagationDetailsAttr entry : step.getAxisEntries()) {
      llvm::SmallPtrSet<const void *, 8> targets;
      for (EdgeValueRefAttr target : entry.getTargets()) {
        if (target == entry.getSource())
          return emitError()
                 << "propagation edges: source is a target in step " << index
                 << " for axis " << entry.getAxisName().toString();
        if (!targets.insert(target.getAsOpaquePointer()).second)
          return emitError()
                 << "propagation edges: target appears twice in "
                    "step "
                 << index << " for axis " << entry.getAxisName().toString();
      }
    }
  }
  return success();
}
