#include "pjrt/op_sharding.h"

#include "pjrt/protobuf.h"

#include <charconv>
#include <cstdint>

using namespace alula::pjrt;

namespace {
// Fields of the message, and values of its types.
constexpr uint32_t typeField = 1, tilesField = 3, devicesField = 4,
                   lastIsReplicatedField = 6, lastDimsField = 8;
constexpr uint64_t replicated = 0, other = 3, manual = 4, unreduced = 6;

bool consume(std::string_view &text, std::string_view front) {
  if (!text.starts_with(front))
    return false;
  text.remove_prefix(front.size());
  return true;
}

/// Numbers with commas between them become a field.
bool convertNumbers(std::string_view &text, uint32_t field, std::string &out) {
  std::string values;
  do {
    uint64_t number;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc())
      return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    writeProtoVarint(values, number);
  } while (consume(text, ","));
  writeProtoBytes(out, field, values);
  return true;
}

/// What the dimensions of tiles mean that the array doesn't have.
bool convertEnding(std::string_view ending, std::string &out) {
  std::string kinds;
  if (ending == " last_tile_dim_replicate")
    writeProtoNumber(out, lastIsReplicatedField, 1);
  else if (ending == " last_tile_dims={unreduced}")
    writeProtoVarint(kinds, unreduced);
  else if (ending == " last_tile_dims={replicated, unreduced}") {
    writeProtoVarint(kinds, replicated);
    writeProtoVarint(kinds, unreduced);
  } else
    return ending.empty();
  if (!kinds.empty())
    writeProtoBytes(out, lastDimsField, kinds);
  return true;
}
} // namespace

std::string alula::pjrt::writeOpSharding(std::string_view text) {
  std::string out;
  if (text == "{replicated}") {
    writeProtoNumber(out, typeField, replicated);
    return out;
  }
  if (text == "{manual}") {
    writeProtoNumber(out, typeField, manual);
    return out;
  }
  writeProtoNumber(out, typeField, other);
  if (!text.ends_with('}'))
    return {};
  text.remove_suffix(1);
  if (!consume(text, "{devices=[") || !convertNumbers(text, tilesField, out) ||
      !consume(text, "]") || !convertNumbers(text, devicesField, out) ||
      !convertEnding(text, out))
    return {};
  return out;
}
