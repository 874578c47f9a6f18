// Products of fragments, and fragments from shared memory.

#include "runtime/device/cuda/emulator/decode.h"
#include "runtime/device/cuda/emulator/machine.h"
#include "runtime/device/cuda/emulator/small_floats.h"

#include <cstring>

namespace alula::ptx {
namespace {

/// All lanes of a warp work together.
bool isWhole(Warp &warp, uint32_t mask, const char *what) {
  if (mask == UINT32_MAX)
    return true;
  if (warp.park(mask))
    return false;
  warp.fail(FaultKind::divergence, uint32_t(__builtin_ctz(mask)),
            "%s of lanes %#x: it needs all 32", what, mask);
  return false;
}

double readElement(Type type, uint64_t bits) {
  switch (type.kind) {
  case Type::half:
    return F16::decode(uint32_t(bits) & 0xFFFF);
  case Type::bfloat:
    return BF16::decode(uint32_t(bits) & 0xFFFF);
  case Type::tf32:
    return std::bit_cast<float>(uint32_t(bits) & ~0x1FFFu);
  case Type::e4m3:
    return E4M3::decode(uint32_t(bits) & 0xFF);
  case Type::e5m2:
    return E5M2::decode(uint32_t(bits) & 0xFF);
  case Type::sint:
    return double(int64_t(bits << (64 - type.size)) >> (64 - type.size));
  case Type::uint:
    return double(bits & ((uint64_t(1) << type.size) - 1));
  default:
    return std::bit_cast<double>(bits);
  }
}

Type getType(uint32_t word) {
  return {Type::Kind(word & 255), word >> 8 & 255};
}

/// mode: k; bytes: rows of the result; target, number: types of a and b; flags:
/// type of the result.
void multiply(Warp &warp, const Instruction &i, uint32_t mask) {
  if (!isWhole(warp, mask, "mma.sync"))
    return;
  const Module &module = *warp.block->launch->module;
  uint32_t rows = i.bytes, depth = i.mode;
  Type typeA = getType(i.target), typeB = getType(uint32_t(i.number)),
       typeD = getType(i.flags);
  static thread_local double a[16][64], b[64][8], c[16][8];
  uint32_t registerBits = typeA.size == 64 ? 64 : 32;
  uint32_t perRegister = registerBits / typeA.size;
  auto get = [&](unsigned list, uint32_t number, uint32_t lane) {
    const Operand &operand = module.lists[i.lists[list] + number];
    uint64_t bits = 0;
    memcpy(&bits, warp.get<uint8_t>(operand) + lane * operand.bytes,
           operand.bytes);
    return bits;
  };
  uint32_t halves = rows / 8;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t group = lane / 4, thread = lane % 4;
    for (uint32_t r = 0; r < i.listSizes[1]; ++r) {
      uint64_t bits = get(1, r, lane);
      for (uint32_t e = 0; e < perRegister; ++e)
        a[group + 8 * (r % halves)]
         [perRegister * thread + e + 4 * perRegister * (r / halves)] =
             readElement(typeA, bits >> (typeA.size * e));
    }
    for (uint32_t r = 0; r < i.listSizes[2]; ++r) {
      uint64_t bits = get(2, r, lane);
      for (uint32_t e = 0; e < perRegister; ++e)
        b[perRegister * thread + e + 4 * perRegister * r][group] =
            readElement(typeB, bits >> (typeB.size * e));
    }
    bool isPacked = typeD.kind == Type::half;
    for (uint32_t r = 0; r < i.listSizes[3]; ++r) {
      uint64_t bits = get(3, r, lane);
      if (isPacked) {
        c[group + 8 * r][2 * thread] = F16::decode(uint32_t(bits) & 0xFFFF);
        c[group + 8 * r][2 * thread + 1] =
            F16::decode(uint32_t(bits >> 16) & 0xFFFF);
      } else {
        c[group + 8 * (r / 2)][2 * thread + r % 2] =
            typeD.kind == Type::sint ? double(int32_t(bits))
            : typeD.size == 64       ? std::bit_cast<double>(bits)
                               : double(std::bit_cast<float>(uint32_t(bits)));
      }
    }
  }
  for (uint32_t row = 0; row < rows; ++row)
    for (uint32_t column = 0; column < 8; ++column) {
      double sum = c[row][column];
      for (uint32_t k = 0; k < depth; ++k)
        sum = typeA.size == 64 ? std::fma(a[row][k], b[k][column], sum)
                               : sum + a[row][k] * b[k][column];
      c[row][column] = sum;
    }
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t group = lane / 4, thread = lane % 4;
    for (uint32_t r = 0; r < i.listSizes[0]; ++r) {
      const Operand &operand = module.lists[i.lists[0] + r];
      uint64_t bits;
      if (typeD.kind == Type::half) {
        bits = F16::encode(c[group + 8 * r][2 * thread]) |
               F16::encode(c[group + 8 * r][2 * thread + 1]) << 16;
      } else {
        double value = c[group + 8 * (r / 2)][2 * thread + r % 2];
        bits = typeD.kind == Type::sint ? uint64_t(uint32_t(int64_t(value)))
               : typeD.size == 64       ? std::bit_cast<uint64_t>(value)
                                        : std::bit_cast<uint32_t>(float(value));
      }
      memcpy(warp.get<uint8_t>(operand) + lane * operand.bytes, &bits,
             operand.bytes);
    }
  }
}

