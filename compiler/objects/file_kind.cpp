#include "compiler/objects/file_kind.h"

#include "compiler/objects/bitcode_trial.h"
#include "compiler/objects/guard.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace alula::objects;

namespace {
constexpr uint16_t cudaMachine = 190;

bool isElf(StringRef bytes) {
  return bytes.size() >= sizeof(ELF::Elf64_Ehdr) && bytes.starts_with("\x7F"
                                                                      "ELF");
}
bool isBitcode(StringRef bytes) { return bytes.starts_with("BC\xC0\xDE"); }

uint16_t getElfField(StringRef bytes, size_t offset) {
  return support::endian::read16le(bytes.data() + offset);
}
uint16_t getMachine(StringRef bytes) {
  return getElfField(bytes, offsetof(ELF::Elf64_Ehdr, e_machine));
}
uint16_t getType(StringRef bytes) {
  return getElfField(bytes, offsetof(ELF::Elf64_Ehdr, e_type));
}
bool is64Little(StringRef bytes) {
  return bytes[ELF::EI_CLASS] == ELF::ELFCLASS64 &&
         bytes[ELF::EI_DATA] == ELF::ELFDATA2LSB;
}

/// PTX begins with comments, then its directives.
bool isPtx(StringRef bytes) {
  if (bytes.contains('\0'))
    bytes = bytes.take_until([](char c) { return c == '\0'; });
  return bytes.contains(".version") && bytes.contains(".target");
}

std::string getMachineName(uint16_t machine) {
  switch (machine) {
  case ELF::EM_X86_64:
    return "x86_64";
  case ELF::EM_AARCH64:
    return "aarch64";
  case ELF::EM_RISCV:
    return "riscv64";
  case ELF::EM_ARM:
    return "arm";
  case cudaMachine:
    return "cuda";
  }
  return "machine " + std::to_string(machine);
}
} // namespace

FileKind alula::objects::getFileKind(StringRef bytes) {
  if (isElf(bytes))
    return getType(bytes) == ELF::ET_REL && getMachine(bytes) != cudaMachine
               ? FileKind::Elf
               : FileKind::Other;
  if (isBitcode(bytes))
    return FileKind::Bitcode;
  return isPtx(bytes) ? FileKind::Ptx : FileKind::Other;
}

std::string alula::objects::describeFile(StringRef bytes) {
  if (bytes.empty())
    return "an empty file";
  if (isElf(bytes)) {
    if (getMachine(bytes) == cudaMachine)
      return "a cubin";
    std::string kind = getType(bytes) == ELF::ET_REL   ? "an ELF object"
                       : getType(bytes) == ELF::ET_DYN ? "a shared library"
                                                       : "an ELF program";
    return kind + " for " + getMachineName(getMachine(bytes)) +
           (is64Little(bytes) ? "" : ", not 64 bits and little endian");
  }
  if (isBitcode(bytes)) {
    std::string architecture = getArchitecture(bytes);
    return "bitcode" + (architecture.empty() ? "" : " for " + architecture);
  }
  if (bytes.starts_with("!<arch>"))
    return "a static library: its members are objects";
  if (bytes.starts_with("\x03\x02\x23\x07"))
    return "SPIR-V";
  if (bytes.starts_with("\x50\xED\x55\xBA"))
    return "a fatbin";
  return isPtx(bytes) ? "PTX" : "neither ELF nor bitcode nor PTX";
}

std::string alula::objects::getArchitecture(StringRef bytes) {
  if (isElf(bytes) && is64Little(bytes)) {
    std::string name = getMachineName(getMachine(bytes));
    return name == "x86_64" || name == "aarch64" || name == "riscv64" ? name
                                                                      : "";
  }
  // What can't be read is for nobody.
  if (!isBitcode(bytes) || !findDamage(bytes).empty())
    return "";
  std::string triple;
  (void)runGuarded([&] {
    if (auto found = getBitcodeTargetTriple(MemoryBufferRef(bytes, "bitcode")))
      triple = *found;
    else
      consumeError(found.takeError());
  });
  switch (Triple(triple).getArch()) {
  case Triple::x86_64:
    return "x86_64";
  case Triple::aarch64:
    return "aarch64";
  case Triple::riscv64:
    return "riscv64";
  default:
    return "";
  }
}

std::string alula::objects::inferPattern(StringRef bytes) {
  switch (getFileKind(bytes)) {
  case FileKind::Elf:
  case FileKind::Bitcode: {
    std::string architecture = getArchitecture(bytes);
    return architecture.empty() ? "" : "cpu:" + architecture;
  }
  case FileKind::Ptx:
    return "cuda";
  case FileKind::Other:
    return "";
  }
  return "";
}
