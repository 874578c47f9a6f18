// Barriers with phases, copies of the asynchronous proxy, wgmma: what they do
// as the PTX ISA has it, and which mistakes are found.

#include "runtime/device/cuda/emulator/small_floats.h"
#include "runtime/device/cuda/emulator/tensor_map.h"
#include "runtime/device/cuda/emulator/test_kernel.h"

#include <gtest/gtest.h>

#include <random>

namespace alula::ptx {
namespace {

// ---- Where elements are ----

/// The PTX ISA's figures of swizzled layouts: which piece of 16 bytes stands at
/// a place of a line, for 8 lines of 128, 64 and 32 bytes.
const uint32_t pieces128[8][8] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6},
    {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4},
    {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
    {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
const uint32_t pieces64[8][4] = {{0, 1, 2, 3}, {0, 1, 2, 3}, {1, 0, 3, 2},
                                 {1, 0, 3, 2}, {2, 3, 0, 1}, {2, 3, 0, 1},
                                 {3, 2, 1, 0}, {3, 2, 1, 0}};
const uint32_t pieces32[8][2] = {{0, 1}, {0, 1}, {0, 1}, {0, 1},
                                 {1, 0}, {1, 0}, {1, 0}, {1, 0}};

/// Where in its line a piece stands; lines are counted in a pattern of 8.
uint32_t findPiece(uint32_t lineBytes, uint32_t line, uint32_t piece) {
  for (uint32_t place = 0; place < lineBytes / 16; ++place) {
    uint32_t there = lineBytes == 128  ? pieces128[line][place]
                     : lineBytes == 64 ? pieces64[line][place]
                                       : pieces32[line][place];
    if (there == piece)
      return place;
  }
  return 0;
}

struct Layout {
  uint32_t swizzle, leading, stride;
  bool isTransposed;
};

/// The byte of an element in a matrix of wgmma, by the table of strides: `mn`
/// is its row of A or column of B, `k` its depth.
uint32_t findElement(const Layout &layout, uint32_t mn, uint32_t k,
                     uint32_t bytes) {
  uint32_t along = layout.isTransposed ? mn : k,
           across = layout.isTransposed ? k : mn;
  uint32_t piece = along * bytes / 16, inside = along * bytes % 16;
  uint32_t atom = across / 8, line = across % 8;
  if (!layout.swizzle) {
    // 8 lines of 16 bytes. K-major: the next 16 bytes of depth are `leading`
    // further, the next 8 rows `stride`. MN-major: the next 16 bytes of rows
    // `stride`, the next 8 steps of depth `leading`.
    uint32_t ofPiece = layout.isTransposed ? layout.stride : layout.leading,
             ofAtom = layout.isTransposed ? layout.leading : layout.stride;
    return atom * ofAtom + piece * ofPiece + line * 16 + inside;
  }
  // `leading` is between atoms along the line, of MN-major alone.
  uint32_t perLine = layout.swizzle / 16;
  return atom * layout.stride + piece / perLine * layout.leading +
         line * layout.swizzle +
         findPiece(layout.swizzle, line, piece % perLine) * 16 + inside;
}

uint64_t describe(uint32_t offset, const Layout &layout) {
  static const std::map<uint32_t, uint64_t> modes = {
      {0, 0}, {128, 1}, {64, 2}, {32, 3}};
  return uint64_t(offset >> 4) | uint64_t(layout.leading >> 4) << 16 |
         uint64_t(layout.stride >> 4) << 32 | modes.at(layout.swizzle) << 62;
}

struct Kind {
  const char *name, *result;
  uint32_t bytes;
  uint32_t (*encode)(double);
};
template <class Format> uint32_t encode(double value) {
  return Format::encode(value);
}
const Kind kinds[] = {
    {"f16", "f32", 2, encode<F16>},
    {"bf16", "f32", 2, encode<BF16>},
    {"tf32", "f32", 4,
     [](double value) { return std::bit_cast<uint32_t>(float(value)); }},
    {"e4m3", "f32", 1, encode<E4M3>},
    {"e5m2", "f32", 1, encode<E5M2>},
    {"s8", "s32", 1, [](double value) { return uint32_t(int32_t(value)); }},
    {"f16", "f16", 2, encode<F16>},
};

/// A product of 64 x 32 by one warpgroup; A from registers if it has no layout.
void checkProduct(const Kind &kind, const Layout *left, const Layout &right) {
  const uint32_t columns = 32, bytes = 16384, rightAt = 8192;
  uint32_t depth = 32 / kind.bytes, registers = 16;
  bool isPacked = !strcmp(kind.result, "f16"), isInteger = kind.name[0] == 's';
  if (isPacked)
    registers = 8;
  // A and B as they lie in shared memory, A's fragments, results.
  Memory memory(bytes / 4 + 128 * 4 + 128 * 16);
  auto *image = reinterpret_cast<uint8_t *>(memory.words.data());
  std::mt19937 random(columns + depth);
  std::vector<double> a(64 * depth), b(columns * depth);
  auto place = [&](uint32_t at, double value) {
    uint32_t bits = kind.encode(value);
    memcpy(image + at, &bits, kind.bytes);
  };
  for (uint32_t row = 0; row < 64; ++row)
    for (uint32_t k = 0; k < depth; ++k) {
      double value = a[row * depth + k] = int(random() % 9) - 4;
      if (left) {
        place(findElement(*left, row, k, kind.bytes), value);
        continue;
      }
      // Figures of fragments of A: 4 registers of 4 bytes of depth.
      uint32_t perRegister = 4 / kind.bytes,
               lane = row % 8 * 4 + k / perRegister % 4;
      uint32_t number = row / 8 % 2 + k / perRegister / 4 * 2;
      place(bytes + ((row / 16 * 32 + lane) * 4 + number) * 4 +
                k % perRegister * kind.bytes,
            value);
    }
  for (uint32_t column = 0; column < columns; ++column)
    for (uint32_t k = 0; k < depth; ++k)
      place(rightAt + findElement(right, column, k, kind.bytes),
            b[column * depth + k] = int(random() % 9) - 4);
  std::string sums, text;
  for (uint32_t r = 0; r < registers; ++r) {
    sums += (r ? ", %r" : "%r") + std::to_string(20 + r);
    text += "mov.b32 %r" + std::to_string(20 + r) + ", " +
            (isInteger  ? "1"
             : isPacked ? "0x3C003C00"
                        : "0x3F800000") +
            ";\n";
  }
  text += "mul.wide.u32 %rd1, %t, 128;\nadd.s64 %rd1, %base, %rd1;\n"
          "mov.u32 %r1, dynamic;\nmov.u32 %r3, dynamic;\n"
          "mad.lo.u32 %r1, %t, 128, %r1;\n";
  for (uint32_t part = 0; part < 128; part += 16)
    text += "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1+" +
            std::to_string(part) + "];\nst.shared.v4.u32 [%r1+" +
            std::to_string(part) + "], {%r4, %r5, %r6, %r7};\n";
  text += "fence.proxy.async;\nbar.sync 0;\n"
          "mul.wide.u32 %rd5, %t, 16;\nadd.s64 %rd5, %base, %rd5;\n"
          "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd5+16384];\n"
          "shr.u32 %r3, %r3, 4;\ncvt.u64.u32 %rd2, %r3;\n";
  if (left)
    text += "add.s64 %rd3, %rd2, " + std::to_string(describe(0, *left)) + ";\n";
  text += "add.s64 %rd4, %rd2, " + std::to_string(describe(rightAt, right)) +
          ";\nsetp.eq.u32 %p1, %t, %t;\nwgmma.fence.sync.aligned;\n"
          "wgmma.mma_async.sync.aligned.m64n32k" +
          std::to_string(depth) + "." + kind.result + "." + kind.name + "." +
          kind.name + " {" + sums + "}, " +
          (left ? "%rd3" : "{%r4, %r5, %r6, %r7}") + ", %rd4, %p1";
  if (!isInteger)
    text += ", -1, 1";
  if (kind.bytes == 2) {
    if (left)
      text += left->isTransposed ? ", 1" : ", 0";
    text += right.isTransposed ? ", 1" : ", 0";
  }
  text += ";\nwgmma.commit_group.sync.aligned;\n"
          "wgmma.wait_group.sync.aligned 0;\n"
          "mul.wide.u32 %rd6, %t, 64;\nadd.s64 %rd6, %base, %rd6;\n";
  for (uint32_t r = 0; r < registers; ++r)
    text += "st.global.u32 [%rd6+" + std::to_string(bytes + 2048 + r * 4) +
            "], %r" + std::to_string(20 + r) + ";\n";
  Fault fault = run(kernel(text), memory, {1, 128, 16384});
  ASSERT_EQ(fault.text, "") << kind.name;
  const uint32_t *results = &memory.words[(bytes + 2048) / 4];
  for (uint32_t row = 0; row < 64; ++row)
    for (uint32_t column = 0; column < columns; ++column) {
      double expected = 0;
      for (uint32_t k = 0; k < depth; ++k)
        expected += a[row * depth + k] * b[column * depth + k];
      expected = isInteger ? 1 + expected : 1 - expected;
      // Figure of fragments of D.
      uint32_t thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
      uint32_t number = isPacked
                            ? column / 8 * 2 + row / 8 % 2
                            : column / 8 * 4 + row / 8 % 2 * 2 + column % 2;
      uint32_t bits = results[thread * 16 + number];
      double got = isInteger  ? int32_t(bits)
                   : isPacked ? F16::decode(bits >> (column % 2 * 16) & 0xFFFF)
                              : std::bit_cast<float>(bits);
      ASSERT_EQ(got, expected) << kind.name << " swizzle " << right.swizzle
                               << " at " << row << ", " << column;
    }
}

TEST(Warpgroups, MatricesAsTheyLie) {
  for (uint32_t swizzle : {0, 32, 64, 128}) {
    uint32_t line = swizzle ? swizzle : 16;
    // 8 lines and what is between them; longer strides, too.
    Layout alongDepth = {swizzle, swizzle ? 16u : 2048u, 8 * line, false};
    Layout spread = {swizzle, 2048, 1024, false};
    // 16 steps of depth are two groups of 8 lines.
    Layout across = {swizzle, 16 * line, 8 * line, true};
    if (!swizzle)
      across = {0, 1024, 128, true};
    for (const Kind &kind : kinds) {
      checkProduct(kind, &alongDepth, alongDepth);
      checkProduct(kind, nullptr, alongDepth);
      checkProduct(kind, &alongDepth, swizzle ? spread : alongDepth);
      if (kind.bytes != 2)
        continue;
      checkProduct(kind, &across, across);
      checkProduct(kind, &across, alongDepth);
      checkProduct(kind, &alongDepth, across);
      checkProduct(kind, nullptr, across);
    }
  }
}

/// A box of 16-bit elements from a matrix of 20 x 70, whose rows have 144
/// bytes: what is outside is zero.
void checkBox(uint32_t swizzleBytes, int32_t x, int32_t y) {
  uint32_t width = swizzleBytes ? swizzleBytes / 2 : 40, height = 16;
  uint32_t bytes = width * height * 2;
  Memory memory(64 + 20 * 36 + 1024);
  // The map at a multiple of 64.
  auto at = uint32_t((64 - memory.address() % 64) % 64);
  uint8_t *image = reinterpret_cast<uint8_t *>(memory.words.data());
  uint64_t sizes[] = {70, 20}, stride = 144;
  uint32_t box[] = {width, height}, ones[] = {1, 1};
  int way = swizzleBytes == 128  ? 3
            : swizzleBytes == 64 ? 2
            : swizzleBytes == 32 ? 1
                                 : 0;
  TensorMap map;
  ASSERT_EQ(encodeTensorMap({1, 2, memory.address() + 256, sizes, &stride, box,
                             ones, 0, way, 0, 0},
                            map),
            nullptr);
  memcpy(image + at, &map, sizeof map);
  for (uint32_t row = 0; row < 20; ++row)
    for (uint32_t column = 0; column < 72; ++column) {
      auto value = uint16_t(row * 100 + column + 1);
      memcpy(image + 256 + row * 144 + column * 2, &value, 2);
    }
  std::string text =
      "setp.eq.u32 %p1, %t, 0;\nmov.u32 %r1, tile;\nmov.u32 %r2, dynamic;\n"
      "@%p1 mbarrier.init.shared::cta.b64 [%r1+8], 1;\n"
      "@%p1 fence.proxy.async;\nbar.sync 0;\n"
      "add.s64 %rd1, %base, " +
      std::to_string(at) +
      ";\n"
      "mov.b32 %r3, " +
      std::to_string(x) + ";\nmov.b32 %r4, " + std::to_string(y) +
      ";\n"
      "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+8], " +
      std::to_string(bytes) +
      ";\n"
      "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
      "complete_tx::bytes [%r2], [%rd1, {%r3, %r4}], [%r1+8];\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1+8], 0;\n"
      "@!%p2 bra again;\n"
      "mov.u32 %r5, %t;\ncopy:\nshl.b32 %r6, %r5, 2;\n"
      "add.u32 %r7, %r2, %r6;\nld.shared.u32 %r8, [%r7];\n"
      "cvt.u64.u32 %rd2, %r6;\nadd.s64 %rd2, %rd2, %base;\n"
      "st.global.u32 [%rd2+3136], %r8;\nadd.u32 %r5, %r5, 32;\n"
      "setp.lt.u32 %p3, %r5, " +
      std::to_string(bytes / 4) +
      ";\n"
      "@%p3 bra copy;\n";
  Fault fault = run(kernel(text), memory, {1, 32, bytes});
  ASSERT_EQ(fault.text, "");
  for (uint32_t row = 0; row < height; ++row)
    for (uint32_t column = 0; column < width; ++column) {
      int64_t fromRow = y + int64_t(row), fromColumn = x + int64_t(column);
      bool isInside =
          fromRow >= 0 && fromRow < 20 && fromColumn >= 0 && fromColumn < 70;
      uint32_t place = row * width * 2 + column * 2;
      if (swizzleBytes)
        place = row * swizzleBytes +
                findPiece(swizzleBytes, row % 8, column / 8) * 16 +
                column % 8 * 2;
      uint16_t got;
      memcpy(&got, image + 3136 + place, 2);
      ASSERT_EQ(got, isInside ? uint16_t(fromRow * 100 + fromColumn + 1) : 0)
          << swizzleBytes << " at " << row << ", " << column;
    }
}

TEST(Copies, BoxesOfTensors) {
  for (uint32_t swizzleBytes : {0, 32, 64, 128})
    for (auto [x, y] : {std::pair(0, 0), {8, 3}, {-3, -2}, {61, 11}, {80, 30}})
      checkBox(swizzleBytes, x, y);
}

TEST(Copies, MapsOfTensors) {
  struct Numbers {
    uint64_t sizes[2] = {64, 64}, stride = 128;
    uint32_t box[2] = {64, 64}, steps[2] = {1, 1};
    TensorMapRequest request = {1,     2, 4096, sizes, &stride, box,
                                steps, 0, 3,    0,     0};
  };
  auto encode = [](auto &&change) {
    Numbers numbers;
    change(numbers);
    TensorMap map;
    const char *why = encodeTensorMap(numbers.request, map);
    return std::string(why ? why : "");
  };
  EXPECT_EQ(encode([](Numbers &) {}), "");
  EXPECT_EQ(encode([](Numbers &n) { n.request.address = 4104; }),
            "the address must be a multiple of 16");
  EXPECT_EQ(encode([](Numbers &n) { n.stride = 136; }),
            "a stride must be a multiple of 16 below 2^40");
  EXPECT_EQ(encode([](Numbers &n) { n.box[1] = 257; }),
            "a box has 1 to 256 elements of a dimension");
  EXPECT_EQ(encode([](Numbers &n) { n.box[0] = 72; }),
            "a line of a box must not be longer than that of its swizzle");
  EXPECT_EQ(encode([](Numbers &n) { n.box[0] = 4; }),
            "a line of a box must be a multiple of 16 bytes");
  EXPECT_EQ(encode([](Numbers &n) { n.sizes[1] = 0; }),
            "a dimension has 1 to 2^32 elements");
  EXPECT_EQ(encode([](Numbers &n) { n.request.rank = 6; }),
            "1 to 5 dimensions");
  EXPECT_EQ(encode([](Numbers &n) { n.request.type = 13; }), "no such type");
  EXPECT_EQ(encode([](Numbers &n) { n.request.fill = 1; }),
            "NaN is for floats alone");
}

// ---- Mistakes ----

/// A product of 64 x 8 over four steps of depth 16, by a warpgroup and a warp
/// that copies for it through a ring of two stages. A and B lie in global
/// memory as a stage has them: lines of 32 bytes, swizzled.
const char ring[] = R"(
  mov.u32 %r1, tile;
  mov.u32 %r2, dynamic;
  shr.u32 %r3, %t, 5;
  and.b32 %r4, %t, 31;
  setp.eq.u32 %p1, %t, 0;
  @!%p1 bra made;
  mbarrier.init.shared::cta.b64 [%r1], 1;
  mbarrier.init.shared::cta.b64 [%r1+8], 1;
  mbarrier.init.shared::cta.b64 [%r1+16], 4;
  mbarrier.init.shared::cta.b64 [%r1+24], 4;
  fence.proxy.async;
made:
  bar.sync 0;
  setp.eq.u32 %p2, %r4, 0;
  mov.u32 %r5, 0;
  setp.eq.u32 %p3, %r3, 4;
  @%p3 bra producer;
  mov.u32 %r6, 0;
step:
  and.b32 %r7, %r5, 1;
  shr.u32 %r8, %r5, 1;
  and.b32 %r8, %r8, 1;
  shl.b32 %r9, %r7, 3;
  add.u32 %r9, %r9, %r1;
full:
  mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r9], %r8;
  @!%p4 bra full;
  mul.lo.u32 %r10, %r7, 2560;
  add.u32 %r10, %r10, %r2;
  shr.u32 %r11, %r10, 4;
  cvt.u64.u32 %rd1, %r11;
  or.b64 %rd1, %rd1, 0xC000001000010000;
  add.s64 %rd2, %rd1, 128;
  setp.ne.u32 %p5, %r5, 0;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p5, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  @%p2 mbarrier.arrive.shared::cta.b64 _, [%r9+16];
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p6, %r5, 4;
  @%p6 bra step;
  mul.wide.u32 %rd3, %t, 16;
  add.s64 %rd3, %base, %rd3;
  st.global.v4.f32 [%rd3+9216], {%f1, %f2, %f3, %f4};
  bra.uni end;
producer:
  setmaxnreg.dec.sync.aligned.u32 40;
  elect.sync %r20|%p7, -1;
  @!%p7 bra end;
  mov.u64 %rd4, %base;
copy:
  and.b32 %r7, %r5, 1;
  shr.u32 %r8, %r5, 1;
  not.b32 %r8, %r8;
  and.b32 %r8, %r8, 1;
  shl.b32 %r9, %r7, 3;
  add.u32 %r9, %r9, %r1;
empty:
  mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r9+16], %r8;
  @!%p4 bra empty;
  mul.lo.u32 %r10, %r7, 2560;
  add.u32 %r10, %r10, %r2;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 2304;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd4], 2048, [%r9];
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10+2048], [%rd4+2048], 256, [%r9];
  add.s64 %rd4, %rd4, 2304;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p6, %r5, 4;
  @%p6 bra copy;
