// Writes scheduled host functions as command lists, and everything they need.

#include "compiler/emit/emit.h"

#include "artifact/writer.h"
#include "dialect/dispatch/byte_size.h"
#include "dialect/dispatch/element_type.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace alula::dispatch;
using alula::artifact::ArtifactWriter;
using alula::artifact::FunctionWriter;

namespace {
/// The value's elements one after the other, each at least one byte.
FailureOr<std::string> getConstantBytes(stablehlo::ConstantOp constant) {
  auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
  std::optional<int64_t> size = getByteSize(cast<ShapedType>(constant.getType()));
  if (!value || !size)
    return constant.emitError() << "'stablehlo.constant': no native code: "
                                << constant.getType();
  std::string bytes;
  bytes.reserve(static_cast<size_t>(*size));
  if (value.getElementType().isInteger(1)) {
    // MLIR packs bits.
    for (bool bit : value.getValues<bool>())
      bytes.push_back(static_cast<char>(bit));
    return bytes;
  }
  ArrayRef<char> raw = value.getRawData();
  do
    bytes.append(raw.begin(), raw.end());
  while (value.isSplat() && bytes.size() < static_cast<size_t>(*size));
  if (bytes.size() > static_cast<size_t>(*size))
    bytes.clear();
  return bytes;
}

class Emitter {
public:
  explicit Emitter(ModuleOp module) : module(module) {}

  LogicalResult run(const alula::emit::Provenance &provenance,
                    std::string &bytes) {
    addKernels();
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && failed(addFunction(function)))
        return failure();
    for (auto variant : module.getOps<VariantOp>())
      if (failed(addVariant(variant)))
        return failure();
    writer.addFact("compiler", provenance.compiler);
    writer.addFact("options", provenance.options);
    writer.addFact("input.hash", provenance.inputHash);
    alula::artifact::Diagnostic diagnostic;
    bytes = writer.finish(diagnostic);
    if (bytes.empty())
      return module.emitError() << "'builtin.module': artifact does not verify: "
                                << diagnostic.text;
    return success();
  }

private:
  void addKernels() {
    for (auto executable : module.getOps<ExecutableOp>())
      for (auto entry : executable.getBody().getOps<EntryOp>()) {
        alula::artifact::KernelSpec spec;
        spec.name = entry.getSymName().str();
        for (auto access : entry.getBindings().getAsRange<AccessAttr>())
          switch (access.getValue()) {
          case Access::Read:
            spec.accesses.push_back(ALULA_ACCESS_READ);
            break;
          case Access::Write:
            spec.accesses.push_back(ALULA_ACCESS_WRITE);
            break;
          case Access::ReadWrite:
            spec.accesses.push_back(ALULA_ACCESS_READ | ALULA_ACCESS_WRITE);
            break;
          }
        spec.scratchBytes = entry.getScratchBytes();
        kernels[entry.getSymNameAttr()] = writer.addKernel(spec);
        grids[entry.getSymNameAttr()] = entry.getWorkgroups();
      }
  }

  LogicalResult addVariant(VariantOp variant) {
    alula::artifact::VariantSpec spec;
    spec.name = variant.getSymName().str();
    spec.target = variant.getTarget().str();
    for (auto feature : variant.getFeatures().getAsRange<StringAttr>())
      spec.features.push_back(feature.str());
    spec.image = variant.getImage().str();
    alula::artifact::Diagnostic diagnostic;
    if (!writer.addElfVariant(std::move(spec), diagnostic))
      return variant.emitError() << "'dispatch.variant': " << diagnostic.text;
    return success();
  }

  FailureOr<uint32_t> addType(Location location, Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::optional<alula_dtype> dtype;
    if (tensor)
      dtype = alula::dispatch::getDtype(tensor.getElementType());
    if (!dtype)
      return emitError(location)
             << "'func.func': no native code: values of type " << type;
    std::vector<alula::artifact::Dim> dims;
    for (int64_t size : tensor.getShape())
      dims.push_back(ShapedType::isDynamic(size)
                         ? alula::artifact::Dim::dynamic()
                         : alula::artifact::Dim(size));
    return writer.addType(*dtype, dims);
  }

