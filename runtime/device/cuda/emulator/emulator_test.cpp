// What the emulator computes, and what of a kernel's mistakes it finds.

#include "runtime/device/cuda/emulator/small_floats.h"
#include "runtime/device/cuda/emulator/test_kernel.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace alula::ptx {
namespace {

/// Words of 32 threads, each what `result` left in %r1.
std::vector<uint32_t> compute(const std::string &statements) {
  Memory memory(32);
  Fault fault =
      run(kernel(statements + "\nst.global.u32 [%out], %r1;"), memory);
  EXPECT_EQ(fault.text, "") << statements;
  return memory.words;
}
uint32_t computeOne(const std::string &statements) {
  return compute(statements)[0];
}
float computeFloat(const std::string &statements) {
  return std::bit_cast<float>(computeOne(statements + "\nmov.b32 %r1, %f1;"));
}

TEST(Emulator, Integers) {
  EXPECT_EQ(computeOne("add.s32 %r1, 2147483647, 1;"), 0x80000000u);
  EXPECT_EQ(computeOne("mul.hi.u32 %r1, 4294967295, 4294967295;"), 0xFFFFFFFEu);
  EXPECT_EQ(computeOne("mul.hi.s32 %r1, -1, 5;"), 0xFFFFFFFFu);
  EXPECT_EQ(computeOne("mad.lo.s32 %r1, 7, 6, -2;"), 40u);
  EXPECT_EQ(computeOne("div.s32 %r1, -7, 2;"), uint32_t(-3));
  EXPECT_EQ(computeOne("rem.s32 %r1, -7, 2;"), uint32_t(-1));
  EXPECT_EQ(computeOne("shl.b32 %r1, 1, 32;"), 0u);
  EXPECT_EQ(computeOne("shr.s32 %r1, -8, 40;"), UINT32_MAX);
  EXPECT_EQ(computeOne("shf.l.wrap.b32 %r1, 0x80000000, 1, 1;"), 3u);
  EXPECT_EQ(computeOne("bfe.u32 %r1, 0xABCD, 4, 8;"), 0xBCu);
  EXPECT_EQ(computeOne("bfe.s32 %r1, 0xF0, 4, 4;"), UINT32_MAX);
  EXPECT_EQ(computeOne("bfi.b32 %r1, 5, 0xFFFFFFFF, 4, 4;"), 0xFFFFFF5Fu);
  EXPECT_EQ(computeOne("popc.b32 %r1, 0xF0F0;"), 8u);
  EXPECT_EQ(computeOne("clz.b32 %r1, 1;"), 31u);
  EXPECT_EQ(computeOne("brev.b32 %r1, 1;"), 0x80000000u);
  EXPECT_EQ(computeOne("prmt.b32 %r1, 0x33221100, 0x77665544, 0x5410;"),
            0x55441100u);
  EXPECT_EQ(computeOne("lop3.b32 %r1, 12, 10, 9, 0x96;"), 12u ^ 10u ^ 9u);
  EXPECT_EQ(computeOne("add.cc.u32 %r2, 4294967295, 1;\naddc.u32 %r1, 0, 0;"),
            1u);
  EXPECT_EQ(computeOne("sub.cc.u32 %r2, 0, 1;\nsubc.u32 %r1, 5, 0;"), 4u);
  EXPECT_EQ(computeOne("mul.wide.s32 %rd1, -2, 3;\ncvt.u32.u64 %r1, %rd1;"),
            uint32_t(-6));
  EXPECT_EQ(computeOne("dp4a.s32.s32 %r1, 0xFF020304, 0x01010101, 1;"), 9u);
  EXPECT_EQ(computeOne("min.s32 %r1, -1, 1;"), UINT32_MAX);
  EXPECT_EQ(computeOne("min.u32 %r1, -1, 1;"), 1u);
}

TEST(Emulator, Predicates) {
  EXPECT_EQ(computeOne("mov.pred %p1, 1;\nxor.pred %p2, %p1, 0;\n"
                       "selp.u32 %r1, 5, 6, %p2;"),
            5u);
  EXPECT_EQ(computeOne("mov.pred %p1, 0;\nmov.u32 %r1, 7;\n"
                       "@%p1 mov.u32 %r1, 8;"),
            7u);
  EXPECT_EQ(computeOne("setp.eq.and.u32 %p1, 1, 1, 0;\n"
                       "selp.u32 %r1, 5, 6, %p1;"),
            6u);
}

TEST(Emulator, Floats) {
  EXPECT_EQ(computeFloat("fma.rn.f32 %f1, 0f40000000, 0f40400000, 0fBF800000;"),
            5.0f);
  EXPECT_EQ(computeFloat("add.rz.f32 %f1, 0f3F800000, 0f33000001;"), 1.0f);
  EXPECT_EQ(computeFloat("add.rp.f32 %f1, 0f3F800000, 0f33000000;"),
            1.00000012f);
  EXPECT_EQ(computeFloat("mul.ftz.f32 %f1, 0f00800000, 0f3F000000;"), 0.0f);
  EXPECT_EQ(computeFloat("add.sat.f32 %f1, 0f40000000, 0f3F800000;"), 1.0f);
  EXPECT_EQ(computeFloat("min.f32 %f1, 0f7FC00000, 0f3F800000;"), 1.0f);
  EXPECT_TRUE(
      std::isnan(computeFloat("min.NaN.f32 %f1, 0f7FC00000, 0f3F800000;")));
  EXPECT_EQ(computeFloat("ex2.approx.ftz.f32 %f1, 0f40400000;"), 8.0f);
  EXPECT_EQ(computeFloat("copysign.f32 %f1, 0fBF800000, 0f40000000;"), -2.0f);
  EXPECT_EQ(
      computeFloat("mov.f64 %d1, 0d3FF8000000000000;\n"
                   "fma.rn.f64 %d2, %d1, %d1, %d1;\ncvt.rn.f32.f64 %f1, %d2;"),
      3.75f);
  // Halves: alone, in pairs, and of the other kind.
  EXPECT_EQ(computeOne("mov.b16 %h1, 0x3C01;\nadd.rn.f16 %h2, %h1, %h1;\n"
                       "cvt.u32.u16 %r1, %h2;"),
            0x4001u);
  EXPECT_EQ(computeOne("fma.rn.f16x2 %r1, 0x40003C00, 0x42004000, 0x3C003C00;"),
            0x47004200u);
  EXPECT_EQ(
      computeOne("fma.rn.bf16x2 %r1, 0x40003F80, 0x40404000, 0x3F803F80;"),
      0x40E04040u);
}

TEST(Emulator, Conversions) {
  EXPECT_EQ(computeOne("cvt.rzi.s32.f32 %r1, 0fC0200000;"), uint32_t(-2));
  EXPECT_EQ(computeOne("cvt.rni.s32.f32 %r1, 0f40200000;"), 2u);
  EXPECT_EQ(computeOne("cvt.rzi.s32.f32 %r1, 0f7F800000;"), 0x7FFFFFFFu);
  EXPECT_EQ(computeOne("cvt.rzi.u32.f32 %r1, 0fBF800000;"), 0u);
  EXPECT_EQ(computeOne("cvt.rzi.u32.f32 %r1, 0f7FC00000;"), 0u);
  EXPECT_EQ(computeFloat("cvt.rn.f32.s64 %f1, -16777217;"), -16777216.0f);
  EXPECT_EQ(computeOne("cvt.sat.s8.s32 %r1, 300;"), 127u);
  EXPECT_EQ(computeOne("cvt.s32.s8 %r1, 0x80;"), 0xFFFFFF80u);
  EXPECT_EQ(
      computeOne("cvt.rn.f16.f32 %h1, 0f477FEFFF;\ncvt.u32.u16 %r1, %h1;"),
      0x7BFFu);
  EXPECT_EQ(
      computeOne("cvt.rn.f16.f32 %h1, 0f477FF000;\ncvt.u32.u16 %r1, %h1;"),
      0x7C00u);
  EXPECT_EQ(
      computeOne("cvt.rn.bf16.f32 %h1, 0f3F808000;\ncvt.u32.u16 %r1, %h1;"),
      0x3F80u);
  EXPECT_EQ(computeOne("cvt.rn.bf16x2.f32 %r1, 0f40000000, 0f3F800000;"),
            0x40003F80u);
  EXPECT_EQ(computeOne("cvt.rna.tf32.f32 %r1, 0f3F801000;"), 0x3F802000u);
  EXPECT_EQ(
      computeOne("cvt.rn.satfinite.e4m3x2.f32 %h1, 0f43E00000, 0f44800000;\n"
                 "cvt.u32.u16 %r1, %h1;"),
      0x7E7Eu);
  EXPECT_EQ(
      computeOne("cvt.rn.satfinite.e5m2x2.f32 %h1, 0f3F800000, 0fBF800000;\n"
                 "cvt.u32.u16 %r1, %h1;"),
      0x3CBCu);
}

/// Every value of each small format goes to double and back unchanged.
template <class Format> void checkRoundTrip(uint32_t count) {
  for (uint32_t bits = 0; bits < count; ++bits) {
    double value = Format::decode(bits);
    if (!std::isnan(value))
      EXPECT_EQ(Format::encode(value), bits);
  }
}
TEST(SmallFloats, RoundTrip) {
  checkRoundTrip<F16>(1 << 16);
  checkRoundTrip<BF16>(1 << 16);
  checkRoundTrip<E4M3>(1 << 8);
  checkRoundTrip<E5M2>(1 << 8);
  // The compiler's own halves.
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    float value = std::bit_cast<float>(uint32_t(random()));
    if (std::isnan(value))
      continue;
    EXPECT_EQ(F16::encode(double(value)),
              std::bit_cast<uint16_t>(_Float16(value)));
  }
}

