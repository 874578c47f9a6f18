// What this CPU is and has, by the names that LLVM uses.

#pragma once

#include <cstddef>
#include <cstdint>

namespace alula::runtime {

/// What a CPU says of itself. Tests make others than this one.
struct Processor {
  /// Of x86: answers of CPUID by register and leaf, 0 if there is no such
  /// leaf. Elsewhere the first two are the kernel's AT_HWCAP and AT_HWCAP2.
  enum Word { edx1, ecx1, ebx7, ecx7, edx7, eax7Of1, ecxExtended, wordCount };
  uint32_t words[wordCount];
  /// Of x86: XCR0, the registers that the system saves; 0 if it does not say.
  uint64_t savedStates;
};

/// This machine's.
Processor getProcessor();

/// "x86_64", "aarch64", "riscv64", or "" for anything else.
const char *getHostTarget();

/// Whether the CPU has it and the system saves its registers. A name that is
/// not known is a thing that the CPU has not.
bool hasFeature(const Processor &processor, const char *name);

/// All features that the CPU has, with blanks between; for error texts.
void listFeatures(const Processor &processor, char *text, size_t size);

/// The best machine that the compiler knows and whose code runs here, as its
/// --target has it: "x86-64-v3"; "" if it makes no code for this CPU.
const char *getBestMachine(const Processor &processor);

} // namespace alula::runtime
