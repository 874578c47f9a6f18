#include "runtime/device/cuda/emulator/tensor_map.h"

namespace alula::ptx {

/// By CUDA's numbers of types; 0: there is none.
static uint32_t getElementBytes(int type) {
  static constexpr uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type >= 0 && type < int(sizeof bytes) ? bytes[type] : 0;
}
static bool isFloat(int type) { return type >= 6; }

const char *encodeTensorMap(const TensorMapRequest &wanted, TensorMap &map) {
  uint32_t elementBytes = getElementBytes(wanted.type);
  if (!elementBytes)
    return "no such type";
  if (wanted.rank < 1 || wanted.rank > TensorMap::maxRank)
    return "1 to 5 dimensions";
  if (wanted.interleave)
    return "interleaved layouts are not known";
  static constexpr uint8_t lines[] = {0, 32, 64, 128};
  if (wanted.swizzle < 0 || wanted.swizzle > 3)
    return "no such swizzle";
  if (wanted.promotion < 0 || wanted.promotion > 3)
    return "no such promotion";
  if (wanted.fill < 0 || wanted.fill > 1 ||
      (wanted.fill && !isFloat(wanted.type)))
    return "NaN is for floats alone";
  if (!wanted.address || wanted.address % 16)
    return "the address must be a multiple of 16";
  map = {};
  map.mark = TensorMap::expectedMark;
  map.address = wanted.address;
  map.rank = uint8_t(wanted.rank);
  map.elementBytes = uint8_t(elementBytes);
  map.swizzleBytes = lines[wanted.swizzle];
  map.fillsWithNan = wanted.fill;
  map.strides[0] = elementBytes;
  for (uint32_t dim = 0; dim < wanted.rank; ++dim) {
    if (wanted.sizes[dim] < 1 || wanted.sizes[dim] > uint64_t(1) << 32)
      return "a dimension has 1 to 2^32 elements";
    if (wanted.box[dim] < 1 || wanted.box[dim] > 256)
      return "a box has 1 to 256 elements of a dimension";
    if (wanted.elementStrides[dim] != 1)
      return "strides in a box are not known";
    map.sizes[dim] = wanted.sizes[dim];
    map.box[dim] = uint16_t(wanted.box[dim]);
    if (dim) {
      uint64_t stride = wanted.strides[dim - 1];
      if (stride % 16 || stride >= uint64_t(1) << 40)
        return "a stride must be a multiple of 16 below 2^40";
      map.strides[dim] = stride;
    }
  }
  uint32_t lineBytes = wanted.box[0] * elementBytes;
  if (lineBytes % 16)
    return "a line of a box must be a multiple of 16 bytes";
  if (map.swizzleBytes && lineBytes > map.swizzleBytes)
    return "a line of a box must not be longer than that of its swizzle";
  return nullptr;
}

} // namespace alula::ptx
