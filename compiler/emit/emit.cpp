// Writes a scheduled module as an artifact: kernels, signatures, functions,
// variants, facts.

#include "compiler/emit/emit.h"

#include "artifact/writer.h"
#include "compiler/emit/command_writer.h"
#include "compiler/emit/constant_bytes.h"
#include "dialect/dispatch/element_type.h"
#include "dialect/dispatch/imports.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/type_rules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace alula::dispatch;
using alula::artifact::ArtifactWriter;
using alula::artifact::FunctionWriter;
using alula::emit::Callables;

namespace {
class Emitter {
public:
  explicit Emitter(ModuleOp module) : module(module) {
    callables.addType = [this](Location location, Type type) {
      return addType(location, type);
    };
  }

  LogicalResult run(const alula::emit::Provenance &provenance,
                    std::string &bytes,
                    alula::emit::ExternalConstants *external) {
    addKernels();
    for (const DynamicImport &import : collectDynamicImports(module))
      writer.addImport(import.name, import.isOptional);
    for (auto global : module.getOps<ml_program::GlobalOp>())
      if (failed(addGlobal(global)))
        return failure();
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && failed(addFunction(function)))
        return failure();
    for (auto variant : module.getOps<VariantOp>())
      if (failed(addVariant(variant)))
        return failure();
    writer.addFact("compiler", provenance.compiler);
    if (auto description = module->getAttrOfType<StringAttr>("alula.program"))
      writer.addFact("program", description.getValue());
    addLines("accuracy", module->getAttrOfType<ArrayAttr>("alula.accuracy"));
    addLines("partition", module->getAttrOfType<ArrayAttr>("alula.partition"));
    writer.addFact("options", provenance.options);
    writer.addFact("input.hash", provenance.inputHash);
    for (auto executable : module.getOps<ExecutableOp>())
      addFacts("debug.", executable, alula::emit::debugTextsName);
    addFacts("kernel.", module, alula::emit::kernelFactsName);
    if (external && !external->file.empty())
      external->bytes =
          writer.externalizeConstants(external->file, external->minimumBytes);
    alula::artifact::Diagnostic diagnostic;
    bytes = writer.finish(diagnostic);
    if (bytes.empty())
      return module.emitError()
             << "'builtin.module': artifact does not verify: "
             << diagnostic.text;
    return success();
  }

private:
  /// Of a list of texts, if there is one.
  void addLines(StringRef name, ArrayAttr lines) {
    if (!lines)
      return;
    std::string text;
    for (Attribute line : lines)
      if (auto words = dyn_cast<StringAttr>(line))
        text += (words.getValue() + "\n").str();
    writer.addFact(name.str(), text);
  }

