// Products by warpgroups: wgmma. Each of the four warps computes its own 16
// rows of 64, when it waits for them and no earlier.

#include "runtime/device/cuda/emulator/decode.h"
#include "runtime/device/cuda/emulator/machine.h"
#include "runtime/device/cuda/emulator/small_floats.h"
#include "runtime/device/cuda/emulator/tensor_map.h"

#include <cstring>
#include <memory>

namespace alula::ptx {
namespace {

/// What an instruction says. In Instruction::mode: columns; target, number,
/// bytes: types; flags as here.
enum Flag : uint32_t {
  leftInRegisters = 1,
  leftTransposed = 2,
  rightTransposed = 4,
  leftNegated = 8,
  rightNegated = 16
};
constexpr uint32_t warpRows = 16, depthBytes = 32;

uint32_t encodeType(Type type) { return uint32_t(type.kind) | type.size << 8; }
Type decodeType(uint64_t word) {
  return {Type::Kind(word & 255), uint32_t(word >> 8 & 255)};
}

double readElement(Type type, uint32_t bits) {
  switch (type.kind) {
  case Type::half:
    return double(std::bit_cast<_Float16>(uint16_t(bits)));
  case Type::bfloat:
    return std::bit_cast<float>(bits << 16);
  case Type::tf32:
    return std::bit_cast<float>(bits & ~0x1FFFu);
  case Type::e4m3:
    return E4M3::decode(bits & 0xFF);
  case Type::e5m2:
    return E5M2::decode(bits & 0xFF);
  case Type::sint:
    return int8_t(bits);
  default:
    return uint8_t(bits);
  }
}

bool isWhole(Warp &warp, uint32_t mask, const char *what) {
  if (mask == UINT32_MAX)
    return true;
  if (warp.park(mask))
    return false;
  warp.fail(FaultKind::divergence, uint32_t(__builtin_ctz(mask)),
            "%s of lanes %#x: it needs all 32", what, mask);
  return false;
}

/// A matrix in shared memory, as the descriptor has it (PTX ISA, "matrix
/// descriptor format"), in pieces of 16 bytes: `lines` rows or columns of 32
/// bytes of depth.
class Matrix {
public:
  Matrix(Warp &warp, uint64_t descriptor, bool isTransposed)
      : warp(warp), isTransposed(isTransposed) {
    auto field = [&](unsigned from) {
      return uint32_t(descriptor >> from & 0x3FFF) << 4;
    };
    begin = field(0);
    leading = field(16);
    stride = field(32);
    baseOffset = descriptor >> 49 & 7;
    static constexpr uint32_t lineBytes[] = {0, 128, 64, 32};
    swizzleBytes = lineBytes[descriptor >> 62];
    // 18 bits of an address: of memory beyond, that a launch asked for.
    const Launch &launch = *warp.block->launch;
    if (begin + (1u << 18) < launch.module->dynamicStart + launch.sharedBytes)
      begin += 1 << 18;
  }

  bool isKnown() {
    uint32_t pattern = swizzleBytes * 8;
    if (baseOffset || (pattern && begin / 128 * 128 % pattern)) {
      warp.fail(FaultKind::misaligned, 0,
                "a matrix at %#x whose swizzle of %u bytes does not begin at a "
                "multiple of %u",
                begin, swizzleBytes, pattern);
      return false;
    }
    return true;
  }

  /// The piece of elements 16 / bytes * `piece` of depth of a line; if it is
  /// transposed, of lines 8 * `piece` at a depth.
  bool find(uint32_t line, uint32_t piece, uint32_t &offset) {
    uint32_t address = begin;
    if (!isTransposed) {
      address += line / 8 * stride;
      address += swizzleBytes ? line % 8 * swizzleBytes + piece * 16
                              : line % 8 * 16 + piece * leading;
    } else if (swizzleBytes) {
      uint32_t perLine = swizzleBytes / 16;
      address += piece % perLine * 16 + piece / perLine * leading +
                 line % 8 * swizzleBytes + line / 8 * stride;
    } else {
      address += piece * stride + line % 8 * 16 + line / 8 * leading;
    }
    return warp.findShared(swizzle(address, swizzleBytes), 16, 0, offset);
  }

