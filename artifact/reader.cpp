// Header, hashes, section bounds.

#include "artifact/reader.h"

#include "alula/dtype.h"
#include "artifact/hash.h"

#include <cinttypes>
#include <cstring>

namespace alula::artifact {
namespace {

struct SectionInfo {
  const char *name;
  uint64_t recordBytes;
};

const SectionInfo *getSectionInfo(uint32_t kind) {
  static constexpr SectionInfo infos[] = {{"", 0},
#define X(NAME, kind, record, name) {#name, sizeof(record)},
                                          ALULA_FOR_EACH_SECTION(X)
#undef X
  };
  return kind >= 1 && kind <= ALULA_SECTION_LAST ? &infos[kind] : nullptr;
}

void setSection(Artifact &artifact, uint32_t kind, const uint8_t *data,
                uint64_t bytes) {
  switch (kind) {
#define X(NAME, number, record, name)                                          \
  case number:                                                                 \
    artifact.name = {reinterpret_cast<const record *>(data),                   \
                     bytes / sizeof(record)};                                  \
    break;
    ALULA_FOR_EACH_SECTION(X)
#undef X
  }
}

bool isZero(const uint8_t *from, const uint8_t *to) {
  for (; from != to; ++from)
    if (*from)
      return false;
  return true;
}

uint64_t alignUp(uint64_t offset) {
  return (offset + ALULA_ALIGNMENT - 1) / ALULA_ALIGNMENT * ALULA_ALIGNMENT;
}

bool checkHeader(const uint8_t *bytes, size_t size, alula_file_header &header,
                 Diagnostic &diagnostic) {
  auto fail = [&](const char *text) {
    return diagnostic.fail(ALULA_STATUS_DATA_LOSS, "%s", text);
  };
  if (size < sizeof header)
    return diagnostic.fail(ALULA_STATUS_DATA_LOSS,
                           "artifact is truncated: %zu bytes, the header alone "
                           "takes %zu",
                           size, sizeof header);
  memcpy(&header, bytes, sizeof header);
  if (memcmp(header.magic, ALULA_FILE_MAGIC, sizeof header.magic) != 0)
    return diagnostic.fail(ALULA_STATUS_INVALID_ARGUMENT,
                           "not an Alula artifact: wrong magic number");
  if (header.major != ALULA_FILE_MAJOR || header.minor > ALULA_FILE_MINOR)
    return diagnostic.fail(
        ALULA_STATUS_UNIMPLEMENTED,
        "artifact has format version %u.%u, this library reads %u.0 to %u.%u",
        header.major, header.minor, ALULA_FILE_MAJOR, ALULA_FILE_MAJOR,
        ALULA_FILE_MINOR);
  if (header.file_bytes != size)
    return diagnostic.fail(ALULA_STATUS_DATA_LOSS,
                           "artifact says it has %" PRIu64
                           " bytes, but there are %zu",
                           header.file_bytes, size);
  if (header.section_count > ALULA_SECTION_LAST ||
      sizeof header + header.section_count * sizeof(alula_file_section) > size)
    return fail("artifact is damaged: too many sections");
  if (!isZero(header.reserved, header.reserved + sizeof header.reserved))
    return fail("artifact is damaged: reserved header bytes are not zero");
  return true;
}

/// What may differ where processes compile the same program: the input's hash,
/// which holds lines of the source, and configurations of custom calls.
constexpr uint32_t ofOneProcess =
    1u << ALULA_SECTION_STRINGS | 1u << ALULA_SECTION_CONSTANTS |
    1u << ALULA_SECTION_DATA | 1u << ALULA_SECTION_FACTS;
static_assert(ALULA_SECTION_LAST < 32);

} // namespace

bool openArtifact(const void *data, size_t size, OpenOptions options,
                  Artifact &artifact, Diagnostic &diagnostic) {
  artifact = Artifact();
  const auto *bytes = static_cast<const uint8_t *>(data);
  if (reinterpret_cast<uintptr_t>(bytes) % 8 != 0)
    return diagnostic.fail(ALULA_STATUS_INVALID_ARGUMENT,
                           "artifact bytes are not aligned to 8");
  alula_file_header header;
  if (!checkHeader(bytes, size, header, diagnostic))
    return false;
  // At most one entry a kind: the hash is taken over a copy with a zero in it.
  uint8_t head[sizeof(alula_file_header) +
               ALULA_SECTION_LAST * sizeof(alula_file_section)];
  size_t headBytes =
      sizeof header + header.section_count * sizeof(alula_file_section);
  uint64_t hash = header.hash;
  memcpy(head, bytes, headBytes);
  memset(head + offsetof(alula_file_header, hash), 0, sizeof hash);
  if (hashBytes(head, headBytes) != hash)
    return diagnostic.fail(ALULA_STATUS_DATA_LOSS,
                           "artifact is damaged: the header's hash differs");

  artifact.bytes = bytes;
  artifact.size = size;
  artifact.hash = hash;
  artifact.minor = header.minor;
  uint64_t position = headBytes;
  uint32_t lastKind = 0;
  for (uint32_t i = 0; i < header.section_count; ++i) {
    alula_file_section section;
    memcpy(&section, head + sizeof header + i * sizeof section, sizeof section);
    const SectionInfo *info = getSectionInfo(section.kind);
    if (!info || section.kind <= lastKind || section.reserved)
      return diagnostic.fail(ALULA_STATUS_DATA_LOSS,
                             "artifact is damaged: section %u has kind %u", i,
                             section.kind);
    lastKind = section.kind;
    // Sections follow each other, so none overlaps and no byte is unchecked.
    if (section.offset != alignUp(position) || section.offset > size ||
        section.bytes > size - section.offset || section.bytes == 0 ||
        section.bytes % info->recordBytes != 0)
      return diagnostic.fail(
          ALULA_STATUS_DATA_LOSS,
          "artifact is damaged: section '%s' is out of place", info->name);
    const uint8_t *content = bytes + section.offset;
    if (!isZero(bytes + position, content))
      return diagnostic.fail(
          ALULA_STATUS_DATA_LOSS,
          "artifact is damaged: bytes before section '%s' are not zero",
          info->name);
    if ((section.kind != ALULA_SECTION_DATA || options.checkData) &&
        hashBytes(content, section.bytes) != section.hash)
      return diagnostic.fail(
          ALULA_STATUS_DATA_LOSS,
          "artifact is damaged: the hash of section '%s' differs", info->name);
    setSection(artifact, section.kind, content, section.bytes);
    position = section.offset + section.bytes;
    if (!(ofOneProcess >> section.kind & 1))
      artifact.programHash =
          artifact.programHash * 0x9E3779B97F4A7C15 + section.hash;
  }
  if (position != size)
    return diagnostic.fail(ALULA_STATUS_DATA_LOSS,
                           "artifact is damaged: bytes after the last section");
  return true;
}

bool openProgram(const Artifact &file, uint64_t index, Artifact &program,
                 Diagnostic &diagnostic) {
  const alula_file_program &record = file.programs[index];
  if (!openArtifact(file.programFiles.data + record.offset, record.bytes, {},
                    program, diagnostic))
    return false;
  if (program.programs.size || program.programFiles.size || program.data.size)
    return diagnostic.fail(ALULA_STATUS_DATA_LOSS,
                           "program %" PRIu64
                           ": must have neither programs nor data of its own",
                           index);
  program.data = file.data;
  program.isProgram = true;
  return true;
}

bool getStaticBytes(const Artifact &artifact, const alula_file_type &type,
                    uint64_t &bytes) {
  bytes = alula_dtype_get_bytes(type.dtype);
  bool empty = false, tooLarge = false;
  for (uint32_t i = 0; i < type.rank; ++i) {
    int64_t size = artifact.getDims(type)[i].size;
    if (size < 0)
      return false;
    empty |= size == 0;
    tooLarge |= __builtin_mul_overflow(bytes, uint64_t(size), &bytes) ||
                bytes > ALULA_MAX_BYTES;
  }
  bytes = empty ? 0 : alula_dtype_get_packed_bytes(type.dtype, bytes);
  return empty || !tooLarge;
}

uint32_t countDynamicDims(const Artifact &artifact,
                          const alula_file_type &type) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < type.rank; ++i)
    count += artifact.getDims(type)[i].size < 0;
  return count;
}

const CommandInfo *getCommandInfo(uint32_t opcode) {
  static constexpr CommandInfo infos[] = {{"", ""},
#define X(NAME, code, name, parameters) {name, parameters},
                                          ALULA_FOR_EACH_COMMAND(X)
#undef X
  };
  return opcode >= 1 && opcode < sizeof infos / sizeof *infos ? &infos[opcode]
                                                              : nullptr;
}

} // namespace alula::artifact
