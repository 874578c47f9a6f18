#include "dialect/vhlo/byte_cursor.h"

#include <bit>
#include <cstring>

namespace alula::vhlo {

bool ByteCursor::failAt(size_t where, std::string text) {
  if (error->text.empty())
    *error = {where, std::move(text)};
  return false;
}

bool ByteCursor::readByte(uint8_t &value, const char *what) {
  if (empty())
    return fail(std::string("unexpected end of data in ") + what);
  value = file[position++];
  return true;
}

bool ByteCursor::readVarInt(uint64_t &value, const char *what) {
  if (empty())
    return fail(std::string("unexpected end of data in ") + what);
  uint8_t first = file[position];
  // The number of low zero bits says how many bytes follow.
  size_t extra = first == 0 ? 8 : size_t(std::countr_zero(first));
  if (remaining() < extra + 1)
    return fail(std::string("unexpected end of data in ") + what);
  uint64_t raw = 0;
  if (extra == 8) {
    for (size_t i = 0; i < 8; ++i)
      raw |= uint64_t(file[position + 1 + i]) << (8 * i);
    value = raw;
  } else {
    for (size_t i = 0; i <= extra; ++i)
      raw |= uint64_t(file[position + i]) << (8 * i);
    value = raw >> (extra + 1);
  }
  position += extra + 1;
  return true;
}

bool ByteCursor::readFlagged(uint64_t &value, bool &flag, const char *what) {
  if (!readVarInt(value, what))
    return false;
  flag = value & 1;
  value >>= 1;
  return true;
}

bool ByteCursor::readSigned(int64_t &value, const char *what) {
  uint64_t raw;
  if (!readVarInt(raw, what))
    return false;
  value = int64_t((raw >> 1) ^ (~(raw & 1) + 1));
  return true;
}

bool ByteCursor::readIndex(uint32_t &value, size_t count, const char *what) {
  size_t start = position;
  uint64_t raw;
  if (!readVarInt(raw, what))
    return false;
  if (raw >= count)
    return failAt(start, std::string(what) + " " + std::to_string(raw) +
                             " is out of range: there are " +
                             std::to_string(count));
  value = uint32_t(raw);
  return true;
}

bool ByteCursor::readCount(size_t &value, size_t bytesEach, const char *what) {
  size_t start = position;
  uint64_t raw;
  if (!readVarInt(raw, what))
    return false;
  if (raw > remaining() / bytesEach)
    return failAt(start, std::string(what) + " is " + std::to_string(raw) +
                             ", more than the remaining " +
                             std::to_string(remaining()) + " bytes can hold");
  value = size_t(raw);
  return true;
}

bool ByteCursor::readBytes(size_t size, Bytes &value, const char *what) {
  if (size > remaining())
    return fail(std::string(what) + " needs " + std::to_string(size) +
                " bytes, only " + std::to_string(remaining()) + " remain");
  value = file.subspan(position, size);
  position += size;
  return true;
}

bool ByteCursor::readTerminated(std::string_view &value, const char *what) {
  const uint8_t *begin = file.data() + position;
  const void *zero = empty() ? nullptr : std::memchr(begin, 0, remaining());
  if (!zero)
    return fail(std::string(what) + " has no terminating zero");
  size_t size = size_t(static_cast<const uint8_t *>(zero) - begin);
  value = std::string_view(reinterpret_cast<const char *>(begin), size);
  position += size + 1;
  return true;
}

bool ByteCursor::readSection(Section &section) {
  constexpr uint8_t paddingByte = 0xCB;
  uint8_t head;
  uint64_t length;
  if (!readByte(head, "a section's id") ||
      !readVarInt(length, "a section's length"))
    return false;
  section.id = head & 0x7f;
  if (head & 0x80) {
    size_t start = position;
    uint64_t alignment;
    if (!readVarInt(alignment, "a section's alignment"))
      return false;
    if (!std::has_single_bit(alignment))
      return failAt(start, "section alignment " + std::to_string(alignment) +
                               " is not a power of two");
    while (position % alignment != 0) {
      size_t where = position;
      uint8_t padding;
      if (!readByte(padding, "a section's padding"))
        return false;
      if (padding != paddingByte)
        return failAt(where, "a section's padding byte is " +
                                 std::to_string(padding) + ", not 203");
    }
  }
  if (length > remaining())
    return fail("section " + std::to_string(section.id) + " needs " +
                std::to_string(length) + " bytes, only " +
                std::to_string(remaining()) + " remain");
  section.begin = position;
  section.end = position + size_t(length);
  position = section.end;
  return true;
}

} // namespace alula::vhlo
