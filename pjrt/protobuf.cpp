#include "pjrt/protobuf.h"

#include <cstring>

using namespace alula::pjrt;

bool ProtoReader::fail() {
  valid = false;
  rest = {};
  return false;
}

bool ProtoReader::readVarint(uint64_t &result) {
  result = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    auto byte = static_cast<uint8_t>(rest.front());
    rest.remove_prefix(1);
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80)
      return true;
  }
  return fail();
}

bool ProtoReader::readFixed(size_t size) {
  if (rest.size() < size)
    return fail();
  memcpy(&value, rest.data(), size);
  rest.remove_prefix(size);
  return true;
}

bool ProtoReader::next() {
  uint64_t key;
  if (rest.empty() || !readVarint(key))
    return false;
  number = static_cast<uint32_t>(key >> 3);
  value = 0;
  bytes = {};
  switch (key & 7) {
  case 0:
    return readVarint(value);
  case 1:
    return readFixed(8);
  case 5:
    return readFixed(4);
  case 2: {
    uint64_t size;
    if (!readVarint(size))
      return false;
    if (size > rest.size())
      return fail();
    bytes = rest.substr(0, size);
    rest.remove_prefix(size);
    return true;
  }
  default:
    return fail();
  }
}

double ProtoReader::toDouble() const {
  double result;
  memcpy(&result, &value, sizeof result);
  return result;
}

void alula::pjrt::writeProtoVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void alula::pjrt::writeProtoNumber(std::string &out, uint32_t number,
                                   uint64_t value) {
  writeProtoVarint(out, static_cast<uint64_t>(number) << 3);
  writeProtoVarint(out, value);
}

void alula::pjrt::writeProtoDouble(std::string &out, uint32_t number,
                                   double value) {
  writeProtoVarint(out, static_cast<uint64_t>(number) << 3 | 1);
  char bytes[sizeof value];
  memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof bytes);
}

void alula::pjrt::writeProtoBytes(std::string &out, uint32_t number,
                                  std::string_view value) {
  writeProtoVarint(out, static_cast<uint64_t>(number) << 3 | 2);
  writeProtoVarint(out, value.size());
  out += value;
}
