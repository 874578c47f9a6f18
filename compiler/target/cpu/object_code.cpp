// LLVM's optimizer and code generator, set up for freestanding kernels.

#include "compiler/target/cpu/object_code.h"

#include "compiler/target/cpu/convert_small_floats.h"
#include "compiler/target/cpu/divide_by_inverse.h"
#include "compiler/target/cpu/expand_extremes.h"
#include "compiler/target/cpu/interleave_loops.h"
#include "compiler/target/cpu/library.h"
#include "compiler/target/cpu/limit_unrolling.h"
#include "compiler/target/cpu/mark_disjoint.h"
#include "compiler/target/cpu/mask_ends.h"
#include "compiler/target/cpu/narrow_comparisons.h"
#include "compiler/target/cpu/precompiled.h"
#include "compiler/target/cpu/prefetch_rows.h"
#include "compiler/target/cpu/quick_code.h"
#include "compiler/target/cpu/reduce_extremes.h"
#include "compiler/target/cpu/saturate_vectors.h"
#include "compiler/target/cpu/select_bits_as_floats.h"
#include "compiler/target/cpu/select_scale.h"
#include "compiler/target/cpu/widen_halves.h"

#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <map>
#include <mutex>
#include <optional>

using namespace alula::cpu;

namespace {
/// A block of so many accesses to memory is scheduled in parts: LLVM looks at
/// all pairs, and a concatenation of 1,000 pieces took 7 s. Where the option is
/// unknown, or was given, it stays.
void limitSchedules() {
  auto set = [](llvm::StringRef name, unsigned value) {
    auto *option = static_cast<llvm::cl::opt<unsigned> *>(
        llvm::cl::getRegisteredOptions().lookup(name));
    if (option && !option->getNumOccurrences())
      option->setValue(value);
  };
  set("dag-maps-huge-region", 400);
  set("dag-maps-reduction-size", 200);
}

void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
#define ALULA_INITIALIZE(target)                                               \
  LLVMInitialize##target##TargetInfo();                                        \
  LLVMInitialize##target##Target();                                            \
  LLVMInitialize##target##TargetMC();                                          \
  LLVMInitialize##target##AsmPrinter();
    ALULA_INITIALIZE(X86)
    ALULA_INITIALIZE(AArch64)
    ALULA_INITIALIZE(RISCV)
    ALULA_INITIALIZE(ARM)
    ALULA_INITIALIZE(WebAssembly)
#undef ALULA_INITIALIZE
    limitSchedules();
  });
}

/// How code knows where things are.
llvm::Reloc::Model getPlaces(const Machine &machine) {
  if (!machine.facts.isBare)
    return llvm::Reloc::PIC_;
  if (!machine.isMovable)
    return llvm::Reloc::Static;
  // Constants lie beside the code; PIC asks a table for them.
  return machine.target == "arm" ? llvm::Reloc::ROPI : llvm::Reloc::PIC_;
}

std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const Machine &machine, llvm::CodeGenOptLevel level,
                    std::string &error) {
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(machine.triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  // Only operations that say so are fused: the kernel library counts on it, and
  // so do programs whose ops round one after the other.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  options.FunctionSections = true;
  options.DataSections = true;
  options.MCOptions.ABIName = machine.abi;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      machine.triple, machine.cpu, machine.extra, options, getPlaces(machine),
      std::nullopt, level));
}

/// The passes of a code generator. They write object files of one module after
/// the other, each of which may have a context of its own: making them takes as
/// long as running them on a small kernel.
class ObjectPasses {
public:
  explicit ObjectPasses(llvm::TargetMachine &targetMachine) {
    isComplete = !targetMachine.addPassesToEmitFile(
        passes, os, nullptr, llvm::CodeGenFileType::ObjectFile);
  }

  /// Empty if there are no object files for the machine.
  std::string emit(llvm::Module &module) {
    if (!isComplete)
      return {};
    passes.run(module);
    std::string object(bytes);
    bytes.clear();
    return object;
  }

private:
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream os{bytes};
  llvm::legacy::PassManager passes;
  bool isComplete;
};