end:
)";

/// Words through shared memory and back by a bulk copy, twice.
const char store[] = R"(
  mov.u32 %r1, tile;
  shl.b32 %r2, %t, 2;
  add.u32 %r3, %r1, %r2;
  setp.eq.u32 %p1, %t, 0;
  st.shared.u32 [%r3], %t;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%p1 cp.async.bulk.global.shared::cta.bulk_group [%base], [%r1], 256;
  @%p1 cp.async.bulk.commit_group;
  @%p1 cp.async.bulk.wait_group.read 0;
  bar.sync 0;
  add.u32 %r4, %t, 100;
  st.shared.u32 [%r3], %r4;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%p1 cp.async.bulk.global.shared::cta.bulk_group [%base+256], [%r1], 256;
  @%p1 cp.async.bulk.commit_group;
  @%p1 cp.async.bulk.wait_group 0;
)";

/// Two words of each thread by cp.async, whose ends a barrier counts; a
/// neighbour reads them.
const char counted[] = R"(
  mov.u32 %r1, tile;
  setp.eq.u32 %p1, %t, 0;
  @%p1 mbarrier.init.shared::cta.b64 [%r1+4096], 64;
  bar.sync 0;
  shl.b32 %r2, %t, 3;
  add.u32 %r3, %r1, %r2;
  mul.wide.u32 %rd1, %t, 8;
  add.s64 %rd1, %rd1, %base;
  cp.async.ca.shared.global [%r3], [%rd1+512], 8;
  cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1+4096];
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1+4096], 0;
  @!%p2 bra wait;
  xor.b32 %r2, %r2, 256;
  add.u32 %r3, %r1, %r2;
  ld.shared.u32 %r4, [%r3];
  st.global.u32 [%out], %r4;
)";

