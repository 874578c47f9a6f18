// What a library that holds LLVM and lld itself never needs of them: here are
// empty functions in its place. They are linked first and win over the
// archives' (-z muldefs), whose own are then left out. absent_targets.c has
// the targets.

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/CodeGen/FastISel.h"
#include "llvm/CodeGen/GlobalISel/InstructionSelector.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/IR/PassManager.h"
#include "llvm/LTO/LTO.h"
#include "llvm/Transforms/Coroutines/CoroSplit.h"
#include "llvm/Transforms/IPO/Attributor.h"
#include "llvm/Transforms/IPO/OpenMPOpt.h"
#include "llvm/Transforms/IPO/SampleProfile.h"
#include "llvm/Transforms/Instrumentation/ControlHeightReduction.h"
#include "llvm/Transforms/Instrumentation/InstrProfiling.h"
#include "llvm/Transforms/Instrumentation/PGOInstrumentation.h"

#include <vector>

namespace {
/// Nobody comes here, or the list of what is not needed is wrong.
[[noreturn]] void failAbsent(const char *what) {
  llvm::report_fatal_error(llvm::Twine("alula: this compiler is built without ") +
                           what);
}
} // namespace

// lld links object files of ours, never bitcode: no LTO, and with it none of
// the passes that only a pipeline written as text can name.
namespace lld::elf {
class BitcodeFile;
class InputFile;
class BitcodeCompiler {
public:
  BitcodeCompiler();
  ~BitcodeCompiler();
  void add(BitcodeFile &file);
  std::vector<InputFile *> compile();
};
BitcodeCompiler::BitcodeCompiler() {}
BitcodeCompiler::~BitcodeCompiler() {}
void BitcodeCompiler::add(BitcodeFile &) { failAbsent("LTO"); }
std::vector<InputFile *> BitcodeCompiler::compile() { return {}; }
} // namespace lld::elf

namespace llvm::lto {
SmallVector<const char *> LTO::getRuntimeLibcallSymbols(const Triple &) {
  failAbsent("LTO");
}
Expected<std::unique_ptr<InputFile>> InputFile::create(MemoryBufferRef) {
  failAbsent("LTO");
}
InputFile::~InputFile() {}
} // namespace llvm::lto

// Machines that we make no code for.
namespace lld::elf {
class TargetInfo;
#define ALULA_NO_MACHINE(name)                                                 \
  TargetInfo *get##name##TargetInfo();                                         \
  TargetInfo *get##name##TargetInfo() { failAbsent("the machine " #name); }
ALULA_NO_MACHINE(AMDGPU)
ALULA_NO_MACHINE(ARM)
ALULA_NO_MACHINE(AVR)
ALULA_NO_MACHINE(Hexagon)
ALULA_NO_MACHINE(LoongArch)
ALULA_NO_MACHINE(MSP430)
ALULA_NO_MACHINE(PPC)
ALULA_NO_MACHINE(PPC64)
ALULA_NO_MACHINE(SystemZ)
} // namespace lld::elf

// Passes that the default pipeline names but doesn't run, or that do nothing to
// kernels: they know no OpenMP, no coroutines and no profiles.
namespace llvm {
#define ALULA_NO_MODULE_PASS(name)                                             \
  PreservedAnalyses name::run(Module &, ModuleAnalysisManager &) {             \
    return PreservedAnalyses::all();                                           \
  }
#define ALULA_NO_CALL_GRAPH_PASS(name)                                         \
  PreservedAnalyses name::run(LazyCallGraph::SCC &, CGSCCAnalysisManager &,    \
                              LazyCallGraph &, CGSCCUpdateResult &) {          \
    return PreservedAnalyses::all();                                           \
  }
#define ALULA_NO_FUNCTION_PASS(name)                                           \
  PreservedAnalyses name::run(Function &, FunctionAnalysisManager &) {         \
    return PreservedAnalyses::all();                                           \
  }
ALULA_NO_MODULE_PASS(AttributorPass)
ALULA_NO_MODULE_PASS(InstrProfilingLoweringPass)
ALULA_NO_MODULE_PASS(OpenMPOptPass)
ALULA_NO_MODULE_PASS(PGOIndirectCallPromotion)
ALULA_NO_MODULE_PASS(PGOInstrumentationGen)
ALULA_NO_MODULE_PASS(PGOInstrumentationUse)
ALULA_NO_MODULE_PASS(SampleProfileLoaderPass)
ALULA_NO_CALL_GRAPH_PASS(AttributorCGSCCPass)
ALULA_NO_CALL_GRAPH_PASS(CoroSplitPass)
ALULA_NO_CALL_GRAPH_PASS(OpenMPOptCGSCCPass)
ALULA_NO_FUNCTION_PASS(ControlHeightReductionPass)
ALULA_NO_FUNCTION_PASS(PGOMemOPSizeOpt)
} // namespace llvm

