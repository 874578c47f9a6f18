// Own structs for the few ELF records needed: not every host has <elf.h>.

#include "artifact/elf.h"

#include <cinttypes>
#include <cstring>

namespace alula::artifact {
namespace {

struct FileHeader {
  uint8_t ident[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, programOffset, sectionOffset;
  uint32_t flags;
  uint16_t headerBytes, programBytes, programCount, sectionBytes, sectionCount,
      sectionNames;
};
struct ProgramHeader {
  uint32_t type, flags;
  uint64_t offset, address, physical, fileBytes, memoryBytes, alignment;
};
struct SectionHeader {
  uint32_t name, type;
  uint64_t flags, address, offset, bytes;
  uint32_t link, info;
  uint64_t alignment, entryBytes;
};
struct DynamicEntry {
  int64_t tag;
  uint64_t value;
};
struct Symbol {
  uint32_t name;
  uint8_t info, other;
  uint16_t section;
  uint64_t value, bytes;
};

enum { typeShared = 3 };
enum {
  segmentLoad = 1,
  segmentDynamic = 2,
  segmentInterpreter = 3,
  segmentTls = 7
};
enum { segmentExecute = 1, segmentWrite = 2 };
enum { sectionDynamicSymbols = 11 };
enum {
  tagNull = 0,
  tagNeeded = 1,
  tagPltRelBytes = 2,
  tagRelaBytes = 8,
  tagInit = 12,
  tagFini = 13,
  tagRelBytes = 18,
  tagTextRel = 22,
  tagInitArray = 25,
  tagRelrBytes = 35
};

/// No image of ours comes near; larger ones would need care with overflow.
constexpr uint64_t maxAddress = uint64_t(1) << 40;

uint16_t getMachine(const char *target) {
  if (strcmp(target, "x86_64") == 0)
    return 62;
  if (strcmp(target, "aarch64") == 0)
    return 183;
  return strcmp(target, "riscv64") == 0 ? 243 : 0;
}

template <class T>
bool load(const uint8_t *bytes, size_t size, uint64_t offset, T &record) {
  if (offset > size || sizeof(T) > size - offset)
    return false;
  memcpy(&record, bytes + offset, sizeof(T));
  return true;
}

class ImageReader {
public:
  ImageReader(const uint8_t *bytes, size_t size, Diagnostic &diagnostic)
      : bytes(bytes), size(size), diagnostic(diagnostic) {}

  bool fail(const char *why) {
    return diagnostic.fail(ALULA_STATUS_DATA_LOSS, "kernel image: %s", why);
  }

  bool readHeader() {
    if (!load(bytes, size, 0, header))
      return fail("too short for an ELF file");
    static const uint8_t expected[7] = {0x7F, 'E', 'L', 'F', 2, 1, 1};
    if (memcmp(header.ident, expected, sizeof expected) != 0)
      return fail("not a 64-bit little-endian ELF file");
    if (header.type != typeShared)
      return fail("not position-independent (ET_DYN)");
    return true;
  }

  bool readSegments(ElfImage &image) {
    if (header.programBytes != sizeof(ProgramHeader))
      return fail("odd program headers");
    for (uint32_t i = 0; i < header.programCount; ++i) {
      ProgramHeader segment;
      uint64_t at = header.programOffset + i * sizeof segment;
      if (header.programOffset > size || !load(bytes, size, at, segment))
        return fail("program headers outside the file");
      if (segment.type == segmentInterpreter || segment.type == segmentTls)
        return fail("has an interpreter or thread-local data");
      if (segment.type == segmentDynamic && !checkDynamic(segment))
        return false;
      if (segment.type == segmentLoad && segment.memoryBytes != 0 &&
          !addSegment(segment, image))
        return false;
    }
    return image.segmentCount != 0 || fail("nothing to load");
  }

