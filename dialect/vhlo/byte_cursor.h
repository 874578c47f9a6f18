#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace alula::vhlo {

using Bytes = std::span<const uint8_t>;

/// What is wrong with an artifact, and at which byte.
struct Error {
  size_t offset = 0;
  std::string text;
};

/// Reads the primitives of the bytecode container from a part of a file and
/// never steps outside of it. Each read says what it reads, so that an error
/// can name it; the first error stays.
class ByteCursor {
public:
  ByteCursor(Bytes whole, size_t begin, size_t end, Error &problem)
      : file(whole), position(begin), limit(end), error(&problem) {}

  size_t offset() const { return position; }
  size_t remaining() const { return limit - position; }
  bool empty() const { return position == limit; }

  /// Records an error here, or at `where`. Always false.
  bool fail(std::string text) { return failAt(position, std::move(text)); }
  bool failAt(size_t where, std::string text);

  [[nodiscard]] bool readByte(uint8_t &value, const char *what);
  [[nodiscard]] bool readVarInt(uint64_t &value, const char *what);
  /// A varint whose lowest bit is a flag.
  [[nodiscard]] bool readFlagged(uint64_t &value, bool &flag, const char *what);
  /// A zigzag varint.
  [[nodiscard]] bool readSigned(int64_t &value, const char *what);
  /// An index below `count`.
  [[nodiscard]] bool readIndex(uint32_t &value, size_t count, const char *what);
  /// A count of items that need at least `bytesEach` of the bytes that remain:
  /// a count is never trusted further than the input reaches.
  [[nodiscard]] bool readCount(size_t &value, size_t bytesEach,
                               const char *what);
  [[nodiscard]] bool readBytes(size_t size, Bytes &value, const char *what);
  /// Bytes up to a terminating zero, which is consumed.
  [[nodiscard]] bool readTerminated(std::string_view &value, const char *what);

  struct Section {
    uint8_t id = 0;
    size_t begin = 0;
    size_t end = 0;
  };
  /// A section's header; the cursor ends behind the section.
  [[nodiscard]] bool readSection(Section &section);
  ByteCursor inside(const Section &section) const {
    return ByteCursor(file, section.begin, section.end, *error);
  }

private:
  Bytes file;
  size_t position;
  size_t limit;
  Error *error;
};

} // namespace alula::vhlo
