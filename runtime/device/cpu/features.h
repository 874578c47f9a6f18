// What this CPU is and has, by the names that LLVM uses.

#pragma once

#include <cstddef>

namespace alula::runtime {

/// "x86_64", "aarch64", "riscv64", or "" for anything else.
const char *getHostTarget();

/// Whether the CPU has it and the system saves its registers. A name that is
/// not known is a thing that the CPU has not.
bool hasFeature(const char *name);

/// All features that the CPU has, with blanks between; for error texts.
void listFeatures(char *text, size_t size);

/// The best machine that the compiler knows and whose code runs here, as its
/// --target has it: "x86-64-v3"; "" if it makes no code for this CPU.
const char *getBestMachine();

} // namespace alula::runtime
