// One variant: the texts of PTX of all executables, ours and those of other
// compilers.

#include "compiler/target/cuda/generate.h"

#include "artifact/cuda_image_writer.h"
#include "compiler/objects/assemble_ptx.h"
#include "compiler/objects/code_plan.h"
#include "compiler/target/cpu/pipeline.h"
#include "compiler/target/cuda/machine.h"
#include "compiler/target/cuda/ptx_code.h"
#include "dialect/dispatch/library_call.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using alula::cuda::CodegenHooks;
using alula::dispatch::EntryOp;
using alula::dispatch::ExecutableOp;
using alula::objects::TargetKey;

namespace {
/// A text as machine code of a chip.
struct Cubin {
  alula::objects::Chip chip;
  std::string bytes;
};

/// An executable's text, and what is said of each of its entries.
struct Code {
  std::string text;
  std::vector<Cubin> cubins;
  SmallVector<std::string> names;
  SmallVector<std::array<int64_t, 3>> blocks;
  /// Memory of a block that a launch asks for.
  SmallVector<int64_t> sharedBytes;
  /// Somebody else's, who takes numbers of 32 bits.
  bool isBrought = false;
};

class Generator {
public:
  Generator(ModuleOp module, const alula::cpu::Machine &machine,
            const CodegenHooks &hooks)
      : module(module), machine(machine), hooks(hooks),
        lowering(module.getContext(), ModuleOp::getOperationName()) {
    lowering.enableVerifier(hooks.verifyPasses);
    alula::cpu::addLlvmPipeline(lowering,
                                static_cast<unsigned>(machine.facts.indexBits));
  }

  LogicalResult run() {
    auto executables = llvm::to_vector(module.getOps<ExecutableOp>());
    std::vector<Code> codes(executables.size());
    for (auto [i, executable] : llvm::enumerate(executables)) {
      if (hooks.isCancelled && hooks.isCancelled())
        return failure();
      if (hooks.onKernel)
        hooks.onKernel(executable.getSymName(), static_cast<unsigned>(i),
                       static_cast<unsigned>(executables.size()));
      auto objects = alula::objects::selectObjects(executable, key);
      if (failed(objects))
        return failure();
      if (objects->empty() && executable.isExternal())
        return executable.emitError()
               << "[obj-generator] there is no code to generate for "
               << key.getText() << ": @" << executable.getSymName()
               << " has no PTX";
      if (failed(objects->empty() ? compile(executable, codes[i])
                                  : take(executable, *objects, codes[i])))
        return failure();
      if (failed(assemble(executable, codes[i])))
        return failure();
    }
    // A program that only moves its arguments has no code.
    if (codes.empty())
      return success();
    // Texts alone are for drivers of others; what was offered for a pattern
    // runs as our kernels do.
    bool isOurs = llvm::any_of(codes,
                               [](const Code &code) {
                                 return !code.isBrought || !code.cubins.empty();
                               }) ||
                  llvm::any_of(executables, [](ExecutableOp executable) {
                    return executable->hasAttr("dispatch.pattern");
                  });
    SmallVector<int64_t> entries;
    std::string image = isOurs ? makeImage(executables, codes, entries)
                               : joinTexts(codes, entries);
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto variant = builder.create<alula::dispatch::VariantOp>(
        module.getLoc(), key.getText(), key.kind,
        builder.getStrArrayAttr({key.name}), image);
    variant->setAttr("dispatch.entries", builder.getDenseI64ArrayAttr(entries));
    if (!origins.empty())
      variant->setAttr("dispatch.origins", builder.getDictionaryAttr(origins));
    return success();
  }

private:
  /// What somebody else has made.
  LogicalResult take(ExecutableOp executable,
                     ArrayRef<alula::dispatch::ObjectAttr> objects,
                     Code &code) {
    auto plan = alula::objects::planPtxCode(executable, key, objects, "",
                                            /*assembles=*/false);
    if (failed(plan))
      return failure();
    code.isBrought = true;
    code.text = plan->object.getBytes().str();
    Builder builder(executable.getContext());
    for (auto [entry, name, block] :
         llvm::zip_equal(executable.getBody().getOps<EntryOp>(), plan->names,
                         plan->blocks)) {
      code.names.push_back(name);
      code.blocks.push_back({block[0], block[1], block[2]});
      code.sharedBytes.push_back(0);
      std::string origin =
          alula::objects::describeOrigin("ptx", plan->object) + " kernel " +
          name + " block " +
          llvm::join(
              llvm::map_range(
                  block, [](int64_t size) { return std::to_string(size); }),
              ",");
      origins.push_back(builder.getNamedAttr(entry.getSymName(),
                                             builder.getStringAttr(origin)));
    }
    return success();
  }

  LogicalResult compile(ExecutableOp executable, Code &code) {
    OwningOpRef<ModuleOp> bodies(
        cast<ModuleOp>(executable.getInnerModule()->clone()));
    std::vector<alula::cuda::PtxKernel> kernels;
    for (auto entry : executable.getBody().getOps<EntryOp>()) {
      // A tool that brings loops by itself has no threads.
      auto size = entry.getWorkgroupSize();
      int64_t threads = size ? (*size)[0] : 1;
      std::vector<bool> areOnlyRead;
      for (auto access :
           entry.getBindings().getAsRange<alula::dispatch::AccessAttr>())
        areOnlyRead.push_back(access.getValue() ==
                              alula::dispatch::Access::Read);
      kernels.push_back(
          {entry.getSymName().str(), threads, std::move(areOnlyRead)});
      code.names.push_back(alula::cuda::getPtxName(entry.getSymName()));
      code.blocks.push_back({threads, 1, 1});
    }
    if (failed(lowering.run(*bodies)))
      return failure();
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> made =
        translateModuleToLLVMIR(*bodies, context, executable.getSymName());
    if (!made)
      return executable.emitError()
             << "'dispatch.executable': can't be translated to LLVM: @"
             << executable.getSymName();
    auto text = alula::cuda::generatePtx(*made, machine, kernels);
    if (!text)
      return executable.emitError()
             << "'dispatch.executable': " << llvm::toString(text.takeError())
             << ": @" << executable.getSymName();
    code.text = std::move(*text);
    for (const alula::cuda::PtxKernel &kernel : kernels)
      code.sharedBytes.push_back(kernel.sharedBytes);
    return success();
  }