/// A target machine for one thread at a time. What it knows of a processor it
/// learns with its first function, which takes as long as compiling a small
/// kernel, so it waits for the next module. Its level stays: generating code
/// without optimization leaves marks on it.
class TargetMachineLease {
public:
  explicit TargetMachineLease(
      const Machine &machine,
      llvm::CodeGenOptLevel level = llvm::CodeGenOptLevel::Aggressive)
      : key(machine.triple + " " + machine.cpu + " " + machine.extra + " " +
            std::to_string(static_cast<int>(level)) +
            (machine.isMovable ? " movable" : "")) {
    initializeTargets();
    {
      Pool &pool = getPool();
      std::lock_guard lock(pool.mutex);
      if (auto &idle = pool.idle[key]; !idle.empty()) {
        lent = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (!lent.machine)
      lent.machine = createTargetMachine(machine, level, error);
  }
  TargetMachineLease(const TargetMachineLease &) = delete;
  TargetMachineLease &operator=(const TargetMachineLease &) = delete;
  ~TargetMachineLease() {
    constexpr size_t mostIdle = 8;
    Pool &pool = getPool();
    std::lock_guard lock(pool.mutex);
    if (auto &idle = pool.idle[key]; lent.machine && idle.size() < mostIdle)
      idle.push_back(std::move(lent));
  }

  explicit operator bool() const { return lent.machine != nullptr; }
  llvm::TargetMachine &operator*() const { return *lent.machine; }
  llvm::TargetMachine *operator->() const { return lent.machine.get(); }
  llvm::Error takeError() const { return llvm::createStringError(error); }

  std::string emitObject(llvm::Module &module) {
    if (!lent.passes)
      lent.passes = std::make_unique<ObjectPasses>(*lent.machine);
    std::string object = lent.passes->emit(module);
    // What writes lines keeps more of its module than is known here.
    if (module.getNamedMetadata("llvm.dbg.cu"))
      lent.passes = nullptr;
    return object;
  }

private:
  struct Lent {
    std::unique_ptr<llvm::TargetMachine> machine;
    /// They go before the machine.
    std::unique_ptr<ObjectPasses> passes;
  };
  struct Pool {
    std::mutex mutex;
    std::map<std::string, std::vector<Lent>> idle;
  };
  /// For ever: compilations may outlive static objects.
  static Pool &getPool() {
    static auto *const pool = new Pool;
    return *pool;
  }

  std::string key, error;
  Lent lent;
};

/// Kernels stand alone: loops must not become calls of memset or memcpy, and
/// nobody unwinds through them.
void markFreestanding(llvm::Module &module, const Machine &machine) {
  const Facts &facts = machine.facts;
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("no-builtins");
    function.addFnAttr("tune-cpu", machine.tune);
    function.addFnAttr("target-cpu", machine.cpu);
    // LLVM avoids the widest where old machines became slower by them.
    if (facts.vectorBytes > 32 && facts.fastVectorBytes == facts.vectorBytes)
      function.addFnAttr("prefer-vector-width",
                         std::to_string(8 * facts.vectorBytes));
    if (!machine.extra.empty())
      function.addFnAttr("target-features", machine.extra);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (facts.isBare && (facts.isText || !facts.vectorRegisters))
      function.addFnAttr(llvm::Attribute::OptimizeForSize);
  }
}

std::string emitFile(llvm::Module &module, llvm::TargetMachine &targetMachine,
                     llvm::CodeGenFileType kind) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager codegen;
  if (targetMachine.addPassesToEmitFile(codegen, os, nullptr, kind))
    return {};
  codegen.run(module);
  return std::string(bytes);
}

std::string print(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, nullptr);
  return text;
}

enum class Origin { Program, Library };