TEST(Emulator, LanesPartAndMeet) {
  // Each lane loops as often as its number says; a barrier of the warp after
  // it.
  auto words =
      compute("mov.u32 %r1, 0;\nmov.u32 %r2, %t;\n"
              "again:\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra done;\n"
              "add.u32 %r1, %r1, %r2;\nsub.u32 %r2, %r2, 1;\nbra again;\n"
              "done:\nbar.warp.sync 0xFFFFFFFF;\n"
              "activemask.b32 %r3;\nadd.u32 %r1, %r1, %r3;");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(words[lane], lane * (lane + 1) / 2 - 1);
  // A table of branches.
  words = compute("rem.u32 %r2, %t, 3;\ntable: .branchtargets zero, one, two;\n"
                  "brx.idx %r2, table;\n"
                  "zero: mov.u32 %r1, 10;\nbra.uni end;\n"
                  "one: mov.u32 %r1, 11;\nbra.uni end;\n"
                  "two: mov.u32 %r1, 12;\nend:");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(words[lane], 10 + lane % 3);
}

/// Code for some lanes may stand behind the barrier where all meet.
TEST(Emulator, LanesWaitForThoseThatComeLater) {
  auto words = compute("mov.u32 %r1, 1;\nsetp.lt.u32 %p1, %t, 8;\n"
                       "@%p1 bra aside;\n"
                       "meet: bar.sync 0;\n"
                       "shfl.sync.idx.b32 %r1, %r1, 3, 31, -1;\nbra end;\n"
                       "aside: mov.u32 %r1, 7;\nbra meet;\nend:");
  EXPECT_EQ(words, std::vector<uint32_t>(32, 7));
}

