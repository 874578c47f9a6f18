// Header, table and sections, appended in the order of their kinds.

#pragma once

#include "alula/artifact.h"
#include "artifact/hash.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace alula::artifact {

class FileBuilder {
public:
  struct Piece {
    uint64_t offset;
    std::string_view bytes;
  };

  void add(alula_section_kind kind, const void *bytes, size_t size) {
    add(kind, size, {{0, {static_cast<const char *>(bytes), size}}});
  }
  template <class T>
  void add(alula_section_kind kind, const std::vector<T> &records) {
    add(kind, records.data(), records.size() * sizeof(T));
  }
  /// Between pieces are zeros.
  void add(alula_section_kind kind, uint64_t size, std::vector<Piece> pieces) {
    if (size)
      sections.push_back({kind, size, std::move(pieces)});
  }

  std::string finish(uint16_t minor) const {
    std::vector<alula_file_section> table;
    size_t tableBytes = sections.size() * sizeof(alula_file_section);
    uint64_t end = sizeof(alula_file_header) + tableBytes;
    for (const Section &section : sections) {
      uint64_t offset =
          (end + ALULA_ALIGNMENT - 1) / ALULA_ALIGNMENT * ALULA_ALIGNMENT;
      table.push_back({uint32_t(section.kind), 0, offset, section.size, 0});
      end = offset + section.size;
    }
    // Most of it may be constants: each byte is written once.
    std::string file;
    file.reserve(end);
    askForLargePages(file.data(), end);
    file.resize(sizeof(alula_file_header) + tableBytes);
    for (size_t i = 0; i < sections.size(); ++i) {
      for (const Piece &piece : sections[i].pieces) {
        file.resize(table[i].offset + piece.offset);
        file += piece.bytes;
      }
      file.resize(table[i].offset + table[i].bytes);
      table[i].hash = hashBytes(&file[table[i].offset], table[i].bytes);
    }
    alula_file_header header = {};
    memcpy(header.magic, ALULA_FILE_MAGIC, sizeof header.magic);
    header.major = ALULA_FILE_MAJOR;
    header.minor = minor;
    header.section_count = uint32_t(sections.size());
    header.file_bytes = end;
    memcpy(file.data(), &header, sizeof header);
    memcpy(file.data() + sizeof header, table.data(), tableBytes);
    header.hash = hashBytes(file.data(), sizeof header + tableBytes);
    memcpy(file.data(), &header, sizeof header);
    return file;
  }

private:
  /// Small pages of tens of megabytes take the system longer than filling them.
  static void askForLargePages(char *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
    constexpr uintptr_t page = 4096, least = 4 << 20;
    uintptr_t begin = (uintptr_t(memory) + page - 1) / page * page;
    uintptr_t end = (uintptr_t(memory) + bytes) / page * page;
    if (bytes >= least)
      madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
#endif
  }

  struct Section {
    alula_section_kind kind;
    uint64_t size;
    std::vector<Piece> pieces;
  };
  std::vector<Section> sections;
};

} // namespace alula::artifact
