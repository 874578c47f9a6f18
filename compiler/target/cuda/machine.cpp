// The devices that there is code for.

#include "compiler/target/cuda/machine.h"

using namespace alula;
using namespace alula::cuda;

namespace {
/// Any device from the first with asynchronous copies on: programs come out
/// alike for all, so that they share a host program. sm_90a has one of its own.
constexpr cpu::Facts facts = [] {
  cpu::Facts facts;
  facts.indexBits = 64;
  facts.cores = 108;
  facts.memoryCores = 108;
  facts.l1Bytes = 128 << 10;
  facts.l2Bytes = 0;
  facts.l3Bytes = 40 << 20;
  facts.lineBytes = 128;
  facts.lanes = 32;
  facts.panelBytes = 0;
  facts.blockRows = 128;
  facts.blockColumns = 128;
  // Of a block that asks for nothing.
  facts.sharedBytes = 48 << 10;
  facts.blockThreads = 256;
  facts.attentionHead = 128;
  facts.launchSteps = 1 << 12;
  facts.workgroupSteps = 1 << 12;
  // A product is never a call of the library.
  facts.callSteps = int64_t(1) << 40;
  facts.kernelOps = 256;
  facts.alignment = 256;
  facts.vectorBytes = facts.fastVectorBytes = 16;
  facts.vectorRegisters = 0;
  facts.hasFma = facts.hasF16Conversions = true;
  return facts;
}();

struct Row {
  unsigned number;
  const char *cpu, *features;
};

/// Highest first. PTX for a processor also runs on later ones.
constexpr Row rows[] = {{90, "sm_90", "+ptx78"},
                        {89, "sm_89", "+ptx78"},
                        {87, "sm_87", "+ptx74"},
                        {86, "sm_86", "+ptx71"},
                        {80, "sm_80", "+ptx70"}};
} // namespace

llvm::Expected<objects::TargetKey> cuda::findDevice(llvm::StringRef name) {
  llvm::StringRef digits = name;
  unsigned number = 0;
  if (!digits.consume_front("sm_") || digits.consumeInteger(10, number) ||
      (!digits.empty() && digits != "a" && digits != "f"))
    return llvm::createStringError(
        "a device of cuda must be named as in cuda:sm_80: is '" + name + "'");
  return objects::TargetKey{"cuda", name.str(), name.str(), {}, 0};
}

llvm::Expected<cpu::Machine> cuda::findMachine(llvm::StringRef name) {
  auto key = findDevice(name);
  if (!key)
    return key.takeError();
  cpu::Machine machine;
  machine.name = key->name;
  machine.target = "nvptx64";
  machine.triple = "nvptx64-nvidia-cuda";
  machine.features = {key->name};
  machine.facts = facts;
  if (name == "sm_90a") {
    machine.cpu = "sm_90a";
    machine.extra = "+ptx80";
    machine.facts.cores = machine.facts.memoryCores = 132;
    machine.facts.l3Bytes = 50 << 20;
    machine.facts.sharedBytes = 227 << 10;
    return machine;
  }
  unsigned number = 0;
  name.drop_front(3).consumeInteger(10, number);
  for (const Row &row : rows)
    if (number >= row.number) {
      machine.cpu = row.cpu;
      machine.extra = row.features;
      return machine;
    }
  return llvm::createStringError(
      "no code generator for devices before sm_80: is '" + name + "'");
}
