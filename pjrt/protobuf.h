#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// A reader and a writer of the protobuf wire format, for a few small messages.

namespace alula::pjrt {

/// Walks over the fields of one message.
class ProtoReader {
public:
  explicit ProtoReader(std::string_view bytes) : rest(bytes) {}

  /// The next field; false at the end or where the bytes are no message.
  bool next();
  /// Whether all of it could be read.
  bool isValid() const { return valid; }

  uint32_t number = 0;
  /// Of a field that holds a number, whatever its width.
  uint64_t value = 0;
  /// Of a text or a message.
  std::string_view bytes;
  double toDouble() const;

private:
  bool readVarint(uint64_t &result);
  bool readFixed(size_t size);
  bool fail();

  std::string_view rest;
  bool valid = true;
};

/// Appends fields to a message.
void writeProtoNumber(std::string &out, uint32_t number, uint64_t value);
/// A number alone, as fields with many of them hold it.
void writeProtoVarint(std::string &out, uint64_t value);
void writeProtoDouble(std::string &out, uint32_t number, double value);
void writeProtoBytes(std::string &out, uint32_t number, std::string_view value);

} // namespace alula::pjrt