std::string tryRing(const std::string &statements) {
  Memory memory(4 * 576 + 512 + 64);
  auto *image = reinterpret_cast<uint8_t *>(memory.words.data());
  std::mt19937 random(5);
  Layout layout = {32, 16, 256, false};
  double a[64][64], b[8][64];
  auto draw = [&](uint32_t at, uint32_t line, uint32_t k) {
    double value = int(random() % 9) - 4;
    auto bits = uint16_t(F16::encode(value));
    memcpy(image + k / 16 * 2304 + at + findElement(layout, line, k % 16, 2),
           &bits, 2);
    return value;
  };
  for (uint32_t k = 0; k < 64; ++k) {
    for (uint32_t row = 0; row < 64; ++row)
      a[row][k] = draw(0, row, k);
    for (uint32_t column = 0; column < 8; ++column)
      b[column][k] = draw(2048, column, k);
  }
  Fault fault = run(kernel(statements), memory, {1, 160, 5120});
  if (fault.kind != FaultKind::none)
    return fault.text;
  for (uint32_t row = 0; row < 64; ++row)
    for (uint32_t column = 0; column < 8; ++column) {
      double expected = 0;
      for (uint32_t k = 0; k < 64; ++k)
        expected += a[row][k] * b[column][k];
      uint32_t thread = row / 16 * 32 + row % 8 * 4 + column / 2;
      float got;
      memcpy(&got,
             image + 9216 + thread * 16 + row / 8 % 2 * 8 + column % 2 * 4, 4);
      if (got != expected)
        return "wrong numbers";
    }
  return "";
}
std::string tryStore(const std::string &statements) {
  Memory memory(128);
  Fault fault = run(kernel(statements), memory, {1, 64, 0});
  if (fault.kind != FaultKind::none)
    return fault.text;
  for (uint32_t i = 0; i < 128; ++i)
    if (memory.words[i] != i % 64 + i / 64 * 100)
      return "wrong numbers";
  return "";
}
std::string tryCounted(const std::string &statements) {
  Memory memory(256);
  for (uint32_t i = 0; i < 256; ++i)
    memory.words[i] = i;
  Fault fault = run(kernel(statements), memory, {1, 64, 0});
  if (fault.kind != FaultKind::none)
    return fault.text;
  for (uint32_t i = 0; i < 64; ++i)
    if (memory.words[i] != 128 + 2 * (i ^ 32))
      return "wrong numbers";
  return "";
}

