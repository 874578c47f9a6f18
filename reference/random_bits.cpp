#include "reference/random_bits.h"

#include "reference/tensor.h"

#include <bit>

namespace alula::reference {

std::array<uint32_t, 2> threefry2x32(std::array<uint32_t, 2> key,
                                     std::array<uint32_t, 2> counter) {
  static constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA};
  uint32_t x = counter[0] + keys[0], y = counter[1] + keys[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (int rotation : rotations[group % 2]) {
      x += y;
      y = std::rotl(y, rotation) ^ x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + group + 1;
  }
  return {x, y};
}

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 2> key,
                                   std::array<uint32_t, 4> c) {
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * c[0];
    uint64_t second = uint64_t(0xCD9E8D57) * c[2];
    c = {uint32_t(second >> 32) ^ c[1] ^ key[0], uint32_t(second),
         uint32_t(first >> 32) ^ c[3] ^ key[1], uint32_t(first)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

namespace {

std::array<uint32_t, 2> splitWord(uint64_t word) {
  return {uint32_t(word), uint32_t(word >> 32)};
}

/// The dimension that pairs of words run along: the first even one, else the
/// first of the largest.
size_t getPairDimension(llvm::ArrayRef<int64_t> dims) {
  size_t largest = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] % 2 == 0)
      return d;
    if (dims[d] > dims[largest])
      largest = d;
  }
  return largest;
}

} // namespace

std::vector<uint64_t> threefryBits(std::vector<uint64_t> &state,
                                   llvm::ArrayRef<int64_t> dims, bool wide) {
  std::array<uint32_t, 2> key = splitWord(state[0]);
  int64_t count = getNumElements(dims).value_or(0);
  std::vector<uint64_t> bits(static_cast<size_t>(count));
  if (wide || dims.empty()) {
    for (int64_t k = 0; k < count; ++k) {
      auto pair = threefry2x32(key, splitWord(state[1] + uint64_t(k)));
      bits[size_t(k)] = wide ? pair[0] | uint64_t(pair[1]) << 32 : pair[0];
    }
    state[1] += uint64_t(count);
    return bits;
  }
  // One counter gives two neighbours along the pair dimension.
  size_t pairs = getPairDimension(dims);
  Dims half(dims);
  half[pairs] = (dims[pairs] + 1) / 2;
  Dims strides = getStrides(dims);
  uint64_t at = 0;
  for (BoxWalk walk(half); !walk.isDone(); walk.next(), ++at) {
    auto pair = threefry2x32(key, splitWord(state[1] + at));
    int64_t offset = dotIndex(walk.getIndex(), strides) +
                     walk[pairs] * strides[pairs];
    bits[size_t(offset)] = pair[0];
    if (2 * walk[pairs] + 1 < dims[pairs])
      bits[size_t(offset + strides[pairs])] = pair[1];
  }
  state[1] += at;
  return bits;
}

std::vector<uint64_t> philoxBits(std::vector<uint64_t> &state, int64_t count,
                                 bool wide) {
  std::array<uint32_t, 2> key = splitWord(state[0]);
  // The counter has 128 bits; a state of two words has the key in its upper
  // half.
  uint64_t low = state[1], high = state.size() > 2 ? state[2] : state[0];
  std::vector<uint64_t> bits;
  bits.reserve(size_t(count) + 4);
  uint64_t used = 0;
  for (; int64_t(bits.size()) < count; ++used) {
    uint64_t word = low + used;
    uint64_t carry = word < low;
    auto [a, b] = splitWord(word);
    auto [c, d] = splitWord(high + carry);
    std::array<uint32_t, 4> four = philox4x32(key, {a, b, c, d});
    if (wide) {
      bits.push_back(four[0] | uint64_t(four[1]) << 32);
      bits.push_back(four[2] | uint64_t(four[3]) << 32);
    } else {
      bits.insert(bits.end(), four.begin(), four.end());
    }
  }
  bits.resize(size_t(count));
  if (state.size() > 2)
    state[2] += low + used < low;
  state[1] = low + used;
  return bits;
}

} // namespace alula::reference
