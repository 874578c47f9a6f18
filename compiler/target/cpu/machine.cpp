// The kinds of machine that there is code for.

#include "compiler/target/cpu/machine.h"

#include "compiler/kernel/library/product.h"
#include "dialect/dispatch/machine_check.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace alula::cpu;

namespace {
/// A server or a laptop of the last ten years, with no more than most of them
/// have. Tuned for: programs come out alike on each.
constexpr Facts portable = [] {
  Facts facts;
  facts.indexBits = 64;
  facts.cores = 16;
  facts.memoryCores = 4;
  facts.l1Bytes = 32 << 10;
  facts.l2Bytes = 256 << 10;
  facts.l3Bytes = 4 << 20;
  facts.lineBytes = 64;
  facts.lanes = 16;
  facts.panelBytes = ALULA_PANEL_BYTES;
  facts.blockRows = 1024;
  facts.blockColumns = 256;
  facts.sharedBytes = 0;
  facts.blockThreads = 1;
  facts.attentionHead = 512;
  facts.launchSteps = 1 << 15;
  facts.workgroupSteps = 1 << 15;
  facts.callSteps = 1 << 12;
  facts.kernelOps = 256;
  facts.alignment = 64;
  facts.vectorBytes = facts.fastVectorBytes = 16;
  facts.vectorRegisters = 16;
  return facts;
}();

constexpr Facts x86Base = [] {
  Facts facts = portable;
  facts.hasQuickCode = true;
  return facts;
}();

constexpr Facts x86V3 = [] {
  Facts facts = x86Base;
  facts.vectorBytes = facts.fastVectorBytes = 32;
  facts.hasFma = facts.hasF16Conversions = true;
  return facts;
}();

constexpr Facts x86V3Vnni = [] {
  Facts facts = x86V3;
  facts.int8Dot = 1;
  return facts;
}();

/// The first processors with the widest vectors are slowed down by them.
constexpr Facts x86V4 = [] {
  Facts facts = x86V3;
  facts.vectorBytes = 64;
  facts.vectorRegisters = 32;
  facts.interleave = 4;
  facts.hasMasks = facts.hasScale = facts.dividesSlowly = true;
  return facts;
}();

constexpr Facts x86V4Vnni = [] {
  Facts facts = x86V4;
  facts.int8Dot = 1;
  return facts;
}();

constexpr Facts x86V4Bf16 = [] {
  Facts facts = x86V4Vnni;
  facts.fastVectorBytes = 64;
  facts.bf16Dot = 1;
  return facts;
}();

constexpr Facts aarch64 = [] {
  Facts facts = portable;
  facts.vectorRegisters = 32;
  facts.hasFma = facts.hasF16Conversions = true;
  facts.hasSmallFloatConversions = facts.hasExtremes = true;
  facts.comparesHalves = facts.saturatesVectors = facts.selectsBits = true;
  return facts;
}();

/// Cortex-A75 and later: products of four bytes in each lane.
constexpr Facts aarch64Dot = [] {
  Facts facts = aarch64;
  facts.int8Dot = 1;
  return facts;
}();

/// Neoverse N2 and V1, Cortex-A510 and later: products of small matrices of
/// bf16 and of bytes.
constexpr Facts aarch64Matrices = [] {
  Facts facts = aarch64Dot;
  facts.bf16Dot = 1;
  facts.hasMatrixProducts = true;
  return facts;
}();

/// Without vectors; the library works in pieces of as many bytes.
constexpr Facts riscv64 = [] {
  Facts facts = portable;
  facts.vectorRegisters = 0;
  facts.hasFma = facts.hasExtremes = true;
  facts.comparesHalves = facts.saturatesVectors = facts.selectsBits = true;
  return facts;
}();

/// One core without caches and vectors, memory of some 100 KB: loops instead of
/// calls of routines, which are made for large products.
constexpr Facts small = [] {
  Facts facts = portable;
  facts.indexBits = 32;
  facts.cores = facts.memoryCores = 1;
  facts.l1Bytes = 16 << 10;
  facts.l2Bytes = facts.l3Bytes = 0;
  facts.lineBytes = 32;
  facts.lanes = 1;
  facts.panelBytes = 0;
  facts.blockRows = facts.blockColumns = 64;
  facts.attentionHead = 0;
  facts.callSteps = int64_t(1) << 40;
  facts.alignment = 16;
  facts.vectorRegisters = 0;
  facts.comparesHalves = facts.saturatesVectors = facts.selectsBits =
      facts.hasExtremes = true;
  facts.isBare = true;
  return facts;
}();

constexpr Facts softFloats = [] {
  Facts facts = small;
  facts.hasFloats = false;
  return facts;
}();

/// Whatever a C compiler makes code for: loops of numbers, each rounded by
/// itself. The compiler may find vectors for them.
constexpr Facts anyMachine = [] {
  Facts facts = small;
  facts.vectorRegisters = 16;
  facts.isText = true;
  return facts;
}();

/// In a browser: vectors, and one thread.
constexpr Facts wasm32 = [] {
  Facts facts = portable;
  facts.indexBits = 32;
  facts.cores = facts.memoryCores = 1;
  facts.lanes = 4;
  facts.panelBytes = 0;
  facts.blockRows = facts.blockColumns = 128;
  facts.alignment = 16;
  facts.comparesHalves = facts.saturatesVectors = facts.selectsBits =
      facts.hasExtremes = true;
  facts.isBare = true;
  return facts;
}();

struct Row {
  const char *name, *target, *triple, *cpu;
  Facts facts;
  std::vector<std::string> features;
  /// Of these, what `cpu` does not have by itself, and what every machine with
  /// these has: older ones fetch a line to be read that will be written.
  const char *extra = "";
  const char *abi = "";
  const char *layout = "";
};

/// Levels of one instruction set stand highest first.
const std::vector<Row> &getTable() {
  static const std::vector<Row> table = [] {
    std::vector<std::string> v1 = {"cmov", "cx8",  "fxsr", "mmx",
                                   "sse",  "sse2", "x87"};
    std::vector<std::string> v2 = v1;
    v2.insert(v2.end(),
              {"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"});
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
        {"x86-64-v4-bf16", "x86_64", linuxX86, "x86-64-v4", x86V4Bf16, bf16,
         "+prfchw,+avx512vnni,+avx512bf16"},
        {"x86-64-v4-vnni", "x86_64", linuxX86, "x86-64-v4", x86V4Vnni, vnni,
         "+prfchw,+avx512vnni"},
        {"x86-64-v4", "x86_64", linuxX86, "x86-64-v4", x86V4, v4, "+prfchw"},
        {"x86-64-v3-vnni", "x86_64", linuxX86, "x86-64-v3", x86V3Vnni, avxvnni,
         "+avxvnni"},
        {"x86-64-v3", "x86_64", linuxX86, "x86-64-v3", x86V3, v3},
        {"x86-64-v2", "x86_64", linuxX86, "x86-64-v2", x86Base, v2},
        {"x86-64", "x86_64", linuxX86, "x86-64", x86Base, v1},
        {"aarch64-mmla",
         "aarch64",
         "aarch64-unknown-linux-gnu",
         "generic",
         aarch64Matrices,
         {"bf16", "dotprod", "fp-armv8", "i8mm", "neon"},
         "+dotprod,+bf16,+i8mm"},
        {"aarch64-dot",
         "aarch64",
         "aarch64-unknown-linux-gnu",
         "generic",
         aarch64Dot,
         {"dotprod", "fp-armv8", "neon"},
         "+dotprod"},
        {"aarch64",
         "aarch64",
         "aarch64-unknown-linux-gnu",
         "generic",
         aarch64,
         {"fp-armv8", "neon"}},
        {"riscv64",
         "riscv64",
         "riscv64-unknown-linux-gnu",
         "generic-rv64",
         riscv64,
         {"a", "c", "d", "f", "i", "m"},
         "+m,+a,+f,+d,+c",
         "lp64d"},
        // Cortex-M4 and larger, with its floats of 32 bits.
        {"thumbv7em",
         "arm",
         "thumbv7em-none-unknown-eabihf",
         "cortex-m4",
         small,
         {"thumb2", "vfp4d16sp"}},
        // Cortex-M3, without floats.
        {"thumbv7m",
         "arm",
         "thumbv7m-none-unknown-eabi",
         "cortex-m3",
         softFloats,
         {"thumb2"}},
        {"riscv32",
         "riscv32",
         "riscv32-unknown-none-elf",
         "generic-rv32",
         small,
         {"a", "c", "f", "i", "m"},
         "+m,+a,+f,+c",
         "ilp32f"},
        {"wasm32",
         "wasm32",
         "wasm32-unknown-unknown",
         "generic",
         wasm32,
         {"simd128"},
         "+simd128"},
        // Written as C. LLVM optimizes for some machine without vectors;
        // pointers take 64 bits and places 32, so that C compilers may have
        // either for both.
        {"c99",
         "riscv64",
         "riscv64-unknown-linux-gnu",
         "generic-rv64",
         anyMachine,
         {},
         "+m,+a,+f,+d,+c",
         "lp64d",
         "e-m:e-p:64:64:64:32-i64:64-i128:128-n32-S128"},
    };
  }();
  return table;
}

