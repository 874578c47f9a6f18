#pragma once

#include "dialect/vhlo/byte_cursor.h"

namespace alula::vhlo {

/// Writes the primitives of the bytecode container.
class ByteSink {
public:
  void writeByte(uint8_t value) { bytes.push_back(char(value)); }
  void writeVarInt(uint64_t value);
  void writeFlagged(uint64_t value, bool flag) {
    writeVarInt(value << 1 | uint64_t(flag));
  }
  void writeSigned(int64_t value) {
    writeVarInt(uint64_t(value) << 1 ^ uint64_t(value >> 63));
  }
  void writeBytes(std::string_view text) { bytes += text; }
  void writeBytes(Bytes blob) {
    bytes.append(reinterpret_cast<const char *>(blob.data()), blob.size());
  }
  /// The text and a terminating zero.
  void writeTerminated(std::string_view text) {
    bytes += text;
    bytes += '\0';
  }
  void writeSection(uint8_t id, const ByteSink &section);

  const std::string &str() const { return bytes; }
  std::string take() { return std::move(bytes); }

private:
  std::string bytes;
};

} // namespace alula::vhlo