const char notWaited[] = "has not been waited for", isRead[] = "is being read",
           unordered[] = "without a barrier in between",
           stuck[] = "that not all reach",
           notFenced[] = "is not fenced for the asynchronous proxy",
           wrong[] = "wrong numbers";

const Mistake mistakes[] = {
    {"no wait for what is copied", tryRing, ring, "@!%p4 bra full;", "",
     notWaited},
    {"the other parity for what is copied", tryRing, ring,
     "and.b32 %r8, %r8, 1;", "xor.b32 %r8, %r8, 1;", notWaited},
    {"a parity that does not change", tryRing, ring, "shr.u32 %r8, %r5, 1;",
     "mov.u32 %r8, 0;", notWaited},
    {"the other parity for what is read", tryRing, ring, "not.b32 %r8, %r8;",
     "", stuck},
    {"no wait for what is read", tryRing, ring,
     "mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r9+16], %r8;",
     "setp.eq.u32 %p4, %r9, %r9;", "more arrivals"},
    {"a stage is free before it has been read", tryRing, ring,
     "wgmma.wait_group.sync.aligned 0;\n  @%p2 mbarrier.arrive.shared::cta.b64 "
     "_, [%r9+16];",
     "@%p2 mbarrier.arrive.shared::cta.b64 _, [%r9+16];\n"
     "wgmma.wait_group.sync.aligned 0;",
     unordered},
    {"a wait that is too short", tryRing, ring, "wait_group.sync.aligned 0",
     "wait_group.sync.aligned 1", isRead},
    {"sums that nobody has waited for", tryRing, ring,
     "wgmma.wait_group.sync.aligned 0;", "", isRead},
    {"products that are not committed", tryRing, ring,
     "wgmma.commit_group.sync.aligned;", "", isRead},
    {"no fence of registers", tryRing, ring, "wgmma.fence.sync.aligned;", "",
     "no wgmma.fence"},
    {"a stage is freed by one warp alone", tryRing, ring, "[%r1+16], 4;",
     "[%r1+16], 1;", stuck},
    {"a stage that needs one more", tryRing, ring, "[%r1+16], 4;",
     "[%r1+16], 5;", stuck},
    {"fewer bytes than are copied", tryRing, ring, "[%r9], 2304;",
     "[%r9], 2048;", notWaited},
    {"more bytes than are copied", tryRing, ring, "[%r9], 2304;",
     "[%r9], 2320;", stuck},
    {"an arrival without bytes", tryRing, ring,
     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 2304;",
     "mbarrier.arrive.shared::cta.b64 _, [%r9];", notWaited},
    {"barriers that are not fenced", tryRing, ring, "fence.proxy.async;", "",
     notFenced},
    {"barriers that not all know", tryRing, ring, "made:\n  bar.sync 0;",
     "made:", "mbarrier.init"},
    {"another swizzle", tryRing, ring, "0xC000001000010000",
     "0x8000001000010000", wrong},
    {"no swizzle", tryRing, ring, "0xC000001000010000", "0x0000001000010000",
     wrong},
    {"rows that are further apart", tryRing, ring, "0xC000001000010000",
     "0xC000002000010000", notWaited},
    {"lines that begin in the middle of a pattern", tryRing, ring,
     "add.u32 %r10, %r10, %r2;", "add.u32 %r10, %r10, 9344;",
     "whose swizzle of 32 bytes"},
    {"B where it is not", tryRing, ring, "%rd1, 128;", "%rd1, 144;", wrong},
    {"A transposed", tryRing, ring, "%p5, 1, 1, 0, 0;", "%p5, 1, 1, 1, 0;",
     wrong},
    {
        "the stage after this one",
        tryRing,
        ring,
        "mul.lo.u32 %r10, %r7, 2560;",
        "mad.lo.u32 %r10, %r7, -2560, 2560;",
        "",
    },
    {"one stage for all", tryRing, ring, "mul.lo.u32 %r10, %r7, 2560;",
     "mov.u32 %r10, 0;", "", 1},
    {"a copy to a place that is no multiple", tryRing, ring,
     "[%r10+2048], [%rd4+2048]", "[%r10+2056], [%rd4+2048]",
     "no multiple of 16"},
    {"a copy from there", tryRing, ring, "[%rd4+2048], 256", "[%rd4+2056], 256",
     "multiples of 16"},
    {"sums of another warp's lanes", tryRing, ring, "setp.ne.u32 %p5, %r5, 0;",
     "setp.ne.u32 %p5, %r3, 0;", "multiply different"},
    {"registers that there are not", tryRing, ring, "aligned.u32 40",
     "aligned.u32 42", "setmaxnreg of 42"},
    {"no fence before a copy", tryStore, store,
     "fence.proxy.async.shared::cta;", "", notFenced},
    {"no fence before the second copy", tryStore, store,
     "fence.proxy.async.shared::cta;", "", notFenced, 1},
    {"no barrier before a copy", tryStore, store, "bar.sync 0;", "",
     "without a barrier"},
    {"what is copied is overwritten", tryStore, store,
     "@%p1 cp.async.bulk.wait_group.read 0;", "", isRead},
    {"others overwrite what is copied", tryStore, store, "bar.sync 0;", "",
     "without a barrier", 1},
    {"it ends before a copy", tryStore, store,
     "@%p1 cp.async.bulk.wait_group 0;", "", "it ends before"},
    {"a wait for another group", tryStore, store, "cp.async.bulk.wait_group 0",
     "cp.async.bulk.wait_group 1", "it ends before"},
    {"no wait for the barrier", tryCounted, counted, "@!%p2 bra wait;", "",
     notWaited},
    {"another parity", tryCounted, counted, "[%r1+4096], 0;", "[%r1+4096], 1;",
     unordered},
    {"an arrival before the copy", tryCounted, counted,
     "cp.async.ca.shared.global [%r3], [%rd1+512], 8;\n  "
     "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1+4096];",
     "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1+4096];\n"
     "cp.async.ca.shared.global [%r3], [%rd1+512], 8;",
     notWaited},
    {"an arrival that does not wait for it", tryCounted, counted,
     "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1+4096];",
     "mbarrier.arrive.shared::cta.b64 _, [%r1+4096];", notWaited},
    {"one that is counted in addition", tryCounted, counted, ".noinc", "",
     stuck},
    {"the barrier is overwritten", tryCounted, counted, "[%r3], [%rd1+512], 8",
     "[%r3+3800], [%rd1+512], 8", "a barrier of mbarrier.init is there"},
};

TEST(AsyncMistakes, NoneInTheOriginals) {
  EXPECT_EQ(tryRing(ring), "");
  EXPECT_EQ(tryStore(store), "");
  EXPECT_EQ(tryCounted(counted), "");
}

TEST(AsyncMistakes, AreFound) {
  for (const Mistake &mistake : mistakes) {
    std::string said = mistake.attempt(change(mistake));
    EXPECT_NE(said, "") << mistake.what;
    EXPECT_NE(said.find(mistake.found), std::string::npos)
        << mistake.what << ": " << said;
  }
}

TEST(AsyncMistakes, SayWhere) {
  std::string text = change(mistakes[1]);
  std::string said = tryRing(text);
  EXPECT_NE(said.find("kernel 'k', line 59, block (0, 0, 0), thread (0, 0, 0): "
                      "wgmma reads shared memory: an asynchronous copy to it "
                      "has not been waited for"),
            std::string::npos)
      << said;
}

} // namespace
} // namespace alula::ptx
