// Checks the images that artifacts carry.

#include "compiler/target/cpu/verify_image.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ELFObjectFile.h"

using namespace llvm;
using object::ELF64LE;

namespace {
Error makeError(const Twine &text) {
  return createStringError("image of kernels: " + text);
}
} // namespace

Error alula::cpu::verifyImage(StringRef image,
                              const std::vector<std::string> &entries) {
  auto file = object::ELFFile<ELF64LE>::create(image);
  if (!file)
    return file.takeError();
  auto segments = file->program_headers();
  if (!segments)
    return segments.takeError();
  for (const ELF64LE::Phdr &segment : *segments) {
    if (segment.p_type == ELF::PT_INTERP)
      return makeError("wants a loader of its own");
    if (segment.p_type == ELF::PT_LOAD && (segment.p_flags & ELF::PF_W) &&
        (segment.p_flags & ELF::PF_X))
      return makeError("has memory that is written and run");
  }
  auto dynamic = file->dynamicEntries();
  if (!dynamic)
    return dynamic.takeError();
  for (const ELF64LE::Dyn &entry : *dynamic)
    if (entry.d_tag == ELF::DT_NEEDED)
      return makeError("needs another library");

  StringSet<> exported;
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  for (const ELF64LE::Shdr &section : *sections) {
    if (section.sh_type != ELF::SHT_DYNSYM)
      continue;
    auto symbols = file->symbols(&section);
    auto names = file->getStringTableForSymtab(section);
    if (!symbols || !names)
      return joinErrors(symbols.takeError(), names.takeError());
    // The first one is nothing.
    for (const ELF64LE::Sym &symbol : symbols->drop_front()) {
      auto name = symbol.getName(*names);
      if (!name)
        return name.takeError();
      if (symbol.isUndefined())
        return makeError("needs '" + *name + "'");
      if (symbol.getType() == ELF::STT_FUNC)
        exported.insert(*name);
    }
  }
  for (const std::string &entry : entries)
    if (!exported.contains(entry))
      return makeError("has no function '" + entry + "'");
  return Error::success();
}