  /// Of a dictionary of texts, if `op` has one.
  void addFacts(StringRef prefix, Operation *op, StringRef attribute) {
    auto texts = op->getAttrOfType<DictionaryAttr>(attribute);
    if (!texts)
      return;
    for (NamedAttribute text : texts)
      if (auto value = dyn_cast<StringAttr>(text.getValue()))
        writer.addFact((prefix + text.getName().strref()).str(),
                       value.getValue());
  }

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
        spec.constantCount = static_cast<uint32_t>(entry.getConstantCount());
        // Who chose the grid may have said how much a workgroup does.
        if (auto size = entry.getWorkgroupSize())
          writer.addFact("kernel." + spec.name + ".workgroup_size",
                         llvm::join(llvm::map_range(*size,
                                                    [](int64_t each) {
                                                      return std::to_string(
                                                          each);
                                                    }),
                                    ","));
        auto name = SymbolRefAttr::get(
            executable.getSymNameAttr(),
            {FlatSymbolRefAttr::get(entry.getSymNameAttr())});
        callables.kernels[name] = {writer.addKernel(spec),
                                   entry.getWorkgroups()};
      }
  }

  LogicalResult addGlobal(ml_program::GlobalOp global) {
    auto type = addType(global.getLoc(), global.getType());
    if (failed(type))
      return failure();
    uint32_t initial = ALULA_NONE;
    if (auto value = dyn_cast_or_null<ElementsAttr>(
            global.getValue().value_or(nullptr))) {
      auto constant = alula::emit::addConstant(writer, value, *type);
      if (!constant)
        return global.emitError()
               << "'ml_program.global': no native code: values of type "
               << global.getType();
      initial = *constant;
    }
    callables.globals[global.getSymNameAttr()] = writer.addGlobal(
        global.getSymName(), *type, global.getIsMutable(), initial);
    return success();
  }

  LogicalResult addVariant(VariantOp variant) {
    alula::artifact::VariantSpec spec;
    spec.name = variant.getSymName().str();
    spec.target = variant.getTarget().str();
    for (auto feature : variant.getFeatures().getAsRange<StringAttr>())
      spec.features.push_back(feature.str());
    spec.image = variant.getImage().str();
    if (auto origins =
            variant->getAttrOfType<DictionaryAttr>("dispatch.origins"))
      for (NamedAttribute origin : origins)
        writer.addFact("origin." + spec.name + "." + origin.getName().str(),
                       cast<StringAttr>(origin.getValue()).getValue());
    // The target knows where each kernel is: an image of CUDA, texts of PTX, or
    // what a plugin made.
    if (auto entries =
            variant->getAttrOfType<DenseI64ArrayAttr>("dispatch.entries")) {
      spec.kind = spec.target != "cuda" ? ALULA_IMAGE_RAW
                  : StringRef(spec.image).starts_with(ALULA_CUDA_MAGIC)
                      ? ALULA_IMAGE_CUDA
                      : ALULA_IMAGE_PTX;
      spec.entries.assign(entries.asArrayRef().begin(),
                          entries.asArrayRef().end());
      writer.addVariant(std::move(spec));
      return success();
    }
    alula::artifact::Diagnostic diagnostic;
    if (!writer.addElfVariant(std::move(spec), diagnostic))
      return variant.emitError() << "'dispatch.variant': " << diagnostic.text;
    return success();
  }

  FailureOr<uint32_t> addType(Location location, Type type) {
    // A token is a value without bytes.
    if (isa<stablehlo::TokenType>(type))
      return writer.addType(ALULA_DTYPE_TOKEN, {});
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::optional<alula_dtype> dtype;
    if (tensor)
      dtype = getDtype(tensor.getElementType());
    if (!dtype)
      return emitError(location)
             << "'func.func': no native code: values of type " << type;
    ArrayRef<int64_t> bounds = stablehlo::getBounds(tensor);
    std::vector<alula::artifact::Dim> dims;
    for (auto [i, size] : llvm::enumerate(tensor.getShape())) {
      if (!ShapedType::isDynamic(size))
        dims.push_back(size);
      else if (bounds.empty() || ShapedType::isDynamic(bounds[i]))
        dims.push_back(alula::artifact::Dim::dynamic());
      else
        dims.push_back(alula::artifact::Dim::dynamic("", 0, bounds[i]));
    }
    return writer.addType(*dtype, dims);
  }

  /// Callees stand before their callers.
  LogicalResult addFunction(func::FuncOp function) {
    StringAttr name = function.getSymNameAttr();
    if (callables.functions.contains(name))
      return success();
    if (!onTheWay.insert(name).second)
      return function.emitError()
             << "'func.func': calls itself: @" << function.getSymName();
    WalkResult callees = function.walk([&](CallOp call) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (callee.isExternal()) {
        call.emitError() << "'dispatch.call': function has no body: @"
                         << call.getCallee();
        return WalkResult::interrupt();
      }
      return failed(addFunction(callee)) ? WalkResult::interrupt()
                                         : WalkResult::advance();
    });
    if (callees.wasInterrupted())
      return failure();
    FunctionWriter &out =
        writer.addFunction(name.getValue(), function.isPublic());
    callables.functions[name] = out.getIndex();
    if (failed(addSignature(function, out)))
      return failure();
    return writeCommands(function, callables, writer, out);
  }

  LogicalResult addSignature(func::FuncOp function, FunctionWriter &out) {
    for (BlockArgument argument : function.getArguments()) {
      auto type = addType(function.getLoc(), argument.getType());
      if (failed(type))
        return failure();
      auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                        "jax.arg_info");
      if (!name)
        if (auto location = dyn_cast<NameLoc>(argument.getLoc()))
          name = location.getName();
      out.addArgument(name ? name.getValue() : "", *type);
    }
    for (auto [i, resultType] : llvm::enumerate(function.getResultTypes())) {
      auto number = static_cast<unsigned>(i);
      auto type = addType(function.getLoc(), resultType);
      if (failed(type))
        return failure();
      auto name =
          function.getResultAttrOfType<StringAttr>(number, "jax.result_info");
      auto alias =
          function.getResultAttrOfType<IntegerAttr>(number, "dispatch.alias");
      out.addResult(name ? name.getValue() : "", *type,
                    alias ? static_cast<uint32_t>(alias.getInt()) : ALULA_NONE);
    }
    if (auto arena =
            function->getAttrOfType<IntegerAttr>("dispatch.arena_bytes"))
      out.setArenaBytes(static_cast<uint64_t>(arena.getInt()));
    return success();
  }

  ModuleOp module;
  ArtifactWriter writer;
  Callables callables;
  DenseSet<StringAttr> onTheWay;
};
} // namespace

LogicalResult alula::emit::emitArtifact(ModuleOp module,
                                        const Provenance &provenance,
                                        std::string &bytes,
                                        ExternalConstants *external) {
  return Emitter(module).run(provenance, bytes, external);
}