uint64_t getAddress(const Warp &warp, const Instruction &i, uint32_t lane) {
  const Operand &base = i.operands[0];
  return (base.bytes == 4 ? warp.get<uint32_t>(base)[lane]
                          : warp.get<uint64_t>(base)[lane]) +
         i.number;
}

/// flags 1: transposed, 2: stores. Row r of matrix m is where lane 8m + r says.
void moveMatrix(Warp &warp, const Instruction &i, uint32_t mask) {
  bool isTransposed = i.flags & 1, stores = i.flags & 2;
  if (!isWhole(warp, mask, stores ? "stmatrix" : "ldmatrix"))
    return;
  const Module &module = *warp.block->launch->module;
  for (uint32_t m = 0; m < i.listSizes[0]; ++m) {
    uint32_t *values = warp.get<uint32_t>(module.lists[i.lists[0] + m]);
    uint8_t *rows[8];
    for (uint32_t r = 0; r < 8; ++r)
      if (!(rows[r] = warp.locate(
                i.space == Space::generic ? Space::generic : Space::shared,
                getAddress(warp, i, 8 * m + r), 16, 8 * m + r, stores)))
        return;
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t e = 0; e < 2; ++e) {
        uint32_t row = lane / 4, column = 2 * (lane % 4) + e;
        if (isTransposed)
          std::swap(row, column);
        uint8_t *place = rows[row] + 2 * column;
        uint16_t element;
        if (stores) {
          element = uint16_t(values[lane] >> (16 * e));
          memcpy(place, &element, 2);
        } else {
          memcpy(&element, place, 2);
          values[lane] =
              e ? (values[lane] & 0xFFFF) | uint32_t(element) << 16 : element;
        }
      }
  }
}
} // namespace

void decodeMatrix(Decoding &decoding, const Statement &s, Instruction &i) {
  std::string_view name = s.opcode[0];
  if (name == "ldmatrix" || name == "stmatrix") {
    bool stores = name == "stmatrix";
    if (s.operands.size() != 2 || !s.has("b16"))
      return;
    i.space = Space::generic;
    for (std::string_view word : s.opcode)
      if (word.starts_with("shared"))
        i.space = Space::shared;
    i.flags = (s.has("trans") ? 1 : 0) | (stores ? 2 : 0);
    decoding.list(i, 0, s.operands[stores], {Type::bits, 32}, false);
    uint32_t wanted = s.has("x1") ? 1 : s.has("x2") ? 2 : 4;
    if (i.listSizes[0] != wanted)
      return decoding.fail("as many registers as matrices");
    decoding.address(i, 0, s.operands[!stores]);
    i.run = moveMatrix;
    return;
  }
  if (name != "mma")
    return;
  uint32_t m = 0, n = 0, k = 0;
  Type types[4];
  unsigned count = 0;
  for (size_t at = 1; at < s.opcode.size(); ++at) {
    std::string word(s.opcode[at]);
    if (sscanf(word.c_str(), "m%un%uk%u", &m, &n, &k) == 3)
      continue;
    if (Type type = readType(word); type.size && count < 4)
      types[count++] = type;
  }
  if (s.operands.size() != 4 || count != 4 || n != 8 || (m != 8 && m != 16) ||
      k > 64 || s.has("sp"))
    return;
  if (m == 8 && types[1].size != 64)
    return;
  if (s.has("satfinite") || !s.has("row") || !s.has("col"))
    return;
  for (unsigned list = 0; list < 4; ++list)
    decoding.list(i, list, s.operands[list],
                  {Type::bits, types[1].size == 64 ? 64u : 32u}, false);
  auto encode = [](Type type) { return uint32_t(type.kind) | type.size << 8; };
  // Numbers of registers follow from the shape.
  uint32_t width = types[1].size == 64 ? 64 : 32;
  uint32_t sizes[4] = {m * 8 * (types[0].kind == Type::half ? 16 : width) /
                           width / 32,
                       m * k * types[1].size / width / 32,
                       k * 8 * types[2].size / width / 32, 0};
  sizes[3] = sizes[0];
  if (types[1].kind == Type::tf32)
    sizes[1] = m * k / 32, sizes[2] = k * 8 / 32;
  for (unsigned list = 0; list < 4; ++list)
    if (i.listSizes[list] != sizes[list])
      return decoding.fail("operand " + std::to_string(list) + " of mma has " +
                           std::to_string(i.listSizes[list]) +
                           " registers, not " + std::to_string(sizes[list]));
  i.bytes = uint8_t(m);
  i.mode = k;
  i.flags = encode(types[0]);
  i.target = encode(types[1]);
  i.number = encode(types[2]);
  i.run = multiply;
}

} // namespace alula::ptx