TEST(Emulator, LanesTellEachOther) {
  auto words = compute("shfl.sync.bfly.b32 %r1, %t, 5, 31, -1;");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(words[lane], lane ^ 5);
  words = compute(
      "shfl.sync.up.b32 %r1|%p1, %t, 3, 0, -1;\n@!%p1 mov.u32 %r1, 99;");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(words[lane], lane < 3 ? 99 : lane - 3);
  words = compute("shfl.sync.down.b32 %r1, %t, 1, 0x181F, -1;");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(words[lane], lane % 8 == 7 ? lane : lane + 1);
  words = compute("shfl.sync.idx.b32 %r1, %t, 2, 0x181F, -1;");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(words[lane], lane / 8 * 8 + 2);
  words = compute("and.b32 %r2, %t, 1;\nsetp.eq.u32 %p1, %r2, 0;\n"
                  "vote.sync.ballot.b32 %r1, %p1, -1;");
  EXPECT_EQ(words[7], 0x55555555u);
  EXPECT_EQ(computeOne("redux.sync.add.u32 %r1, %t, -1;"), 496u);
  EXPECT_EQ(computeOne("and.b32 %r2, %t, 3;\nmatch.any.sync.b32 %r1, %r2, -1;"),
            0x11111111u);
}

TEST(Emulator, FunctionsAndLocalMemory) {
  std::string function =
      ".func (.param .b32 result) twice(.param .b32 x)\n{\n"
      ".reg .b32 %r<4>;\n.local .align 4 .b8 depot[8];\n"
      "ld.param.u32 %r1, [x];\nst.local.u32 [depot+4], %r1;\n"
      "ld.local.u32 %r2, [depot+4];\nadd.u32 %r3, %r1, %r2;\n"
      "st.param.b32 [result], %r3;\nret;\n}\n";
  Memory memory(32);
  Fault fault =
      run(function + kernel("setp.lt.u32 %p1, %t, 10;\n@!%p1 bra skip;\n"
                            "{\n.param .b32 param0;\n.param .b32 retval0;\n"
                            "st.param.b32 [param0], %t;\ncall.uni (retval0), "
                            "twice, (param0);\n"
                            "ld.param.b32 %r1, [retval0];\n}\nst.global.u32 "
                            "[%out], %r1;\nskip:"),
          memory);
  ASSERT_EQ(fault.text, "");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(memory.words[lane], lane < 10 ? 2 * lane : 0);
}

