// What cuTensorMapEncodeTiled of the fake driver writes into the 128 bytes that
// kernels get, and nobody else reads.

#pragma once

#include <cstdint>

namespace alula::ptx {

struct TensorMap {
  static constexpr uint64_t expectedMark = 0x7E4502A9C0DE3A97;
  static constexpr uint32_t maxRank = 5;

  uint64_t mark;
  uint64_t address;
  /// Of a dimension in elements, and the bytes to its next one: the first
  /// dimension's elements lie side by side.
  uint64_t sizes[maxRank], strides[maxRank];
  uint16_t box[maxRank];
  uint8_t rank, elementBytes;
  /// 0, 32, 64, 128: of the pattern's lines.
  uint8_t swizzleBytes;
  bool fillsWithNan;
  uint8_t reserved[18];
};
static_assert(sizeof(TensorMap) == 128);

/// What cuTensorMapEncodeTiled is told, in its numbers; strides of all
/// dimensions but the first.
struct TensorMapRequest {
  int type;
  uint32_t rank;
  uint64_t address;
  const uint64_t *sizes, *strides;
  const uint32_t *box, *elementStrides;
  int interleave, swizzle, promotion, fill;
};

/// NULL, or the rule of CUDA that it breaks.
const char *encodeTensorMap(const TensorMapRequest &wanted, TensorMap &map);

/// Where a byte of shared memory is under a swizzle: pieces of 16 bytes change
/// places in each line, by the number of the line.
inline uint32_t swizzle(uint32_t address, uint32_t lineBytes) {
  uint32_t mask = lineBytes / 16 - 1;
  return lineBytes ? address ^ ((address >> 7 & mask) << 4) : address;
}

} // namespace alula::ptx