  LogicalResult addFunction(func::FuncOp function) {
    FunctionWriter &out =
        writer.addFunction(function.getSymName(), function.isPublic());
    DenseMap<Value, uint32_t> slots;
    for (BlockArgument argument : function.getArguments()) {
      auto type = addType(function.getLoc(), argument.getType());
      if (failed(type))
        return failure();
      unsigned number = argument.getArgNumber();
      auto name =
          function.getArgAttrOfType<StringAttr>(number, "jax.arg_info");
      slots[argument] =
          out.argument(out.addArgument(name ? name.getValue() : "", *type));
    }
    SmallVector<uint32_t> resultSlots;
    for (auto [number, resultType] : llvm::enumerate(function.getResultTypes())) {
      auto type = addType(function.getLoc(), resultType);
      if (failed(type))
        return failure();
      auto name = function.getResultAttrOfType<StringAttr>(
          static_cast<unsigned>(number), "jax.result_info");
      uint32_t result = out.addResult(name ? name.getValue() : "", *type);
      resultSlots.push_back(out.result(result));
    }
    if (auto arena =
            function->getAttrOfType<IntegerAttr>("dispatch.arena_bytes"))
      out.setArenaBytes(static_cast<uint64_t>(arena.getInt()));
    return addBody(function, out, slots, resultSlots);
  }

  LogicalResult addBody(func::FuncOp function, FunctionWriter &out,
                        DenseMap<Value, uint32_t> &slots,
                        ArrayRef<uint32_t> resultSlots) {
    for (Operation &op : function.front()) {
      if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
        if (failed(addConstant(constant, out, slots)))
          return failure();
      } else if (auto launch = dyn_cast<LaunchOp>(op)) {
        addLaunch(launch, out, slots, resultSlots);
      } else if (auto end = dyn_cast<func::ReturnOp>(op)) {
        copyResults(end, out, slots, resultSlots);
      } else {
        return op.emitError() << "'" << op.getName().getStringRef()
                              << "': no native code: on the host";
      }
    }
    return success();
  }

  LogicalResult addConstant(stablehlo::ConstantOp constant, FunctionWriter &out,
                            DenseMap<Value, uint32_t> &slots) {
    // One that only kernels had a copy of needs no memory.
    if (constant->use_empty())
      return success();
    auto bytes = getConstantBytes(constant);
    if (failed(bytes))
      return failure();
    slots[constant.getResult()] =
        out.constant(writer.addConstant(bytes->data(), bytes->size()));
    return success();
  }

  void addLaunch(LaunchOp launch, FunctionWriter &out,
                 DenseMap<Value, uint32_t> &slots,
                 ArrayRef<uint32_t> resultSlots) {
    std::vector<uint32_t> bindings;
    for (Value input : launch.getInputs())
      bindings.push_back(slots.lookup(input));
    for (auto [result, place] :
         llvm::zip_equal(launch.getResults(),
                         launch.getPlacesAttr().getAsRange<PlaceAttr>())) {
      auto type = cast<ShapedType>(result.getType());
      uint32_t slot =
          place.getKind() == PlaceKind::Result
              ? resultSlots[static_cast<size_t>(place.getOffset())]
              : out.arena(static_cast<uint64_t>(place.getOffset()),
                          static_cast<uint64_t>(*getByteSize(type)));
      slots[result] = slot;
      bindings.push_back(slot);
    }
    StringAttr name = launch.getEntry().getLeafReference();
    ArrayRef<int64_t> grid = grids[name];
    // One after the other: the order decides the bytes.
    auto x = out.immediate(grid[0]);
    auto y = out.immediate(grid[1]);
    auto z = out.immediate(grid[2]);
    out.dispatch(kernels[name], x, y, z, bindings);
  }

  /// A result that no kernel wrote in place: an argument, a constant, or a
  /// value that is returned twice.
  void copyResults(func::ReturnOp end, FunctionWriter &out,
                   DenseMap<Value, uint32_t> &slots,
                   ArrayRef<uint32_t> resultSlots) {
    for (auto [value, slot] : llvm::zip_equal(end.getOperands(), resultSlots)) {
      uint32_t source = slots.lookup(value);
      if (source == slot)
        continue;
      auto start = out.immediate(0);
      auto bytes =
          out.immediate(*getByteSize(cast<ShapedType>(value.getType())));
      out.copy(slot, start, source, start, bytes);
    }
  }

  ModuleOp module;
  ArtifactWriter writer;
  DenseMap<StringAttr, uint32_t> kernels;
  DenseMap<StringAttr, ArrayRef<int64_t>> grids;
};
} // namespace

LogicalResult alula::emit::emitArtifact(ModuleOp module,
                                        const Provenance &provenance,
                                        std::string &bytes) {
  return Emitter(module).run(provenance, bytes);
}