Machine makeMachine(const Row &row) {
  return {row.name, row.target, row.triple, row.cpu,      row.extra,
          row.abi,  row.layout, row.cpu,    row.features, row.facts};
}

std::optional<Machine> makeHost() {
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  llvm::StringMap<bool> has = llvm::sys::getHostCPUFeatures();
  for (const Row &row : getTable()) {
    if (triple.getArchName() != row.target)
      continue;
    // LLVM reports features by these names, but for some that every processor
    // of ours has, and new ones of aarch64, which then has a lower level.
    bool fits = triple.getArch() == llvm::Triple::riscv64 ||
                llvm::all_of(row.features, [&](const std::string &feature) {
                  return feature == "x87" || feature == "fp-armv8" ||
                         feature == "neon" || has.lookup(feature);
                });
    if (!fits)
      continue;
    Machine machine = makeMachine(row);
    machine.tune = llvm::sys::getHostCPUName().str();
    // On these a gather takes longer than its loads do, one by one.
    if (llvm::StringRef(machine.tune).starts_with("znver"))
      machine.extra += std::string(machine.extra.empty() ? "" : ",") +
                       "+prefer-no-gather,+prefer-no-scatter";
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

/// One of "cores=2:l2_bytes=1M".
static llvm::Error setFact(Facts &facts, llvm::StringRef text) {
  auto [name, number] = text.split('=');
  const alula::dispatch::MachineFact *fact =
      alula::dispatch::findMachineFact(name);
  if (!fact || fact->isOfLevel) {
    std::string known;
    for (const alula::dispatch::MachineFact &each :
         alula::dispatch::getMachineFacts())
      if (!each.isOfLevel)
        known += (known.empty() ? "" : ", ") + each.name.str();
    return llvm::createStringError("no such fact of a cpu: '" + name.str() +
                                   "'; there are " + known);
  }
  unsigned shift = llvm::StringSwitch<unsigned>(number.take_back(1))
                       .Case("K", 10)
                       .Case("M", 20)
                       .Case("G", 30)
                       .Default(0);
  int64_t value = 0;
  if ((shift ? number.drop_back() : number).getAsInteger(10, value) ||
      value < 0 || value > (INT64_MAX >> shift))
    return llvm::createStringError(name.str() +
                                   " must be a number, perhaps with K, M or G: "
                                   "is '" +
                                   number.str() + "'");
  facts.*fact->member = value << shift;
  return llvm::Error::success();
}

static llvm::Expected<Machine> findRow(llvm::StringRef text) {
  if (text.empty() || text == "host")
    return findHost();
  std::string known = "host";
  for (const Row &row : getTable()) {
    if (text == row.name)
      return makeMachine(row);
    known += std::string(", ") + row.name;
  }
  return llvm::createStringError("no such cpu: " + text.str() + "; there are " +
                                 known);
}

llvm::Expected<Machine> alula::cpu::findMachine(llvm::StringRef text) {
  auto [name, facts] = text.split(':');
  llvm::Expected<Machine> machine = findRow(name);
  while (machine && !facts.empty()) {
    llvm::StringRef fact;
    std::tie(fact, facts) = facts.split(':');
    if (llvm::Error error = setFact(machine->facts, fact))
      return std::move(error);
  }
  if (machine)
    if (auto problem = dispatch::findProblem(machine->facts))
      return llvm::createStringError(*problem);
  return machine;
}

const Facts &alula::cpu::getPortableFacts() { return portable; }

std::vector<std::string> alula::cpu::listPortable() {
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  if (triple.getArch() == llvm::Triple::x86_64)
    return {"x86-64-v4-bf16", "x86-64-v4", "x86-64-v3", "x86-64-v2"};
  if (triple.getArch() == llvm::Triple::aarch64)
    return {"aarch64-mmla", "aarch64-dot", "aarch64"};
  return {triple.getArchName().str()};
}

std::vector<std::string> alula::cpu::listByteLevels() {
  std::vector<std::string> portable = listPortable(), names;
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  for (const Row &row : getTable())
    if (triple.getArchName() == row.target && row.facts.int8Dot &&
        !llvm::is_contained(portable, row.name))
      names.push_back(row.name);
  return names;
}

std::optional<unsigned> alula::cpu::getRank(const Machine &machine) {
  for (const auto &[rank, row] : llvm::enumerate(getTable()))
    if (machine.name == row.name)
      return static_cast<unsigned>(rank);
  return std::nullopt;
}
