#include "dialect/vhlo/byte_sink.h"

#include <bit>

namespace alula::vhlo {

void ByteSink::writeVarInt(uint64_t value) {
  // Seven bits of a number for each byte; the first byte's low zeros count the
  // bytes that follow.
  size_t size = value == 0 ? 1 : (size_t(std::bit_width(value)) + 6) / 7;
  if (size > 8) {
    writeByte(0);
    for (int i = 0; i < 8; ++i)
      writeByte(uint8_t(value >> (8 * i)));
    return;
  }
  uint64_t raw = (value << 1 | 1) << (size - 1);
  for (size_t i = 0; i < size; ++i)
    writeByte(uint8_t(raw >> (8 * i)));
}

void ByteSink::writeSection(uint8_t id, const ByteSink &section) {
  writeByte(id);
  writeVarInt(section.bytes.size());
  bytes += section.bytes;
}

} // namespace alula::vhlo