TEST(Emulator, AtomicsOfManyBlocks) {
  Memory memory(64);
  Fault fault = run(kernel("atom.global.add.u32 %r1, [%base], 1;\n"
                           "red.global.add.f32 [%base+4], 0f3F000000;\n"
                           "atom.global.max.s32 %r2, [%base+8], %t;\n"
                           "atom.global.cas.b32 %r3, [%base+12], 0, 7;"),
                    memory, {16, 64, 0});
  ASSERT_EQ(fault.text, "");
  EXPECT_EQ(memory.words[0], 1024u);
  EXPECT_EQ(std::bit_cast<float>(memory.words[1]), 512.0f);
  EXPECT_EQ(memory.words[2], 63u);
  EXPECT_EQ(memory.words[3], 7u);
}

/// A sum of 256 threads: shuffles, then shared memory.
const char sum[] = R"(
  add.u32 %r1, %t, 1;
  shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;
  add.u32 %r1, %r1, %r2;
  shfl.sync.bfly.b32 %r2, %r1, 8, 31, -1;
  add.u32 %r1, %r1, %r2;
  shfl.sync.bfly.b32 %r2, %r1, 4, 31, -1;
  add.u32 %r1, %r1, %r2;
  shfl.sync.bfly.b32 %r2, %r1, 2, 31, -1;
  add.u32 %r1, %r1, %r2;
  shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
  add.u32 %r1, %r1, %r2;
  and.b32 %r3, %t, 31;
  shr.u32 %r4, %t, 5;
  shl.b32 %r5, %r4, 2;
  mov.u32 %r6, tile;
  add.u32 %r7, %r6, %r5;
  setp.eq.u32 %p1, %r3, 0;
  @%p1 st.shared.u32 [%r7], %r1;
  bar.sync 0;
  ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [tile];
  ld.shared.v4.u32 {%r14, %r15, %r16, %r17}, [tile+16];
  add.u32 %r1, %r10, %r11;
  add.u32 %r1, %r1, %r12;
  add.u32 %r1, %r1, %r13;
  add.u32 %r1, %r1, %r14;
  add.u32 %r1, %r1, %r15;
  add.u32 %r1, %r1, %r16;
  add.u32 %r1, %r1, %r17;
  bar.sync 0;
  @%p1 st.shared.u32 [%r7], %r3;
  st.global.u32 [%out], %r1;
)";

/// A product of tiles through a ring of asynchronous copies, four steps of
/// depth 16, of two warps that each have the upper or lower 16 rows of 32 x 8.
/// The rows of A in shared memory have 32 bytes, their halves swapped by a
/// swizzle.
const char product[] = R"(
  and.b32 %r1, %t, 31;
  shr.u32 %r2, %t, 5;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  mov.f32 %f4, 0f00000000;
  // Thread t copies 16 bytes of A: row t / 2, half t % 2; 16 threads also B.
  shr.u32 %r3, %t, 1;
  and.b32 %r4, %t, 1;
  shr.u32 %r5, %r3, 2;
  xor.b32 %r5, %r5, %r4;
  and.b32 %r5, %r5, 1;
  shl.b32 %r6, %r3, 5;
  shl.b32 %r7, %r5, 4;
  add.u32 %r6, %r6, %r7;
  // A is 32 x 64 halves in rows of 128 bytes, B 64 x 8 in rows of 16.
  shl.b32 %r8, %r3, 7;
  shl.b32 %r9, %r4, 4;
  add.u32 %r8, %r8, %r9;
  cvt.u64.u32 %rd1, %r8;
  add.s64 %rd1, %base, %rd1;
  shl.b32 %r10, %t, 4;
  cvt.u64.u32 %rd2, %r10;
  add.s64 %rd2, %base, %rd2;
  setp.lt.u32 %p1, %t, 16;
  mov.u32 %r11, tile;
  add.u32 %r12, %r11, %r6;
  add.u32 %r13, %r11, %r10;
  cp.async.cg.shared.global [%r12], [%rd1], 16;
  @%p1 cp.async.cg.shared.global [%r13+1024], [%rd2+4096], 16;
  cp.async.commit_group;
  cp.async.cg.shared.global [%r12+2048], [%rd1+32], 16;
  @%p1 cp.async.cg.shared.global [%r13+3072], [%rd2+4352], 16;
  cp.async.commit_group;
  mov.u32 %r14, 0;
  // Lane l of ldmatrix: row l % 16 of the warp, half l / 16.
  and.b32 %r20, %r1, 15;
  shl.b32 %r21, %r2, 4;
  add.u32 %r20, %r20, %r21;
  shr.u32 %r22, %r1, 4;
  shr.u32 %r23, %r20, 2;
  xor.b32 %r23, %r23, %r22;
  and.b32 %r23, %r23, 1;
  shl.b32 %r24, %r20, 5;
  shl.b32 %r25, %r23, 4;
  add.u32 %r24, %r24, %r25;
  and.b32 %r26, %r1, 15;
  shl.b32 %r26, %r26, 4;
