// Header, functions, ports, sizes, names, then the code.

#include "compiler/standalone/blob.h"

#include "alula/min.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace alula::standalone;

/// Features that are more than each machine of this kind has.
static uint32_t getFeature(StringRef target, StringRef name) {
  if (target == "x86_64")
    return StringSwitch<uint32_t>(name)
        .Case("sse4.2", ALULA_MIN_X86_SSE42)
        .Case("avx2", ALULA_MIN_X86_AVX2)
        .Case("avx512f", ALULA_MIN_X86_AVX512)
        .Case("avx512vnni", ALULA_MIN_X86_AVX512VNNI)
        .Case("avx512bf16", ALULA_MIN_X86_AVX512BF16)
        .Case("avxvnni", ALULA_MIN_X86_AVXVNNI)
        .Default(0);
  if (target == "arm")
    return name == "vfp4d16sp" ? ALULA_MIN_ARM_F32 : 0;
  return StringSwitch<uint32_t>(name)
      .Case("f", ALULA_MIN_RISCV_F32)
      .Case("d", ALULA_MIN_RISCV_F64)
      .Default(0);
}

namespace {
class BlobWriter {
public:
  Expected<std::string> run(const Program &program, const CodeFacts &facts,
                            StringRef target, const Image &image) {
    auto machine = StringSwitch<uint32_t>(target)
                       .Case("x86_64", ALULA_MIN_X86_64)
                       .Case("aarch64", ALULA_MIN_AARCH64)
                       .Case("riscv64", ALULA_MIN_RISCV64)
                       .Case("riscv32", ALULA_MIN_RISCV32)
                       .Case("arm", ALULA_MIN_THUMB2)
                       .Default(0);
    if (!machine)
      return createStringError("there are no blobs for " + facts.machine +
                               ", whose code has one place");
    // Code finds what is near by the page of 4096 bytes that it is in.
    uint64_t alignment =
        std::max<uint64_t>(image.alignment, target == "aarch64" ? 4096 : 4);
    bytes.resize(4 * ALULA_MIN_HEADER_WORDS);
    std::vector<const alula::standalone::Function *> called;
    for (const alula::standalone::Function &function : program.functions)
      if (function.isExported)
        called.push_back(&function);
    size_t functions = bytes.size();
    bytes.resize(functions + 4 * ALULA_MIN_FUNCTION_WORDS * called.size());
    std::vector<size_t> ports;
    for (const alula::standalone::Function *function : called)
      ports.push_back(writePorts(*function));
    std::vector<size_t> names;
    for (const alula::standalone::Function *function : called)
      names.push_back(addName(function->name));
    uint64_t code = alignTo(bytes.size(), alignment);
    bytes.resize(code);
    bytes += image.bytes;
    bytes.resize(alignTo(bytes.size(), 4));
    if (bytes.size() > INT32_MAX)
      return createStringError("a blob has less than 2 GB");
    for (auto [i, function] : enumerate(called)) {
      size_t at = functions + 4 * ALULA_MIN_FUNCTION_WORDS * i;
      put(at, ALULA_MIN_FUNCTION_NAME, names[i]);
      put(at, ALULA_MIN_FUNCTION_ENTRY, code + image.entries[i]);
      put(at, ALULA_MIN_FUNCTION_ARENA_BYTES, function->arenaBytes);
      put(at, ALULA_MIN_FUNCTION_INPUTS, function->inputs.size());
      put(at, ALULA_MIN_FUNCTION_OUTPUTS, function->outputs.size());
      put(at, ALULA_MIN_FUNCTION_PORTS, ports[i]);
    }
    uint32_t features = 0;
    for (const std::string &feature : facts.features)
      features |= getFeature(target, feature);
    put(0, ALULA_MIN_AT_MAGIC, ALULA_MIN_MAGIC);
    put(0, ALULA_MIN_AT_VERSION, ALULA_MIN_VERSION);
    put(0, ALULA_MIN_AT_BYTES, bytes.size());
    put(0, ALULA_MIN_AT_MACHINE, machine);
    put(0, ALULA_MIN_AT_FEATURES, features);
    put(0, ALULA_MIN_AT_ALIGNMENT, alignment);
    put(0, ALULA_MIN_AT_ARENA_ALIGNMENT, program.alignment);
    put(0, ALULA_MIN_AT_STATE_BYTES, program.stateBytes);
    put(0, ALULA_MIN_AT_STACK_BYTES, facts.stackBytes);
    put(0, ALULA_MIN_AT_RESET,
        program.stateBytes ? code + image.entries.back() : 0);
    put(0, ALULA_MIN_AT_COUNT, called.size());
    put(0, ALULA_MIN_AT_FUNCTIONS, functions);
    put(0, ALULA_MIN_AT_CODE, code);
    put(0, ALULA_MIN_AT_CODE_BYTES, image.bytes.size());
    if (isTooLarge)
      return createStringError("memory of a blob has less than 4 GB");
    put(0, ALULA_MIN_AT_CHECKSUM,
        crc32(ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()),
                       bytes.size())));
    return std::move(bytes);
  }

private:
  void put(size_t at, unsigned word, uint64_t number) {
    isTooLarge |= number > UINT32_MAX;
    support::endian::write32le(&bytes[at + 4 * word],
                               static_cast<uint32_t>(number));
  }

  /// Where it begins.
  size_t addName(StringRef name) {
    size_t at = bytes.size();
    // A name is whatever the program says.
    bytes += name.split('\0').first;
    bytes += '\0';
    bytes.resize(alignTo(bytes.size(), 4));
    return at;
  }

  size_t writePorts(const alula::standalone::Function &function) {
    size_t first = bytes.size(), at = first;
    bytes.resize(at + 4 * ALULA_MIN_PORT_WORDS *
                          (function.inputs.size() + function.outputs.size()));
    for (const std::vector<Port> *ports : {&function.inputs, &function.outputs})
      for (const Port &port : *ports) {
        size_t shape = bytes.size();
        bytes.resize(shape + 4 * port.shape.size());
        for (auto [i, size] : enumerate(port.shape))
          put(shape, static_cast<unsigned>(i), static_cast<uint64_t>(size));
        put(at, ALULA_MIN_PORT_NAME, addName(port.name));
        put(at, ALULA_MIN_PORT_DTYPE, port.dtype);
        put(at, ALULA_MIN_PORT_RANK, port.shape.size());
        put(at, ALULA_MIN_PORT_SHAPE, shape);
        put(at, ALULA_MIN_PORT_BYTES, port.bytes);
        at += 4 * ALULA_MIN_PORT_WORDS;
      }
    return first;
  }

  std::string bytes;
  bool isTooLarge = false;
};
} // namespace

Expected<std::string> alula::standalone::writeBlob(const Program &program,
                                                   const CodeFacts &facts,
                                                   StringRef target,
                                                   const Image &image) {
  return BlobWriter().run(program, facts, target, image);
}
