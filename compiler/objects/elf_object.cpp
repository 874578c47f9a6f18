// Objects of others: what is in them, and their symbols under other names.

#include "compiler/objects/elf_object.h"

#include "compiler/objects/file_kind.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELF.h"
#include "llvm/Object/ELFTypes.h"

using namespace llvm;
using namespace alula::objects;
using object::ELF64LE;

namespace {
using File = object::ELFFile<ELF64LE>;
using Section = ELF64LE::Shdr;
using Symbol = ELF64LE::Sym;

/// Relocations that the linker can finish without knowing where the image will
/// lie.
bool isPositionIndependent(uint16_t machine, uint32_t type) {
  switch (machine) {
  case ELF::EM_X86_64:
    switch (type) {
    case ELF::R_X86_64_NONE:
    case ELF::R_X86_64_PC8:
    case ELF::R_X86_64_PC16:
    case ELF::R_X86_64_PC32:
    case ELF::R_X86_64_PC64:
    case ELF::R_X86_64_PLT32:
    case ELF::R_X86_64_GOTPCREL:
    case ELF::R_X86_64_GOTPCRELX:
    case ELF::R_X86_64_REX_GOTPCRELX:
    case ELF::R_X86_64_GOTOFF64:
    case ELF::R_X86_64_GOTPC32:
    case ELF::R_X86_64_SIZE32:
    case ELF::R_X86_64_SIZE64:
    // Thread-local storage is a problem of its own.
    case ELF::R_X86_64_TLSGD:
    case ELF::R_X86_64_TLSLD:
    case ELF::R_X86_64_DTPOFF32:
    case ELF::R_X86_64_DTPOFF64:
    case ELF::R_X86_64_GOTTPOFF:
    case ELF::R_X86_64_TPOFF32:
    case ELF::R_X86_64_TPOFF64:
      return true;
    }
    return false;
  case ELF::EM_AARCH64:
    switch (type) {
    case ELF::R_AARCH64_ABS16:
    case ELF::R_AARCH64_ABS32:
    case ELF::R_AARCH64_ABS64:
    case ELF::R_AARCH64_MOVW_UABS_G0:
    case ELF::R_AARCH64_MOVW_UABS_G0_NC:
    case ELF::R_AARCH64_MOVW_UABS_G1:
    case ELF::R_AARCH64_MOVW_UABS_G1_NC:
    case ELF::R_AARCH64_MOVW_UABS_G2:
    case ELF::R_AARCH64_MOVW_UABS_G2_NC:
    case ELF::R_AARCH64_MOVW_UABS_G3:
      return false;
    }
    return true;
  default:
    return type != ELF::R_RISCV_32 && type != ELF::R_RISCV_64 &&
           type != ELF::R_RISCV_HI20 && type != ELF::R_RISCV_LO12_I &&
           type != ELF::R_RISCV_LO12_S;
  }
}

/// How many bytes a relocation changes, and how many before them the linker
/// looks at to see what instruction it is in.
struct Extent {
  uint64_t before, after;
};
Extent getExtent(uint16_t machine, uint32_t type) {
  if (machine == ELF::EM_X86_64)
    switch (type) {
    case ELF::R_X86_64_NONE:
      return {0, 0};
    case ELF::R_X86_64_PC8:
      return {0, 1};
    case ELF::R_X86_64_PC16:
      return {0, 2};
    case ELF::R_X86_64_64:
    case ELF::R_X86_64_PC64:
    case ELF::R_X86_64_GOTOFF64:
    case ELF::R_X86_64_SIZE64:
      return {0, 8};
    case ELF::R_X86_64_GOTPCRELX:
    case ELF::R_X86_64_REX_GOTPCRELX:
      return {3, 4};
    default:
      return {0, 4};
    }
  if (machine == ELF::EM_AARCH64)
    return {0, type == ELF::R_AARCH64_PREL64 || type == ELF::R_AARCH64_ABS64
                   ? uint64_t(8)
                   : uint64_t(type == ELF::R_AARCH64_PREL16 ? 2 : 4)};
  switch (type) {
  case ELF::R_RISCV_NONE:
  case ELF::R_RISCV_ALIGN:
  case ELF::R_RISCV_RELAX:
    return {0, 0};
  case ELF::R_RISCV_ADD8:
  case ELF::R_RISCV_SUB8:
  case ELF::R_RISCV_SUB6:
  case ELF::R_RISCV_SET6:
  case ELF::R_RISCV_SET8:
    return {0, 1};
  case ELF::R_RISCV_ADD16:
  case ELF::R_RISCV_SUB16:
  case ELF::R_RISCV_SET16:
  case ELF::R_RISCV_RVC_BRANCH:
  case ELF::R_RISCV_RVC_JUMP:
    return {0, 2};
  case ELF::R_RISCV_ADD64:
  case ELF::R_RISCV_SUB64:
  case ELF::R_RISCV_CALL:
  case ELF::R_RISCV_CALL_PLT:
    return {0, 8};
  default:
    return {0, 4};
  }
}

class Checker {
public:
  Checker(const File &file, ElfSymbols &symbols, Problems &problems)
      : file(file), symbols(symbols), problems(problems) {}