  bool findSymbol(const char *name, uint64_t &address) {
    for (uint32_t i = 0; i < header.sectionCount; ++i) {
      SectionHeader table, names;
      uint64_t at = header.sectionOffset + i * sizeof table;
      if (header.sectionBytes != sizeof table || header.sectionOffset > size ||
          !load(bytes, size, at, table))
        return fail("section headers outside the file");
      if (table.type != sectionDynamicSymbols)
        continue;
      at = header.sectionOffset + table.link * sizeof names;
      if (!load(bytes, size, at, names) || names.offset > size ||
          names.bytes > size - names.offset || names.bytes == 0 ||
          bytes[names.offset + names.bytes - 1] != 0 || table.offset > size ||
          table.bytes > size - table.offset)
        return fail("symbols outside the file");
      for (uint64_t j = 0; j < table.bytes / sizeof(Symbol); ++j) {
        Symbol symbol;
        load(bytes, size, table.offset + j * sizeof symbol, symbol);
        if (symbol.section != 0 && symbol.name < names.bytes &&
            strcmp(reinterpret_cast<const char *>(bytes + names.offset +
                                                  symbol.name),
                   name) == 0) {
          address = symbol.value;
          return true;
        }
      }
    }
    return diagnostic.fail(ALULA_STATUS_NOT_FOUND,
                           "kernel image: no exported symbol '%.200s'", name);
  }

  FileHeader header;

private:
  bool checkDynamic(const ProgramHeader &segment) {
    for (uint64_t i = 0; i < segment.fileBytes / sizeof(DynamicEntry); ++i) {
      DynamicEntry entry;
      if (segment.offset > size ||
          !load(bytes, size, segment.offset + i * sizeof entry, entry))
        return fail("dynamic section outside the file");
      switch (entry.tag) {
      case tagNull:
        return true;
      case tagNeeded:
        return fail("needs another library");
      case tagPltRelBytes:
      case tagRelaBytes:
      case tagRelBytes:
      case tagRelrBytes:
      case tagTextRel:
        if (entry.value != 0)
          return fail("has relocations");
        break;
      case tagInit:
      case tagFini:
      case tagInitArray:
        return fail("has initializers");
      default:
        break;
      }
    }
    return true;
  }

  bool addSegment(const ProgramHeader &segment, ElfImage &image) {
    if (segment.flags & segmentWrite)
      return fail("has writable data");
    if (image.segmentCount == ElfImage::maxSegments)
      return fail("too many segments");
    if (segment.offset > size || segment.fileBytes > size - segment.offset ||
        segment.fileBytes > segment.memoryBytes ||
        segment.memoryBytes > maxAddress || segment.address > maxAddress ||
        segment.address < image.addressBytes)
      return fail("segments overlap or leave the file");
    image.segments[image.segmentCount++] = {
        segment.address, segment.memoryBytes, bytes + segment.offset,
        segment.fileBytes, (segment.flags & segmentExecute) != 0};
    image.addressBytes = segment.address + segment.memoryBytes;
    return true;
  }

  const uint8_t *bytes;
  size_t size;
  Diagnostic &diagnostic;
};

} // namespace

bool readElfImage(const uint8_t *bytes, size_t size, const char *target,
                  ElfImage &image, Diagnostic &diagnostic) {
  image = ElfImage();
  ImageReader reader(bytes, size, diagnostic);
  if (!reader.readHeader())
    return false;
  if (reader.header.machine != getMachine(target))
    return diagnostic.fail(ALULA_STATUS_DATA_LOSS,
                           "kernel image: is for ELF machine %u, not for %.64s",
                           reader.header.machine, target);
  return reader.readSegments(image);
}

bool findElfSymbol(const uint8_t *bytes, size_t size, const char *name,
                   uint64_t &address, Diagnostic &diagnostic) {
  ImageReader reader(bytes, size, diagnostic);
  return reader.readHeader() && reader.findSymbol(name, address);
}

} // namespace alula::artifact