step:
  cp.async.wait_group 1;
  bar.sync 0;
  and.b32 %r15, %r14, 1;
  shl.b32 %r16, %r15, 11;
  add.u32 %r17, %r11, %r16;
  add.u32 %r18, %r17, %r24;
  add.u32 %r19, %r17, %r26;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r30, %r31, %r32, %r33}, [%r18];
  ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r34, %r35}, [%r19+1024];
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r30, %r31, %r32, %r33}, {%r34, %r35}, {%f1, %f2, %f3, %f4};
  bar.sync 0;
  setp.lt.u32 %p2, %r14, 2;
  @!%p2 bra behind;
  add.u32 %r40, %r12, %r16;
  add.u32 %r41, %r13, %r16;
  add.s64 %rd1, %rd1, 32;
  add.s64 %rd2, %rd2, 256;
  cp.async.cg.shared.global [%r40], [%rd1+32], 16;
  @%p1 cp.async.cg.shared.global [%r41+1024], [%rd2+4352], 16;
behind:
  cp.async.commit_group;
  add.u32 %r14, %r14, 1;
  setp.lt.u32 %p3, %r14, 4;
  @%p3 bra step;
  // C is 32 x 8 floats behind A and B.
  shr.u32 %r42, %r1, 2;
  and.b32 %r43, %r1, 3;
  add.u32 %r44, %r42, %r21;
  shl.b32 %r45, %r44, 5;
  shl.b32 %r46, %r43, 3;
  add.u32 %r45, %r45, %r46;
  cvt.u64.u32 %rd3, %r45;
  add.s64 %rd3, %base, %rd3;
  st.global.v2.f32 [%rd3+5120], {%f1, %f2};
  st.global.v2.f32 [%rd3+5376], {%f3, %f4};
)";

/// A transpose of 32 x 32 floats by 256 threads, through rows of 33.
const char transpose[] = R"(
  and.b32 %r1, %t, 31;
  shr.u32 %r2, %t, 5;
  mov.u32 %r11, tile;
  mov.u32 %r3, %r2;
fill:
  shl.b32 %r4, %r3, 5;
  add.u32 %r4, %r4, %r1;
  mul.wide.u32 %rd1, %r4, 4;
  add.s64 %rd1, %base, %rd1;
  ld.global.f32 %f1, [%rd1];
  mad.lo.u32 %r5, %r3, 33, %r1;
  shl.b32 %r5, %r5, 2;
  add.u32 %r5, %r5, %r11;
  st.shared.f32 [%r5], %f1;
  add.u32 %r3, %r3, 8;
  setp.lt.u32 %p1, %r3, 32;
  @%p1 bra fill;
  bar.sync 0;
  mov.u32 %r3, %r2;
drain:
  mad.lo.u32 %r5, %r1, 33, %r3;
  shl.b32 %r5, %r5, 2;
  add.u32 %r5, %r5, %r11;
  ld.shared.f32 %f1, [%r5];
  shl.b32 %r4, %r3, 5;
  add.u32 %r4, %r4, %r1;
  mul.wide.u32 %rd1, %r4, 4;
  add.s64 %rd1, %base, %rd1;
  st.global.f32 [%rd1+4096], %f1;
  add.u32 %r3, %r3, 8;
  setp.lt.u32 %p1, %r3, 32;
  @%p1 bra drain;
)";