  Error run() {
    auto all = file.sections();
    if (!all)
      return all.takeError();
    sections = *all;
    for (const Section &section : sections)
      if (Error error = visitSection(section))
        return error;
    add("obj-tls", "has thread-local storage: ", threadLocal);
    add("obj-state", "has memory that is written: ", written);
    add("obj-constructor", "has constructors: ", constructors);
    add("obj-ifunc", "has functions that are resolved at load: ", resolved);
    add("obj-relocation",
        "must be compiled with -fPIC: its addresses are absolute in ",
        absolute);
    return Error::success();
  }

private:
  void add(StringRef tag, StringRef text, const std::set<std::string> &names) {
    if (!names.empty())
      problems.push_back({tag.str(), text.str() + join(names, ", ")});
  }

  Error visitSection(const Section &section) {
    auto name = file.getSectionName(section);
    if (!name)
      return name.takeError();
    if (section.sh_type == ELF::SHT_SYMTAB)
      return visitSymbols(section);
    if (section.sh_type == ELF::SHT_RELA)
      return visitRelocations(section);
    if (!(section.sh_flags & ELF::SHF_ALLOC))
      return Error::success();
    bool isConstructor = section.sh_type == ELF::SHT_INIT_ARRAY ||
                         section.sh_type == ELF::SHT_FINI_ARRAY ||
                         section.sh_type == ELF::SHT_PREINIT_ARRAY ||
                         name->starts_with(".ctors") ||
                         name->starts_with(".dtors") || *name == ".init" ||
                         *name == ".fini";
    if (section.sh_size == 0)
      return Error::success();
    if (isConstructor)
      constructors.insert(name->str());
    else if (section.sh_flags & ELF::SHF_TLS)
      threadLocal.insert(name->str());
    else if (name->starts_with(".data.rel.ro"))
      absolute.insert(name->str());
    else if (section.sh_flags & ELF::SHF_WRITE)
      written.insert(name->str());
    return Error::success();
  }

  Error visitSymbols(const Section &table) {
    auto names = file.getStringTableForSymtab(table);
    auto all = file.symbols(&table);
    if (!names || !all)
      return joinErrors(names.takeError(), all.takeError());
    for (const Symbol &symbol : *all) {
      auto name = symbol.getName(*names);
      if (!name)
        return name.takeError();
      if (symbol.getType() == ELF::STT_TLS)
        threadLocal.insert(name->str());
      if (symbol.getType() == ELF::STT_GNU_IFUNC)
        resolved.insert(name->str());
      if (symbol.isCommon())
        written.insert(name->str());
      if (name->empty() || symbol.getBinding() == ELF::STB_LOCAL)
        continue;
      if (symbol.isUndefined()) {
        if (*name != "__tls_get_addr")
          symbols.undefined.insert(name->str());
        continue;
      }
      symbols.defined.insert(name->str());
      if (symbol.getType() == ELF::STT_FUNC)
        symbols.functions.insert(name->str());
    }
    return Error::success();
  }