// Kernels have no debug information: lld never looks for a line to name.
namespace llvm {
bool DWARFContext::verify(raw_ostream &, DIDumpOptions) {
  failAbsent("the verifier of debug information");
}
void DWARFContext::dump(raw_ostream &, DIDumpOptions,
                        std::array<std::optional<uint64_t>, DIDT_ID_Count>) {
  failAbsent("the printer of debug information");
}
} // namespace llvm

// SelectionDAG chooses our instructions; GlobalISel and FastISel are for -O0.
namespace llvm {
class FunctionPass;
class PassRegistry;
#define ALULA_NO_SELECTOR(target)                                              \
  class target##RegisterBankInfo;                                              \
  class target##Subtarget;                                                     \
  class target##TargetMachine;                                                 \
  InstructionSelector *create##target##InstructionSelector(                    \
      const target##TargetMachine &, const target##Subtarget &,                \
      const target##RegisterBankInfo &);                                       \
  InstructionSelector *create##target##InstructionSelector(                    \
      const target##TargetMachine &, const target##Subtarget &,                \
      const target##RegisterBankInfo &) {                                      \
    return nullptr;                                                            \
  }
ALULA_NO_SELECTOR(AArch64)
ALULA_NO_SELECTOR(RISCV)
ALULA_NO_SELECTOR(X86)

#define ALULA_NO_PASS(name, ...)                                               \
  FunctionPass *create##name(__VA_ARGS__);                                     \
  FunctionPass *create##name(__VA_ARGS__) { failAbsent(#name); }               \
  void initialize##name##Pass(PassRegistry &);                                 \
  void initialize##name##Pass(PassRegistry &) {}
ALULA_NO_PASS(AArch64O0PreLegalizerCombiner)
ALULA_NO_PASS(AArch64PreLegalizerCombiner)
ALULA_NO_PASS(AArch64PostLegalizerCombiner, bool)
ALULA_NO_PASS(AArch64PostLegalizerLowering)
ALULA_NO_PASS(AArch64PostSelectOptimize)
ALULA_NO_PASS(RISCVO0PreLegalizerCombiner)
ALULA_NO_PASS(RISCVPreLegalizerCombiner)
ALULA_NO_PASS(RISCVPostLegalizerCombiner)

#define ALULA_NO_STEP(name)                                                    \
  void initialize##name##Pass(PassRegistry &);                                 \
  void initialize##name##Pass(PassRegistry &) {}
ALULA_NO_STEP(IRTranslator)
ALULA_NO_STEP(InstructionSelect)
ALULA_NO_STEP(Legalizer)
ALULA_NO_STEP(LoadStoreOpt)
ALULA_NO_STEP(Localizer)
ALULA_NO_STEP(RegBankSelect)

#define ALULA_NO_FAST_SELECTOR(target)                                         \
  namespace target {                                                           \
  FastISel *createFastISel(FunctionLoweringInfo &, const TargetLibraryInfo *); \
  FastISel *createFastISel(FunctionLoweringInfo &,                             \
                           const TargetLibraryInfo *) {                        \
    return nullptr;                                                            \
  }                                                                            \
  }
ALULA_NO_FAST_SELECTOR(AArch64)
ALULA_NO_FAST_SELECTOR(X86)
} // namespace llvm

// The constructors of these steps; defined as such they would need the classes'
// tables of virtual functions and with them all of their code.
#define ALULA_NO_CONSTRUCTOR(name, symbol)                                     \
  [[noreturn]] void absent##name() __asm__("_ZN4llvm" symbol);                 \
  void absent##name() { failAbsent(#name); }
ALULA_NO_CONSTRUCTOR(IRTranslator, "12IRTranslatorC1ENS_15CodeGenOptLevelE")
ALULA_NO_CONSTRUCTOR(InstructionSelect,
                     "17InstructionSelectC1ENS_15CodeGenOptLevelERc")
ALULA_NO_CONSTRUCTOR(Legalizer, "9LegalizerC1Ev")
ALULA_NO_CONSTRUCTOR(LoadStoreOpt, "12LoadStoreOptC1Ev")
ALULA_NO_CONSTRUCTOR(Localizer, "9LocalizerC1Ev")
ALULA_NO_CONSTRUCTOR(RegBankSelect, "13RegBankSelectC1ERcNS0_4ModeE")
// Debug information of Windows.
ALULA_NO_CONSTRUCTOR(CodeViewDebug, "13CodeViewDebugC1EPNS_10AsmPrinterE")

// Nothing here writes compressed sections.
extern "C" {
#define ALULA_NO_COMPRESSION(name)                                             \
  void *name();                                                                \
  void *name() { failAbsent("compression"); }
ALULA_NO_COMPRESSION(ZSTD_createCCtx)
ALULA_NO_COMPRESSION(ZSTD_freeCCtx)
ALULA_NO_COMPRESSION(ZSTD_CCtx_setParameter)
ALULA_NO_COMPRESSION(ZSTD_compress2)
ALULA_NO_COMPRESSION(ZSTD_compressStream2)
ALULA_NO_COMPRESSION(ZSTD_compressBound)
}