/// "" if a kernel of these statements does what it should, or what it does.
std::string trySum(const std::string &statements) {
  Memory memory(256);
  Fault fault = run(kernel(statements), memory, {1, 256, 0});
  if (fault.kind != FaultKind::none)
    return fault.text;
  for (uint32_t word : memory.words)
    if (word != 256 * 257 / 2)
      return "wrong numbers";
  return "";
}
std::string tryProduct(const std::string &statements) {
  Memory memory(1024 + 256 + 256);
  auto *halves = reinterpret_cast<uint16_t *>(memory.words.data());
  std::mt19937 random(3);
  std::vector<double> numbers(2048 + 512);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = int(random() % 17) - 8;
    halves[i] = uint16_t(F16::encode(numbers[i]));
  }
  Fault fault = run(kernel(statements), memory, {1, 64, 0});
  if (fault.kind != FaultKind::none)
    return fault.text;
  for (uint32_t row = 0; row < 32; ++row)
    for (uint32_t column = 0; column < 8; ++column) {
      double expected = 0;
      for (uint32_t k = 0; k < 64; ++k)
        expected += numbers[row * 64 + k] * numbers[2048 + k * 8 + column];
      if (std::bit_cast<float>(memory.words[1280 + row * 8 + column]) !=
          float(expected))
        return "wrong numbers";
    }
  return "";
}
std::string tryTranspose(const std::string &statements) {
  Memory memory(2048);
  for (uint32_t i = 0; i < 1024; ++i)
    memory.words[i] = i;
  Fault fault = run(kernel(statements), memory, {1, 256, 0});
  if (fault.kind != FaultKind::none)
    return fault.text;
  for (uint32_t i = 0; i < 1024; ++i)
    if (memory.words[1024 + i] != i % 32 * 32 + i / 32)
      return "wrong numbers";
  return "";
}

/// How elements of a type lie in registers of 32 bits, and what they are.
struct FragmentType {
  const char *name;
  uint32_t bits, mask;
  double (*decode)(uint32_t bits);
};

/// What mma.sync makes of random registers, to what the tables of the PTX ISA
/// say of each: element i of A is register i / n, place i % n of n in it.
void checkFragments(const FragmentType &a, const FragmentType &b, uint32_t k,
                    bool isInteger) {
  SCOPED_TRACE(std::string(a.name) + " " + b.name);
  Memory memory(32 * 14);
  std::mt19937 random(7);
  auto word = [&](uint32_t lane, uint32_t number) -> uint32_t & {
    return memory.words[lane * 10 + number];
  };
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < 10; ++i) {
      word(lane, i) = uint32_t(random()) & (i < 4 ? a.mask : b.mask);
      if (i >= 6)
        word(lane, i) =
            isInteger ? random() % 1000 : std::bit_cast<uint32_t>(float(i));
    }
  std::vector<double> lhs(16 * 64), rhs(64 * 8), sums(16 * 8);
  uint32_t each = 32 / a.bits;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t group = lane / 4, thread = lane % 4;
    for (uint32_t i = 0; i < 4 * each; ++i) {
      uint32_t row = i / each % 2 ? group + 8 : group;
      uint32_t column = thread * each + i % each + (i < 2 * each ? 0 : k / 2);
      lhs[row * 64 + column] =
          a.decode(word(lane, i / each) >> (i % each * a.bits));
    }
    for (uint32_t i = 0; i < 2 * each; ++i) {
      uint32_t row = thread * each + i % each + (i < each ? 0 : k / 2);
      rhs[row * 8 + group] =
          b.decode(word(lane, 4 + i / each) >> (i % each * b.bits));
    }
    for (uint32_t i = 0; i < 4; ++i)
      sums[(i < 2 ? group : group + 8) * 8 + thread * 2 + i % 2] =
          isInteger ? double(word(lane, 6 + i))
                    : double(std::bit_cast<float>(word(lane, 6 + i)));
  }
  std::string sum = isInteger ? "s32" : "f32", reg = isInteger ? "%r" : "%f";
  std::string text = "mad.wide.u32 %rd1, %t, 40, %base;\n"
                     "mad.wide.u32 %rd2, %t, 16, %base;\n";
  for (int i = 0; i < 6; ++i)
    text += "ld.global.u32 %r" + std::to_string(i) + ", [%rd1+" +
            std::to_string(4 * i) + "];\n";
  for (int i = 6; i < 10; ++i)
    text += "ld.global." + std::string(isInteger ? "u32 " : "f32 ") + reg +
            std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) + "];\n";
  std::string four = "{" + reg + "6, " + reg + "7, " + reg + "8, " + reg + "9}";
  text += "mma.sync.aligned.m16n8k" + std::to_string(k) + ".row.col." + sum +
          "." + a.name + "." + b.name + "." + sum + " " + four +
          ", {%r0, %r1, %r2, %r3}, {%r4, %r5}, " + four + ";\n";
  for (int i = 0; i < 4; ++i)
    text += "st.global." + std::string(isInteger ? "u32" : "f32") + " [%rd2+" +
            std::to_string(1280 + 4 * i) + "], " + reg + std::to_string(6 + i) +
            ";\n";
  ASSERT_EQ(run(kernel(text), memory).text, "");
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t row = lane / 4 + (i < 2 ? 0 : 8), column = lane % 4 * 2 + i % 2;
      double want = sums[row * 8 + column];
      for (uint32_t at = 0; at < k; ++at)
        want += lhs[row * 64 + at] * rhs[at * 8 + column];
      uint32_t got = memory.words[320 + lane * 4 + i];
      if (isInteger)
        EXPECT_EQ(int32_t(got), int32_t(want));
      else
        EXPECT_NEAR(std::bit_cast<float>(got), want,
                    1e-6 * std::max(1.0, std::fabs(want)));
    }
}

