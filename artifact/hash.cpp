#include "artifact/hash.h"

#include <bit>
#include <cstring>

namespace alula::artifact {
namespace {

constexpr uint64_t prime1 = 0x9E3779B185EBCA87, prime2 = 0xC2B2AE3D27D4EB4F,
                   prime3 = 0x165667B19E3779F9, prime4 = 0x85EBCA77C2B2AE63,
                   prime5 = 0x27D4EB2F165667C5;

template <class T> T load(const uint8_t *from) {
  T value;
  memcpy(&value, from, sizeof value);
  return value;
}

uint64_t mixLane(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * prime2, 31) * prime1;
}

} // namespace

uint64_t hashBytes(const void *bytes, size_t size) {
  const auto *at = static_cast<const uint8_t *>(bytes);
  const uint8_t *end = at + size;
  uint64_t hash = prime5;
  if (size >= 32) {
    uint64_t lanes[4] = {prime1 + prime2, prime2, 0, 0 - prime1};
    for (; end - at >= 32; at += 32)
      for (int i = 0; i < 4; ++i)
        lanes[i] = mixLane(lanes[i], load<uint64_t>(at + 8 * i));
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) +
           std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (uint64_t lane : lanes)
      hash = (hash ^ mixLane(0, lane)) * prime1 + prime4;
  }
  hash += size;
  for (; end - at >= 8; at += 8)
    hash =
        std::rotl(hash ^ mixLane(0, load<uint64_t>(at)), 27) * prime1 + prime4;
  if (end - at >= 4) {
    hash = std::rotl(hash ^ load<uint32_t>(at) * prime1, 23) * prime2 + prime3;
    at += 4;
  }
  for (; at != end; ++at)
    hash = std::rotl(hash ^ *at * prime5, 11) * prime1;
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}

} // namespace alula::artifact
