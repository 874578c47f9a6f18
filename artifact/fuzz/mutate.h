// Random damage to an artifact, the same for the same seed.

#pragma once

#include "alula/artifact.h"
#include "artifact/hash.h"

#include <cstdlib>
#include <cstring>
#include <string>

namespace alula::artifact {

/// Makes the hashes right, so that mutations reach the tables behind them.
inline void fixHashes(uint8_t *bytes, size_t size) {
  alula_file_header header;
  if (size < sizeof header)
    return;
  memcpy(&header, bytes, sizeof header);
  memcpy(header.magic, ALULA_FILE_MAGIC, sizeof header.magic);
  header.major = ALULA_FILE_MAJOR;
  header.minor = ALULA_FILE_MINOR;
  header.file_bytes = size;
  header.hash = 0;
  memset(header.reserved, 0, sizeof header.reserved);
  memcpy(bytes, &header, sizeof header);
  size_t head = sizeof header;
  for (uint32_t i = 0;
       i < header.section_count && head + sizeof(alula_file_section) <= size;
       ++i, head += sizeof(alula_file_section)) {
    alula_file_section section;
    memcpy(&section, bytes + head, sizeof section);
    if (section.offset <= size && section.bytes <= size - section.offset)
      section.hash = hashBytes(bytes + section.offset, section.bytes);
    memcpy(bytes + head, &section, sizeof section);
  }
  header.hash = hashBytes(bytes, head);
  memcpy(bytes, &header, sizeof header);
}

inline uint64_t makeSeed(const char *text) {
  return strtoull(text, nullptr, 10) * 2 + 88172645463325253;
}

inline uint64_t nextRandom(uint64_t &state) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

inline void mutate(std::string &bytes, uint64_t &state) {
  size_t at = nextRandom(state) % bytes.size();
  // Most records are of 32-bit numbers.
  size_t word = at / 4 * 4;
  switch (nextRandom(state) % 6) {
  case 0:
    bytes[at] = char(nextRandom(state));
    break;
  case 1:
    bytes[at] ^= char(1 << nextRandom(state) % 8);
    break;
  case 2: {
    static const uint32_t values[] = {0,   1,      2,          3,
                                      7,   64,     0x7FFFFFFF, 0x80000000,
                                      256, 0xFFFF, 1000,       0xFFFFFFFF};
    uint32_t value = values[nextRandom(state) % 12];
    if (word + 4 <= bytes.size())
      memcpy(&bytes[word], &value, 4);
    break;
  }
  case 3: {
    size_t from = nextRandom(state) % bytes.size() / 4 * 4;
    size_t count = nextRandom(state) % 32;
    if (from + count <= bytes.size() && word + count <= bytes.size())
      memmove(&bytes[word], &bytes[from], count);
    break;
  }
  case 4: {
    uint32_t value;
    if (word + 4 > bytes.size())
      break;
    memcpy(&value, &bytes[word], 4);
    value += uint32_t(nextRandom(state) % 5) - 2;
    memcpy(&bytes[word], &value, 4);
    break;
  }
  case 5:
    if (nextRandom(state) % 16 == 0)
      bytes.resize(at + 1);
    break;
  }
}

} // namespace alula::artifact