  Error visitRelocations(const Section &section) {
    auto target = file.getSection(section.sh_info);
    auto all = file.relas(section);
    if (!target || !all)
      return joinErrors(target.takeError(), all.takeError());
    auto name = file.getSectionName(**target);
    if (!name)
      return name.takeError();
    // What debuggers read is not loaded; what is wrong with memory that is
    // written is said once.
    if (!((*target)->sh_flags & ELF::SHF_ALLOC) ||
        ((*target)->sh_flags & ELF::SHF_WRITE))
      return Error::success();
    uint16_t machine = file.getHeader().e_machine;
    for (const ELF64LE::Rela &relocation : *all) {
      uint32_t type = relocation.getType(/*isMips64EL=*/false);
      // The linker takes this for granted.
      Extent extent = getExtent(machine, type);
      uint64_t size = (*target)->sh_size, offset = relocation.r_offset;
      if (offset < extent.before || offset > size ||
          extent.after > size - offset)
        return createStringError("a relocation is outside of " + *name);
      if (!isPositionIndependent(machine, type))
        absolute.insert(name->str());
    }
    return Error::success();
  }

  const File &file;
  ElfSymbols &symbols;
  Problems &problems;
  ELF64LE::ShdrRange sections;
  std::set<std::string> threadLocal, written, constructors, resolved, absolute;
};
} // namespace

ElfSymbols alula::objects::checkElfObject(StringRef bytes,
                                          StringRef architecture,
                                          Problems &problems) {
  ElfSymbols symbols;
  if (getFileKind(bytes) != FileKind::Elf ||
      getArchitecture(bytes) != architecture) {
    problems.push_back({"obj-machine", "must be an ELF object for " +
                                           architecture.str() + ": is " +
                                           describeFile(bytes)});
    return symbols;
  }
  auto file = File::create(bytes);
  Error error =
      file ? Checker(*file, symbols, problems).run() : file.takeError();
  if (error)
    problems.push_back(
        {"obj-damaged", "is damaged: " + toString(std::move(error))});
  return symbols;
}

Expected<std::string>
alula::objects::renameSymbols(StringRef bytes,
                              const StringMap<std::string> &names) {
  auto file = File::create(bytes);
  if (!file)
    return file.takeError();
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  std::string copy = bytes.str();
  auto offsetOf = [&](const void *record) {
    return static_cast<size_t>(static_cast<const char *>(record) -
                               bytes.data());
  };
  for (const Section &table : *sections) {
    if (table.sh_type != ELF::SHT_SYMTAB)
      continue;
    auto strings = file->getStringTableForSymtab(table);
    auto symbols = file->symbols(&table);
    auto stringSection = file->getSection(table.sh_link);
    if (!strings || !symbols || !stringSection)
      return joinErrors(joinErrors(strings.takeError(), symbols.takeError()),
                        stringSection.takeError());
    // The names grow at the end of the file; nothing else moves.
    std::string grown = strings->str();
    for (const Symbol &symbol : *symbols) {
      auto name = symbol.getName(*strings);
      if (!name)
        return name.takeError();
      auto found = names.find(*name);
      if (symbol.getBinding() == ELF::STB_LOCAL || found == names.end())
        continue;
      auto &record =
          *reinterpret_cast<Symbol *>(copy.data() + offsetOf(&symbol));
      // Entries must be seen; who links says what else is.
      record.st_other &= ~3u;
      record.st_name = static_cast<uint32_t>(grown.size());
      grown += found->second;
      grown += '\0';
    }
    auto &record =
        *reinterpret_cast<Section *>(copy.data() + offsetOf(*stringSection));
    record.sh_offset = copy.size();
    record.sh_size = grown.size();
    copy += grown;
  }
  return copy;
}