/// Drops remarks that a requested loop transformation was not done: that names
/// no line of a program, and there is nothing to be done about it.
class WithoutMissedTransforms : public llvm::DiagnosticHandler {
public:
  explicit WithoutMissedTransforms(
      std::unique_ptr<llvm::DiagnosticHandler> others)
      : others(std::move(others)) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    return info.getKind() == llvm::DK_OptimizationFailure ||
           others->handleDiagnostics(info);
  }
  bool isAnalysisRemarkEnabled(llvm::StringRef pass) const override {
    return others->isAnalysisRemarkEnabled(pass);
  }
  bool isMissedOptRemarkEnabled(llvm::StringRef pass) const override {
    return others->isMissedOptRemarkEnabled(pass);
  }
  bool isPassedOptRemarkEnabled(llvm::StringRef pass) const override {
    return others->isPassedOptRemarkEnabled(pass);
  }
  bool isAnyRemarkEnabled() const override {
    return others->isAnyRemarkEnabled();
  }

private:
  std::unique_ptr<llvm::DiagnosticHandler> others;
};

/// Passes of the default pipeline that find nothing in kernels: these have one
/// function once their calls are inlined, no coroutines, no OpenMP, no calls by
/// pointer, loops whose conditions say nothing of each other, and no stores
/// that others overwrite or read in their next step.
bool isIdle(llvm::StringRef pass) {
  return llvm::is_contained<llvm::StringRef>(
      {"AggressiveInstCombinePass",
       "AlignmentFromAssumptionsPass",
       "AnnotationRemarksPass",
       "CGProfilePass",
       "CalledValuePropagationPass",
       "ConstraintEliminationPass",
       "CoroElidePass",
       "DSEPass",
       "DeadArgumentEliminationPass",
       "Float2IntPass",
       "GlobalOptPass",
       "InferFunctionAttrsPass",
       "InstSimplifyPass",
       "JumpThreadingPass",
       "LibCallsShrinkWrapPass",
       "LoopDistributePass",
       "LoopLoadEliminationPass",
       "LoopSinkPass",
       "MemCpyOptPass",
       "MergedLoadStoreMotionPass",
       "MoveAutoInitPass",
       "OpenMPOptCGSCCPass",
       "OpenMPOptPass",
       "PostOrderFunctionAttrsPass",
       "RelLookupTableConverterPass",
       "ReversePostOrderFunctionAttrsPass",
       "SCCPPass",
       "SpeculativeExecutionPass",
       "TailCallElimPass"},
      pass);
}

/// Whether the code generator need not optimize.
bool optimize(llvm::Module &module, const Machine &machine,
              llvm::TargetMachine &targetMachine, Origin origin,
              const std::function<bool()> &isCancelled = {}) {
  llvm::LLVMContext &context = module.getContext();
  context.setDiagnosticHandler(std::make_unique<WithoutMissedTransforms>(
      context.getDiagnosticHandler()));
  llvm::PassInstrumentationCallbacks callbacks;
  if (origin == Origin::Program)
    callbacks.registerShouldRunOptionalPassCallback(
        [&](llvm::StringRef pass, llvm::Any) {
          return !isIdle(pass) && !(isCancelled && isCancelled());
        });
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&targetMachine, llvm::PipelineTuningOptions(),
                            std::nullopt, &callbacks);
  // The library's loops are tuned by hand.
  if (origin == Origin::Program) {
    markDisjoint(builder);
    // Before it: masked loops are vectorized there.
    narrowComparisons(builder);
    maskEnds(builder, machine);
    // After it: what it asks of loops stays.
    limitUnrolling(builder);
    if (!machine.facts.isBare)
      prefetchNextRows(builder);
    if (machine.facts.dividesSlowly)
      divideByInverse(builder);
  }
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  // What the library has for other machines is not worth optimizing.
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::EarlyCSEPass());
  simplify.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager forget;
  forget.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(simplify)));
  forget.addPass(llvm::GlobalDCEPass());
  forget.run(module, modules);
  declareScale(module, machine);
  reduceExtremes(module, machine);
  if (!machine.facts.hasFloats)
    expandExtremes(module);
  // After those: what it asks about functions stays true.
  interleaveLoops(module, machine, functions);
  // Nothing that fills more than a vector or two: its loops stay scalar.
  constexpr uint64_t fewSteps = 16;
  bool isQuick = machine.facts.hasQuickCode &&
                 (onlyCalls(module, functions) ||
                  isLongAndSoonDone(module, functions, fewSteps));
  // Code that takes no time is simple enough. At O3 nests of small loops become
  // thousands of instructions without a loop: slower code, and a hundred times
  // the time to compile it.
  if (!isQuick) {
    // Else the first passes go over each function by itself.
    llvm::ModulePassManager inlined;
    inlined.addPass(llvm::AlwaysInlinerPass());
    inlined.addPass(llvm::GlobalDCEPass());
    inlined.run(module, modules);
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
        .run(module, modules);
  }
  // The code generator would write the same instructions, in another order.
  constexpr uint64_t someSteps = 64;
  bool isSoonDone = machine.facts.hasQuickCode &&
                    isLongAndSoonDone(module, functions, someSteps);
  if (machine.facts.hasScale)
    selectScale(module);
  if (!machine.facts.selectsBits)
    selectBitsAsFloats(module);
  if (!machine.facts.comparesHalves)
    widenHalves(module);
  if (!machine.facts.saturatesVectors)
    saturateVectors(module);
  return isQuick || isSoonDone;
}