  LogicalResult assemble(ExecutableOp executable, Code &code) {
    for (const std::string &chip : hooks.cubinChips) {
      if (!alula::cuda::canMakeCubin(machine.name, chip))
        continue;
      auto bytes = alula::objects::makeCubin(hooks.ptxas, code.text, chip);
      if (!bytes)
        return executable.emitError()
               << "[cuda-ptxas] @" << executable.getSymName() << " for " << chip
               << ": " << llvm::toString(bytes.takeError());
      code.cubins.push_back(
          {*alula::objects::parseChip(chip), std::move(*bytes)});
    }
    return success();
  }

  /// Each text once, with a zero byte behind it.
  static std::string joinTexts(ArrayRef<Code> codes,
                               SmallVectorImpl<int64_t> &entries) {
    std::string image;
    llvm::StringMap<int64_t> places;
    for (const Code &code : codes) {
      auto [place, isNew] =
          places.try_emplace(code.text, static_cast<int64_t>(image.size()));
      if (isNew)
        (image += code.text) += '\0';
      entries.append(code.names.size(), place->second);
    }
    return image;
  }

  std::string makeImage(ArrayRef<ExecutableOp> executables,
                        ArrayRef<Code> codes,
                        SmallVectorImpl<int64_t> &entries) {
    alula::objects::Chip chip = *alula::objects::parseChip(machine.cpu);
    alula::artifact::CudaImageWriter writer;
    uint32_t known = 0;
    for (auto [executable, code] : llvm::zip_equal(executables, codes)) {
      uint32_t text = writer.addModule(code.text, chip.number, chip.isExact);
      // An equal text before has them already.
      if (text == known) {
        ++known;
        for (const Cubin &cubin : code.cubins)
          writer.addCubin(cubin.bytes, cubin.chip.number, cubin.chip.isExact);
      }
      for (auto [entry, name, block, sharedBytes] :
           llvm::zip_equal(ExecutableOp(executable).getBody().getOps<EntryOp>(),
                           code.names, code.blocks, code.sharedBytes)) {
        alula::artifact::CudaLaunchSpec launch;
        launch.entry = name;
        launch.module = text;
        launch.sharedBytes = static_cast<uint32_t>(sharedBytes);
        for (uint32_t i = 0; i < entry.getBindings().size(); ++i)
          launch.arguments.push_back({ALULA_CUDA_ARGUMENT_BINDING, 8, i, 0});
        auto constants = static_cast<uint32_t>(entry.getConstantCount());
        for (uint32_t i = 0; i < constants; ++i)
          launch.arguments.push_back(
              {ALULA_CUDA_ARGUMENT_CONSTANT,
               static_cast<uint16_t>(code.isBrought ? 4 : 8), i, 0});
        for (uint32_t axis = 0; axis < 3; ++axis) {
          launch.gridAxis[axis] = axis;
          launch.block[axis] = static_cast<uint32_t>(block[axis]);
        }
        std::vector<alula::artifact::CudaLaunchSpec> launches;
        auto call = alula::dispatch::getLibraryCall(entry);
        if (call)
          launches.push_back(makeCall(entry, *call));
        if (!call || !call->isRequired)
          launches.push_back(std::move(launch));
        writer.addKernel(launches);
      }
    }
    std::vector<uint64_t> places;
    std::string image = writer.finish(places);
    entries.append(places.begin(), places.end());
    return image;
  }

  /// In place of the entry's own launch.
  alula::artifact::CudaLaunchSpec
  makeCall(EntryOp entry, const alula::dispatch::LibraryCall &call) {
    std::vector<alula_cuda_argument> arguments;
    for (int64_t binding : call.bindings)
      arguments.push_back(
          {ALULA_CUDA_ARGUMENT_BINDING, 8, static_cast<uint32_t>(binding), 0});
    std::string origin = "call " + call.text;
    if (!call.isRequired)
      origin += ", else generated";
    Builder builder(entry.getContext());
    origins.push_back(builder.getNamedAttr(entry.getSymName(),
                                           builder.getStringAttr(origin)));
    return alula::artifact::CudaLaunchSpec::makeCall(
        call.text, call.isRequired ? 0 : 1, std::move(arguments));
  }

  ModuleOp module;
  const alula::cpu::Machine &machine;
  const CodegenHooks &hooks;
  TargetKey key{"cuda", machine.name, machine.name, {}, 0};
  PassManager lowering;
  SmallVector<NamedAttribute> origins;
};
} // namespace

bool alula::cuda::canMakeCubin(StringRef name, StringRef chip) {
  auto from = objects::parseChip(name), to = objects::parseChip(chip);
  return from && to &&
         (from->isExact ? name == chip : to->number >= from->number);
}

LogicalResult alula::cuda::generateVariant(ModuleOp module,
                                           const cpu::Machine &machine,
                                           const CodegenHooks &hooks) {
  return Generator(module, machine, hooks).run();
}