TEST(Emulator, ProductsOfAllTypes) {
  FragmentType s8{"s8", 8, ~0u,
                  [](uint32_t bits) { return double(int8_t(bits)); }};
  FragmentType u8{"u8", 8, ~0u,
                  [](uint32_t bits) { return double(uint8_t(bits)); }};
  for (const FragmentType &a : {s8, u8})
    for (const FragmentType &b : {s8, u8})
      checkFragments(a, b, 32, /*isInteger=*/true);
  // No NaN among them.
  FragmentType e4m3{"e4m3", 8, 0xBFBFBFBF,
                    [](uint32_t bits) { return E4M3::decode(bits & 0xFF); }};
  FragmentType e5m2{"e5m2", 8, 0xBFBFBFBF,
                    [](uint32_t bits) { return E5M2::decode(bits & 0xFF); }};
  for (const FragmentType &a : {e4m3, e5m2})
    for (const FragmentType &b : {e4m3, e5m2})
      checkFragments(a, b, 32, /*isInteger=*/false);
  // The last 13 bits do not count.
  FragmentType tf32{"tf32", 32, 0xBFFFFFFF, [](uint32_t bits) {
                      return double(std::bit_cast<float>(bits & 0xFFFFE000));
                    }};
  checkFragments(tf32, tf32, 8, /*isInteger=*/false);
}

TEST(Mistakes, NoneInTheOriginals) {
  EXPECT_EQ(trySum(sum), "");
  EXPECT_EQ(tryProduct(product), "");
  EXPECT_EQ(tryTranspose(transpose), "");
}

const char readRace[] = "read without a barrier",
           writeRace[] = "is written without a barrier",
           copyRace[] = "has not been waited for", wrong[] = "wrong numbers";

const Mistake mistakes[] = {
    {"sum: no barrier before reading", trySum, sum, "bar.sync 0;", "",
     readRace},
    {"sum: no barrier before writing again", trySum, sum, "bar.sync 0;", "",
     writeRace, 1},
    {"sum: all lanes write", trySum, sum, "@%p1 st.shared.u32 [%r7], %r1;",
     "add.u32 %r1, %r1, %r3;\nst.shared.u32 [%r7], %r1;",
     "writes something else at the same time"},
    {"sum: only some wait", trySum, sum, "bar.sync 0;",
     "setp.lt.u32 %p2, %t, 16;\n@%p2 bar.sync 0;", readRace},
    {"sum: a shuffle of some lanes", trySum, sum,
     "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;",
     "setp.lt.u32 %p2, %t, 8;\n@%p2 shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;",
     "a barrier of lanes"},
    {"sum: a step of the shuffle is missing", trySum, sum,
     "shfl.sync.bfly.b32 %r2, %r1, 4, 31, -1;", "", wrong},
    {"sum: a shuffle of the wrong distance", trySum, sum, "%r1, 8, 31",
     "%r1, 4, 31", wrong},
    {"sum: a warp never arrives", trySum, sum, "st.global.u32 [%out], %r1;",
     "setp.lt.u32 %p2, %t, 32;\n@%p2 bra end;\nbar.sync 1, 256;\nend:",
     "a barrier that not all reach"},
    {"sum: misaligned vector", trySum, sum, "[tile+16]", "[tile+20]",
     "which is no multiple of them"},
    {"sum: beyond shared memory", trySum, sum, "[tile+16]", "[tile+8192]",
     "of shared memory, of which there are"},
    {"product: a wait that is too short", tryProduct, product, "wait_group 1",
     "wait_group 2", copyRace},
    {"product: no wait at all", tryProduct, product, "cp.async.wait_group 1;",
     "", copyRace},
    {"product: no barrier after the wait", tryProduct, product, "bar.sync 0;",
     "", readRace},
    {"product: no barrier before the next copy", tryProduct, product,
     "bar.sync 0;", "", writeRace, 1},
    {"product: another swizzle where it is read", tryProduct, product,
     "shr.u32 %r23, %r20, 2;", "shr.u32 %r23, %r20, 1;", wrong},
    {"product: no swizzle where it is written", tryProduct, product,
     "xor.b32 %r5, %r5, %r4;", "mov.u32 %r5, %r4;", wrong},
    {"product: B not transposed", tryProduct, product, ".x2.trans.", ".x2.",
     wrong},
    {"product: a group that is not committed", tryProduct, product,
     "cp.async.commit_group;", "", copyRace},
    {"product: the same slot of the ring twice", tryProduct, product,
     "[%r12+2048]", "[%r12]", copyRace},
    {"product: fragments in another order", tryProduct, product,
     "{%r30, %r31, %r32, %r33}, [%r18]", "{%r30, %r32, %r31, %r33}, [%r18]",
     wrong},
    {"product: a matrix by half a warp", tryProduct, product,
     "ldmatrix.sync.aligned.m8n8.x2",
     "setp.lt.u32 %p4, %r1, 16;\n@%p4 ldmatrix.sync.aligned.m8n8.x2",
     "it needs all 32"},
    {"product: copies of misaligned rows", tryProduct, product,
     "shl.b32 %r7, %r5, 4;", "shl.b32 %r7, %r5, 3;", "copies 16 bytes to"},
    {"product: beyond the operand", tryProduct, product,
     "[%rd2+4352], 16;\n  cp", "[%rd2+6144], 16;\n  cp", "where no memory is"},
    {"transpose: no barrier", tryTranspose, transpose, "bar.sync 0;", "",
     readRace},
    {"transpose: a barrier of the warp alone", tryTranspose, transpose,
     "bar.sync 0;", "bar.warp.sync -1;", "without a barrier"},
    {"transpose: rows without padding", tryTranspose, transpose,
     "mad.lo.u32 %r5, %r3, 33, %r1;", "mad.lo.u32 %r5, %r3, 32, %r1;", wrong},
    {"transpose: one row too many", tryTranspose, transpose,
     "setp.lt.u32 %p1, %r3, 32;", "setp.lt.u32 %p1, %r3, 500;",
     "where no memory is"},
    {"transpose: rows that overlap", tryTranspose, transpose,
     "mad.lo.u32 %r5, %r3, 33, %r1;", "mad.lo.u32 %r5, %r3, 31, %r1;",
     "another thread wrote it"},
};