std::string optimizeAndEmit(llvm::Module &module, const Machine &machine,
                            TargetMachineLease &targetMachine, Origin origin,
                            const std::function<bool()> &isCancelled = {},
                            const OnForm &onForm = {}) {
  bool isQuick = optimize(module, machine, *targetMachine, origin, isCancelled);
  if (isCancelled && isCancelled())
    return {};
  std::optional<TargetMachineLease> quick;
  if (isQuick)
    quick.emplace(machine, llvm::CodeGenOptLevel::None);
  TargetMachineLease &generator = quick && *quick ? *quick : targetMachine;
  if (onForm) {
    onForm(".opt.ll", print(module));
    // The code generator leaves its marks on what it gets.
    onForm(".s", emitFile(*llvm::CloneModule(module), *generator,
                          llvm::CodeGenFileType::AssemblyFile));
  }
  std::string object = generator.emitObject(module);
  if (onForm)
    onForm(".o", object);
  return object;
}

llvm::Expected<std::string> makeBuiltinsObject(const Machine &machine,
                                               std::vector<std::string> names) {
  TargetMachineLease targetMachine(machine);
  if (!targetMachine)
    return targetMachine.takeError();
  std::string object;
  // A builtin may itself be compiled to a call of another.
  for (size_t known = names.size() + 1; names.size() != known;) {
    known = names.size();
    llvm::LLVMContext context;
    auto module = loadBuiltins(context, machine, names);
    if (!module)
      return module.takeError();
    if ((*module)->empty())
      return std::string();
    markFreestanding(**module, machine);
    object = optimizeAndEmit(**module, machine, targetMachine, Origin::Library);
    if (object.empty())
      return llvm::createStringError("no object files for " + machine.triple);
    auto more = findUndefined(object);
    if (!more)
      return more.takeError();
    names.insert(names.end(), more->begin(), more->end());
    llvm::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  return object;
}
} // namespace

namespace {
/// Up to where a program is optimized.
llvm::Error prepareProgram(llvm::Module &module, const Machine &machine,
                           llvm::TargetMachine &targetMachine,
                           const OnForm &onForm = {}) {
  module.setTargetTriple(machine.triple);
  if (machine.layout.empty())
    module.setDataLayout(targetMachine.createDataLayout());
  else
    module.setDataLayout(machine.layout);
  if (onForm)
    onForm(".ll", print(module));
  convertSmallFloats(module, machine);
  if (auto problem = linkLibrary(module, machine))
    return problem;
  markFreestanding(module, machine);
  return llvm::Error::success();
}
} // namespace