  /// All pieces of `count` lines from `first` on, in the order in which they
  /// are read.
  bool collect(uint32_t first, uint32_t count, std::vector<uint32_t> &pieces) {
    if (!isKnown())
      return false;
    uint32_t outer = isTransposed ? 16 : count;
    uint32_t inner = isTransposed ? count / 8 : 2;
    for (uint32_t i = 0; i < outer; ++i)
      for (uint32_t j = 0; j < inner; ++j) {
        uint32_t offset;
        if (!(isTransposed ? find(i, first / 8 + j, offset)
                           : find(first + i, j, offset)))
          return false;
        if (const char *why =
                warp.block->shadow.beginBulkRead(offset, 16, warp.number)) {
          warp.fail(FaultKind::race, 0, "wgmma reads shared memory: %s", why);
          return false;
        }
        pieces.push_back(offset);
      }
    return true;
  }

private:
  Warp &warp;
  bool isTransposed;
  uint32_t begin, leading, stride, baseOffset, swizzleBytes;
};

/// operands: left, right (descriptors), whether it adds. Lists: sums, left.
void beginProduct(Warp &warp, const Instruction &i, uint32_t mask) {
  if (!isWhole(warp, mask, "wgmma.mma_async"))
    return;
  Block &block = *warp.block;
  const Module &module = *block.launch->module;
  uint32_t group = warp.number / 4, place = warp.number % 4;
  bool hasLeft = i.flags & leftInRegisters;
  Block::GroupProduct mine = {&i,
                              hasLeft ? 0 : *warp.get<uint64_t>(i.operands[0]),
                              *warp.get<uint64_t>(i.operands[1]), false};
  uint32_t adds = i.operands[2].isConstant
                      ? (*warp.get<uint32_t>(i.operands[2]) ? UINT32_MAX : 0)
                      : warp.predicate(i.operands[2]);
  mine.adds = adds;
  for (uint32_t lane = 0; lane < 32; ++lane)
    if ((!hasLeft && warp.get<uint64_t>(i.operands[0])[lane] != mine.left) ||
        warp.get<uint64_t>(i.operands[1])[lane] != mine.right ||
        (adds >> lane & 1) != (adds & 1))
      return warp.fail(FaultKind::divergence, lane,
                       "wgmma: lanes of a warp multiply different matrices");
  // The four warps do the same.
  if (block.warps.size() < group * 4 + 4)
    return warp.fail(FaultKind::divergence, 0,
                     "wgmma: no four warps are a warpgroup here");
  auto &done = block.groupProducts[group];
  uint64_t number = warp.productCount++;
  if (number == done.size())
    done.push_back(mine);
  const auto &first = done[number];
  if (first.instruction != mine.instruction || first.left != mine.left ||
      first.right != mine.right || first.adds != mine.adds)
    return warp.fail(FaultKind::divergence, 0,
                     "wgmma: warps of a warpgroup multiply different matrices");
  // Sums of products that have not been waited for, if these are the same ones.
  const Operand *list = &module.lists[i.lists[0]];
  PendingSums *sums = nullptr;
  for (PendingSums &other : warp.sums) {
    const Operand *known = &module.lists[other.list];
    uint32_t common = 0, inPlace = 0;
    for (uint32_t k = 0; k < i.listSizes[0]; ++k)
      for (uint32_t l = 0; l < other.size; ++l)
        if (list[k].offset == known[l].offset) {
          ++common;
          inPlace += k == l;
        }
    if (common &&
        (common != inPlace || common != i.listSizes[0] || common != other.size))
      return warp.fail(FaultKind::invalid, 0,
                       "wgmma: its registers are partly those of a product "
                       "that has not been waited for");
    if (common)
      sums = &other;
  }
  if ((!sums || hasLeft) && !warp.isFenced)
    return warp.fail(FaultKind::race, 0,
                     "wgmma: no wgmma.fence orders its registers before it");
  if (!sums) {
    warp.sums.push_back({i.lists[0], i.listSizes[0], 0, {}});
    sums = &warp.sums.back();
    for (uint32_t k = 0; k < i.listSizes[0]; ++k) {
      uint32_t *values = warp.get<uint32_t>(list[k]);
      sums->values.insert(sums->values.end(), values, values + 32);
      // Whoever looks too early sees no number.
      for (uint32_t lane = 0; lane < 32; ++lane)
        values[lane] = 0x7FFDEAD0;
    }
  }
  ++sums->products;
  PendingProduct product = {&i, mine.adds, warp.productGroup, {}, {}};
  if (!hasLeft && !Matrix(warp, mine.left, i.flags & leftTransposed)
                       .collect(place * warpRows, warpRows, product.left))
    return;
  if (!Matrix(warp, mine.right, i.flags & rightTransposed)
           .collect(0, i.mode, product.right))
    return;
  warp.products.push_back(std::move(product));
}

/// What is in pieces of 16 bytes, by its depth and line.
void readLines(Warp &warp, const std::vector<uint32_t> &pieces, Type type,
               bool isTransposed, uint32_t count, uint32_t length,
               double *depths) {
  uint32_t perPiece = 16 / type.bytes();
  for (size_t number = 0; number < pieces.size(); ++number) {
    const uint8_t *from = warp.block->shared.data() + pieces[number];
    for (uint32_t e = 0; e < perPiece; ++e) {
      uint32_t bits = 0;
      memcpy(&bits, from + e * type.bytes(), type.bytes());
      uint32_t line, depth;
      if (isTransposed) {
        depth = uint32_t(number / (count / 8));
        line = uint32_t(number % (count / 8)) * 8 + e;
      } else {
        line = uint32_t(number / 2);
        depth = uint32_t(number % 2) * perPiece + e;
      }
      depths[depth * length + line] = readElement(type, bits);
    }
    warp.block->shadow.endBulkRead(pieces[number], 16, warp.number, 255);
  }
}

void endProduct(Warp &warp, const PendingProduct &product) {
  const Instruction &i = *product.instruction;
  const Module &module = *warp.block->launch->module;
  Type typeD = decodeType(i.bytes | uint32_t(i.listSizes[3]) << 8),
       typeA = decodeType(i.target), typeB = decodeType(i.number);
  // Too large for stacks, and for what each thread of a process has.
  struct Operands {
    double left[32][warpRows], right[32][256];
  };
  auto operands = std::make_unique_for_overwrite<Operands>();
  auto &[left, right] = *operands;
  if (i.flags & leftInRegisters) {
    uint32_t perRegister = 4 / typeA.bytes();
    for (uint32_t r = 0; r < 4; ++r) {
      const uint32_t *values = warp.get<uint32_t>(module.lists[i.lists[1] + r]);
      for (uint32_t lane = 0; lane < 32; ++lane)
        for (uint32_t e = 0; e < perRegister; ++e)
          left[(lane % 4 + r / 2 * 4) * perRegister + e][lane / 4 + r % 2 * 8] =
              readElement(typeA, values[lane] >> (8 * typeA.bytes() * e));
    }
  } else {
    readLines(warp, product.left, typeA, i.flags & leftTransposed, warpRows,
              warpRows, left[0]);
  }
  readLines(warp, product.right, typeB, i.flags & rightTransposed, i.mode, 256,
            right[0]);
  const Operand *list = &module.lists[i.lists[0]];
  PendingSums *sums = nullptr;
  for (PendingSums &each : warp.sums)
    if (module.lists[each.list].offset == list[0].offset)
      sums = &each;
  uint32_t depth = depthBytes / typeA.bytes();
  bool isNegative = bool(i.flags & leftNegated) != bool(i.flags & rightNegated);
  for (uint32_t row = 0; row < warpRows; ++row) {
    double products[256] = {};
    for (uint32_t k = 0; k < depth; ++k)
      for (uint32_t column = 0; column < i.mode; ++column)
        products[column] += left[k][row] * right[k][column];
    for (uint32_t column = 0; column < i.mode; ++column) {
      uint32_t lane = row % 8 * 4 + column % 8 / 2;
      bool isPacked = typeD.kind == Type::half;
      uint32_t number = column / 8 * (isPacked ? 2 : 4) +
                        row / 8 * (isPacked ? 1 : 2) +
                        (isPacked ? 0 : column % 2);
      uint32_t shift = isPacked ? column % 2 * 16 : 0;
      uint32_t &place = sums->values[number * 32 + lane];
      double sum = isNegative ? -products[column] : products[column];
      if (product.adds)
        sum += isPacked                   ? F16::decode(place >> shift & 0xFFFF)
               : typeD.kind == Type::sint ? double(int32_t(place))
                                          : double(std::bit_cast<float>(place));
      if (isPacked)
        place = (place & ~(0xFFFFu << shift)) | F16::encode(sum) << shift;
      else if (typeD.kind == Type::sint)
        place = uint32_t(int64_t(sum));
      else
        place = std::bit_cast<uint32_t>(float(sum));
    }
  }
  if (--sums->products)
    return;
  for (uint32_t k = 0; k < sums->size; ++k)
    memcpy(warp.get<uint32_t>(list[k]), &sums->values[k * 32], 128);
  warp.sums.erase(warp.sums.begin() + (sums - warp.sums.data()));
}

void fenceRegisters(Warp &warp, const Instruction &, uint32_t mask) {
  if (isWhole(warp, mask, "wgmma.fence"))
    warp.isFenced = true;
}
void commitProducts(Warp &warp, const Instruction &, uint32_t mask) {
  if (isWhole(warp, mask, "wgmma.commit_group"))
    ++warp.productGroup;
}
/// number: groups that may still be on their way.
void waitForProducts(Warp &warp, const Instruction &i, uint32_t mask) {
  if (!isWhole(warp, mask, "wgmma.wait_group"))
    return;
  size_t ended = 0;
  while (ended < warp.products.size() &&
         warp.products[ended].group + i.number < warp.productGroup)
    endProduct(warp, warp.products[ended++]);
  warp.products.erase(warp.products.begin(),
                      warp.products.begin() + ptrdiff_t(ended));
  // Registers may be touched now.
  warp.isFenced = false;
  warp.block->shadow.meetLanes(warp.number);
}

void setRegisters(Warp &warp, const Instruction &i, uint32_t mask) {
  if (isWhole(warp, mask, "setmaxnreg") &&
      (i.number < 24 || i.number > 256 || i.number % 8))
    warp.fail(FaultKind::invalid, 0, "setmaxnreg of %llu registers",
              (unsigned long long)i.number);
}

/// The lowest of the lanes that take part.
void elect(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t members = warp.get<uint32_t>(i.operands[1])[__builtin_ctz(mask)];
  if (members & warp.live & ~mask) {
    if (warp.park(mask))
      return;
    return warp.fail(FaultKind::divergence, uint32_t(__builtin_ctz(mask)),
                     "elect.sync of lanes %#x, of which %#x are elsewhere",
                     members, members & warp.live & ~mask);
  }
  uint32_t chosen = uint32_t(__builtin_ctz(mask & members));
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  forLanes(mask, [&](uint32_t lane) { to[lane] = chosen; });
  uint32_t &predicate =
      warp.predicate(warp.block->launch->module->lists[i.lists[0]]);
  predicate = (predicate & ~mask) | 1u << chosen;
}
} // namespace

void decodeWarpgroup(Decoding &decoding, const Statement &s, Instruction &i) {
  std::string_view name = s.opcode[0];
  const std::vector<Written> &written = s.operands;
  const Type u32 = {Type::uint, 32}, b64 = {Type::bits, 64};
  if (name == "setmaxnreg") {
    if (written.size() != 1 || !readNumber(written[0].text, u32, i.number))
      return decoding.fail("setmaxnreg has a number");
    i.run = setRegisters;
    return;
  }
  if (name == "elect") {
    if (written.size() != 2 || written[0].second.empty())
      return decoding.fail("elect.sync has a lane, a predicate and lanes");
    i.operands[0] = decoding.operand(written[0], u32);
    Written second;
    second.text = written[0].second;
    decoding.list(i, 0, second, {Type::pred, 1}, false);
    i.operands[1] = decoding.operand(written[1], u32);
    i.run = elect;
    return;
  }
  if (name != "wgmma" || s.opcode.size() < 2 || s.has("sp"))
    return;
  if (s.opcode[1] == "fence") {
    i.run = fenceRegisters;
    return;
  }
  if (s.opcode[1] == "commit_group") {
    i.run = commitProducts;
    return;
  }
  if (s.opcode[1] == "wait_group") {
    if (written.size() != 1 || !readNumber(written[0].text, u32, i.number))
      return decoding.fail("a wait is for a number of groups");
    i.run = waitForProducts;
    return;
  }
  if (s.opcode[1] != "mma_async" || s.has("satfinite"))
    return;
  uint32_t m = 0, n = 0, k = 0;
  Type types[3];
  unsigned count = 0;
  for (size_t at = 2; at < s.opcode.size(); ++at) {
    std::string word(s.opcode[at]);
    if (sscanf(word.c_str(), "m%un%uk%u", &m, &n, &k) == 3)
      continue;
    if (word == "tf32") {
      if (count < 3)
        types[count++] = {Type::tf32, 32};
    } else if (Type type = readType(word); type.size && count < 3) {
      types[count++] = type;
    }
  }
  bool isInteger = types[1].size == 8 &&
                   (types[1].kind == Type::sint || types[1].kind == Type::uint);
  if (count != 3 || m != 64 || n % 8 || n < 8 || n > 256 ||
      types[1].size != types[2].size || !types[1].bytes() ||
      k != depthBytes / types[1].bytes())
    return;
  if (isInteger && n % 16 && n != 8 && n != 24)
    return decoding.fail("wgmma of integers has other numbers of columns");
  bool isHalf = types[1].size == 16;
  // Sums, both sides, whether it adds; signs of both, then how they lie.
  if (written.size() < 4)
    return decoding.fail("wgmma has 4 operands or more");
  bool hasLeft = written[1].kind == Written::list;
  size_t numbers = isInteger ? 0 : isHalf ? 4 - hasLeft : 2;
  if (written.size() != 4 + numbers)
    return decoding.fail("wgmma has " + std::to_string(4 + numbers) +
                         " operands");
  decoding.list(i, 0, written[0], {Type::bits, 32}, false);
  uint32_t wanted = n / 2 / (types[0].kind == Type::half ? 2 : 1);
  if (i.listSizes[0] != wanted)
    return decoding.fail("its sums are in " + std::to_string(wanted) +
                         " registers");
  if (hasLeft) {
    decoding.list(i, 1, written[1], {Type::bits, 32}, false);
    if (i.listSizes[1] != 4)
      return decoding.fail("its left side is in 4 registers");
    i.flags |= leftInRegisters;
  } else {
    i.operands[0] = decoding.operand(written[1], b64);
  }
  i.operands[1] = decoding.operand(written[2], b64);
  i.operands[2] = decoding.anyWidth(written[3].text, {Type::pred, 1});
  uint64_t values[4] = {1, 1, 0, 0};
  for (size_t at = 0; at < numbers; ++at)
    if (!readNumber(written[4 + at].text, {Type::sint, 32}, values[at]))
      return decoding.fail("its last operands are numbers");
  if (hasLeft)
    std::swap(values[2], values[3]);
  auto isSign = [](uint64_t value) {
    return int64_t(value) == 1 || int64_t(value) == -1 || int32_t(value) == -1;
  };
  if (!isSign(values[0]) || !isSign(values[1]) || values[2] > 1 ||
      values[3] > 1)
    return decoding.fail("signs are 1 or -1, and ways to lie 0 or 1");
  if (values[0] != 1)
    i.flags |= leftNegated;
  if (values[1] != 1)
    i.flags |= rightNegated;
  if (values[2])
    i.flags |= leftTransposed;
  if (values[3])
    i.flags |= rightTransposed;
  i.mode = n;
  uint32_t sum = encodeType(types[0]);
  i.bytes = uint8_t(sum);
  i.listSizes[3] = uint8_t(sum >> 8);
  i.target = encodeType(types[1]);
  i.number = encodeType(types[2]);
  i.run = beginProduct;
}

} // namespace alula::ptx