TEST(Mistakes, AreFound) {
  static_assert(std::size(mistakes) >= 20);
  for (const Mistake &mistake : mistakes)
    EXPECT_NE(mistake.attempt(change(mistake)).find(mistake.found),
              std::string::npos)
        << mistake.what << ": " << mistake.attempt(change(mistake));
}

TEST(Mistakes, OfLanesOfAWarp) {
  // What another lane wrote may be read after a barrier of the warp.
  std::string good =
      "shl.b32 %r2, %t, 2;\nmov.u32 %r3, tile;\nadd.u32 %r4, %r3, %r2;\n"
      "st.shared.u32 [%r4], %t;\nbar.warp.sync -1;\nxor.b32 %r5, %r2, 4;\n"
      "add.u32 %r6, %r3, %r5;\nld.shared.u32 %r1, [%r6];\nst.global.u32 "
      "[%out], %r1;";
  Memory memory(32);
  EXPECT_EQ(run(kernel(good), memory).text, "");
  EXPECT_EQ(memory.words[6], 7u);
  std::string bad = good;
  bad.erase(bad.find("bar.warp.sync -1;"), 17);
  Fault fault = run(kernel(bad), memory);
  EXPECT_EQ(fault.kind, FaultKind::race);
  EXPECT_EQ(fault.text,
            "kernel 'k', line 30, block (0, 0, 0), thread (0, 0, 0): shared "
            "memory at 0x404: "
            "what another thread wrote is read without a barrier in between");
}

TEST(Mistakes, LoopsWithoutEnd) {
  Memory memory(32);
  EXPECT_EQ(run(kernel("again: bra again;"), memory).text,
            "kernel 'k': runs for too long");
  EXPECT_EQ(run(kernel("trap;"), memory).kind, FaultKind::trap);
}

TEST(Decoder, Errors) {
  Memory memory(32);
  auto check = [&](const char *statements) {
    return run(kernel(statements), memory).text;
  };
  EXPECT_EQ(check("frobnicate.u32 %r1, %r2;"),
            "line 23: the instruction 'frobnicate.u32' is not known");
  EXPECT_EQ(check("add.s32 %r1, %rd2, 1;"),
            "line 23: '%rd2' has 8 bytes, not 4");
  EXPECT_EQ(check("add.s32 %r1, %q2, 1;"),
            "line 23: there is no register '%q2'");
  EXPECT_EQ(check("bra nowhere;"), "line 23: there is no label 'nowhere'");
  EXPECT_EQ(check("add.s32 %r1, %r2;"), "line 23: 'add' has 3 operands");
}

} // namespace
} // namespace alula::ptx
