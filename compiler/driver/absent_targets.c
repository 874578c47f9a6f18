/* lld asks LLVM for every target that it was built with. In a library that
 * holds LLVM itself, those that we make no code for are these empty functions:
 * 40 MB less. Ours need no parser of assembly either. */

#include <stdint.h>

#define ALULA_NO_TARGET(target)                                                \
  void LLVMInitialize##target##TargetInfo(void);                               \
  void LLVMInitialize##target##TargetInfo(void) {}                             \
  void LLVMInitialize##target##Target(void);                                   \
  void LLVMInitialize##target##Target(void) {}                                 \
  void LLVMInitialize##target##TargetMC(void);                                 \
  void LLVMInitialize##target##TargetMC(void) {}                               \
  void LLVMInitialize##target##AsmPrinter(void);                               \
  void LLVMInitialize##target##AsmPrinter(void) {}                             \
  ALULA_NO_PARSER(target)
#define ALULA_NO_PARSER(target)                                                \
  void LLVMInitialize##target##AsmParser(void);                                \
  void LLVMInitialize##target##AsmParser(void) {}

ALULA_NO_PARSER(X86)
ALULA_NO_PARSER(AArch64)
ALULA_NO_PARSER(RISCV)
ALULA_NO_TARGET(AMDGPU)
ALULA_NO_TARGET(ARM)
ALULA_NO_TARGET(AVR)
ALULA_NO_TARGET(BPF)
ALULA_NO_TARGET(Hexagon)
ALULA_NO_TARGET(Lanai)
ALULA_NO_TARGET(LoongArch)
ALULA_NO_TARGET(M68k)
ALULA_NO_TARGET(Mips)
ALULA_NO_TARGET(MSP430)
ALULA_NO_TARGET(PowerPC)
ALULA_NO_TARGET(Sparc)
ALULA_NO_TARGET(SystemZ)
ALULA_NO_TARGET(VE)
ALULA_NO_TARGET(WebAssembly)
ALULA_NO_TARGET(XCore)
ALULA_NO_TARGET(Xtensa)

/* Debian's LLVM adds Polly to what is optimized while linking; we link code
 * that is done. The struct is LLVM's PassPluginLibraryInfo. */
struct alula_pass_plugin {
  uint32_t api_version;
  const char *name, *version;
  void (*add_passes)(void *builder);
};

static void addNoPasses(void *builder) { (void)builder; }

struct alula_pass_plugin
alula_absent_polly(void) __asm__("_Z18getPollyPluginInfov");
struct alula_pass_plugin alula_absent_polly(void) {
  struct alula_pass_plugin none = {1, "none", "", addNoPasses};
  return none;
}