llvm::Error alula::cpu::optimizeProgram(llvm::Module &module,
                                        const Machine &machine) {
  TargetMachineLease targetMachine(machine);
  if (!targetMachine)
    return targetMachine.takeError();
  if (auto problem = prepareProgram(module, machine, *targetMachine))
    return problem;
  optimize(module, machine, *targetMachine, Origin::Program);
  return llvm::Error::success();
}

llvm::Error alula::cpu::optimizeLibrary(llvm::Module &module,
                                        const Machine &machine) {
  TargetMachineLease targetMachine(machine);
  if (!targetMachine)
    return targetMachine.takeError();
  markFreestanding(module, machine);
  optimize(module, machine, *targetMachine, Origin::Library);
  return llvm::Error::success();
}

llvm::Expected<std::string> alula::cpu::emitObject(llvm::Module &module,
                                                   const Machine &machine,
                                                   llvm::StringRef stackUsage) {
  initializeTargets();
  std::string error;
  auto targetMachine =
      createTargetMachine(machine, llvm::CodeGenOptLevel::Aggressive, error);
  if (!targetMachine)
    return llvm::createStringError(error);
  targetMachine->Options.StackUsageOutput = stackUsage;
  std::string object =
      emitFile(module, *targetMachine, llvm::CodeGenFileType::ObjectFile);
  if (object.empty())
    return llvm::createStringError("no object files for " + machine.triple);
  return object;
}

llvm::Expected<std::string>
alula::cpu::generateObject(llvm::Module &module, const Machine &machine,
                           const std::function<bool()> &isCancelled,
                           const OnForm &onForm) {
  TargetMachineLease targetMachine(machine);
  if (!targetMachine)
    return targetMachine.takeError();
  if (auto problem = prepareProgram(module, machine, *targetMachine, onForm))
    return std::move(problem);
  std::string object = optimizeAndEmit(module, machine, targetMachine,
                                       Origin::Program, isCancelled, onForm);
  if (object.empty())
    return llvm::createStringError("no object files for " + machine.triple);
  return object;
}

namespace {
/// A cache: made once for each key, other threads wait for it.
llvm::Expected<std::string>
getOnce(const std::string &key,
        llvm::function_ref<llvm::Expected<std::string>()> make) {
  struct Slot {
    std::mutex mutex;
    std::optional<std::string> object;
  };
  static std::mutex mutex;
  static std::map<std::string, Slot> slots;
  Slot *slot;
  {
    std::lock_guard lock(mutex);
    slot = &slots[key];
  }
  std::lock_guard lock(slot->mutex);
  if (!slot->object) {
    auto object = make();
    if (!object)
      return object.takeError();
    slot->object = std::move(*object);
  }
  return *slot->object;
}

llvm::Expected<std::string> makeRoutineObject(const Machine &machine,
                                              llvm::StringRef name) {
  TargetMachineLease targetMachine(machine);
  if (!targetMachine)
    return targetMachine.takeError();
  llvm::LLVMContext context;
  auto module = loadRoutine(context, machine, name);
  if (!module)
    return module.takeError();
  if (!*module)
    return std::string();
  markFreestanding(**module, machine);
  std::string object =
      optimizeAndEmit(**module, machine, targetMachine, Origin::Library);
  if (object.empty())
    return llvm::createStringError("no object files for " + machine.triple);
  return object;
}
} // namespace

llvm::Expected<std::string> alula::cpu::getRoutineObject(const Machine &machine,
                                                         llvm::StringRef name) {
  if (llvm::StringRef object = findPrecompiled(machine.name, name);
      !object.empty())
    return object.str();
  return getOnce(machine.name + " " + machine.tune + " " + name.str(),
                 [&] { return makeRoutineObject(machine, name); });
}

llvm::Expected<std::string>
alula::cpu::getBuiltinsObject(const Machine &machine,
                              const std::vector<std::string> &names) {
  if (names.empty())
    return std::string();
  std::string key = machine.name + " " + machine.tune + " builtins";
  for (const std::string &name : names)
    key += " " + name;
  return getOnce(key, [&] { return makeBuiltinsObject(machine, names); });
}
