// The kinds of machine that there is code for.

#include "compiler/target/cpu/machine.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <optional>

using namespace alula::cpu;

namespace {
struct Row {
  const char *name, *target, *triple, *cpu;
  std::vector<std::string> features;
  /// Of these, what `cpu` does not have by itself, and what every machine with
  /// these has: older ones fetch a line to be read that will be written.
  const char *extra = "";
};

/// Levels of one instruction set stand highest first.
const std::vector<Row> &getTable() {
  static const std::vector<Row> table = [] {
    std::vector<std::string> v1 = {"cmov", "cx8",  "fxsr", "mmx",
                                   "sse",  "sse2", "x87"};
    std::vector<std::string> v2 = v1;
    v2.insert(v2.end(), {"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2",
                         "ssse3"});
    std::vector<std::string> v3 = v2;
    v3.insert(v3.end(), {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt",
                         "movbe", "xsave"});
    std::vector<std::string> v4 = v3;
    v4.insert(v4.end(),
              {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"});
    // Dot products of bytes; those of bf16 came later.
    std::vector<std::string> avxvnni = v3, vnni = v4, bf16;
    avxvnni.push_back("avxvnni");
    vnni.push_back("avx512vnni");
    bf16 = vnni;
    bf16.push_back("avx512bf16");
    const char *linuxX86 = "x86_64-unknown-linux-gnu";
    return std::vector<Row>{
        {"x86-64-v4-bf16", "x86_64", linuxX86, "x86-64-v4", bf16,
         "+prfchw,+avx512vnni,+avx512bf16"},
        {"x86-64-v4-vnni", "x86_64", linuxX86, "x86-64-v4", vnni,
         "+prfchw,+avx512vnni"},
        {"x86-64-v4", "x86_64", linuxX86, "x86-64-v4", v4, "+prfchw"},
        {"x86-64-v3-vnni", "x86_64", linuxX86, "x86-64-v3", avxvnni,
         "+avxvnni"},
        {"x86-64-v3", "x86_64", linuxX86, "x86-64-v3", v3},
        {"x86-64-v2", "x86_64", linuxX86, "x86-64-v2", v2},
        {"x86-64", "x86_64", linuxX86, "x86-64", v1},
        {"aarch64", "aarch64", "aarch64-unknown-linux-gnu", "generic",
         {"fp-armv8", "neon"}},
        {"riscv64", "riscv64", "riscv64-unknown-linux-gnu", "generic-rv64",
         {"a", "c", "d", "f", "i", "m"}, "+m,+a,+f,+d,+c"},
    };
  }();
  return table;
}

Machine makeMachine(const Row &row) {
  return {row.name, row.target, row.triple, row.cpu,
          row.extra, row.cpu, row.features};
}

std::optional<Machine> makeHost() {
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  llvm::StringMap<bool> has = llvm::sys::getHostCPUFeatures();
  for (const Row &row : getTable()) {
    if (triple.getArchName() != row.target)
      continue;
    // x86 reports every feature by these names; of the others only one level
    // is in the table.
    bool fits = triple.getArch() != llvm::Triple::x86_64 ||
                llvm::all_of(row.features, [&](const std::string &feature) {
                  return feature == "x87" || has.lookup(feature);
                });
    if (!fits)
      continue;
    Machine machine = makeMachine(row);
    machine.tune = llvm::sys::getHostCPUName().str();
    return machine;
  }
  return std::nullopt;
}

llvm::Expected<Machine> findHost() {
  // Asked once: a hypervisor takes 0.1 ms to answer. For ever: compilations
  // may outlive static objects.
  static const auto *const host = new std::optional<Machine>(makeHost());
  if (*host)
    return **host;
  return llvm::createStringError("no code generator for this machine: " +
                                 llvm::sys::getDefaultTargetTriple());
}
} // namespace

llvm::Expected<Machine> alula::cpu::findMachine(llvm::StringRef text) {
  if (text.empty() || text == "host")
    return findHost();
  std::string known = "host";
  for (const Row &row : getTable()) {
    if (text == row.name)
      return makeMachine(row);
    known += std::string(", ") + row.name;
  }
  return llvm::createStringError("no such cpu: " + text.str() +
                                 "; there are " + known);
}
