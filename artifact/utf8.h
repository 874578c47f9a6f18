// What a string of the file may hold: UTF-8 without control characters (but
// newline and tab), so that printing one sends a terminal no escapes.

#pragma once

#include <cstddef>
#include <cstdint>

namespace alula::artifact {

/// The length of the character that the text begins with; 0 if no string may
/// hold it.
inline size_t measureCharacter(const char *text, size_t size) {
  auto at = [&](size_t i) -> uint32_t {
    return i < size ? uint8_t(text[i]) : 0;
  };
  uint32_t first = at(0);
  if (first < 0x80)
    return first == '\n' || first == '\t' || (first >= 32 && first != 127);
  size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (first < 0xC2 || first > 0xF4)
    return 0;
  uint32_t code = first & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0) != 0x80)
      return 0;
    code = code << 6 | (at(i) & 0x3F);
  }
  // Of the shortest form; no half of a surrogate; C1 are controls too.
  constexpr uint32_t least[] = {0, 0, 0xA0, 0x800, 0x10000};
  bool isGood = code >= least[length] && code <= 0x10FFFF &&
                (code < 0xD800 || code > 0xDFFF);
  return isGood ? length : 0;
}

} // namespace alula::artifact
