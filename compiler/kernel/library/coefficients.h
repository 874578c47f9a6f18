/* Written by coefficients.py. */
#pragma once

#include "compiler/kernel/library/arithmetic.h"

/* clang-format off */

#define LN2_0 0x1.62e42fefa3800p-1
#define LN2_1 0x1.ef35793c76730p-45
#define LN2_F32_0 0x1.62e4000000000p-1
#define LN2_F32_1 0x1.7f7d1cf79abcap-20
#define HALF_PI_0 0x1.921fb54400000p+0
#define HALF_PI_1 0x1.0b4611a600000p-34
#define HALF_PI_2 0x1.3198a2e000000p-69
#define HALF_PI_3 0x1.b839a252049c1p-104
#define HALF_PI_SUM_0 0x1.921fb54442d18p+0
#define HALF_PI_SUM_1 0x1.1a62633145c07p-54
#define QUARTER_PI_TIMES_1_0 0x1.921fb54442d18p-1
#define QUARTER_PI_TIMES_1_1 0x1.1a62633145c07p-55
#define QUARTER_PI_TIMES_2_0 0x1.921fb54442d18p+0
#define QUARTER_PI_TIMES_2_1 0x1.1a62633145c07p-54
#define QUARTER_PI_TIMES_3_0 0x1.2d97c7f3321d2p+1
#define QUARTER_PI_TIMES_3_1 0x1.a79394c9e8a0ap-54
#define QUARTER_PI_TIMES_4_0 0x1.921fb54442d18p+1
#define QUARTER_PI_TIMES_4_1 0x1.1a62633145c07p-53
#define TWO_THIRDS_0 0x1.5555555555555p-1
#define TWO_THIRDS_1 0x1.5555555555555p-55
#define LN2_SUM_0 0x1.62e42fefa39efp-1
#define LN2_SUM_1 0x1.abc9e3b39803fp-56
#define LOG2_E 0x1.71547652b82fep+0
#define TWO_OVER_PI 0x1.45f306dc9c883p-1

/* (e^x - 1 - x) / x^2 for |x| <= ln 2 / 2; error 2^-28.2 */
static inline float expTailF32(float x) {
  float p = 0x1.6ad1240000000p-10f;
  p = muladdf(p, x, 0x1.123f2e0000000p-7f);
  p = muladdf(p, x, 0x1.55584e0000000p-5f);
  p = muladdf(p, x, 0x1.55548a0000000p-3f);
  p = muladdf(p, x, 0x1.fffffc0000000p-2f);
  return p;
}

/* (e^x - 1 - x) / x^2 for |x| <= ln 2 / 2; error 2^-63.6 */
static inline double expTailF64(double x) {
  double p = 0x1.201869e70c0d4p-29;
  p = muladd(p, x, 0x1.af730e3c38bb5p-26);
  p = muladd(p, x, 0x1.27e467f8e5b75p-22);
  p = muladd(p, x, 0x1.71ddeb4cdf529p-19);
  p = muladd(p, x, 0x1.a01a01dec06b9p-16);
  p = muladd(p, x, 0x1.a01a01b5c33fbp-13);
  p = muladd(p, x, 0x1.6c16c16c0b651p-10);
  p = muladd(p, x, 0x1.111111110e58ep-7);
  p = muladd(p, x, 0x1.555555555556bp-5);
  p = muladd(p, x, 0x1.555555555555dp-3);
  p = muladd(p, x, 0x1.0000000000000p-1);
  return p;
}

/* (e^x - 1 - x) / x^2, for results in f32; error 2^-37.5 */
static inline double expTailShort(double x) {
  double p = 0x1.a003c56c48ae0p-16;
  p = muladd(p, x, 0x1.a170b18560fc4p-13);
  p = muladd(p, x, 0x1.6c1767dd4a799p-10);
  p = muladd(p, x, 0x1.1110b1683438bp-7);
  p = muladd(p, x, 0x1.555554f26a55ep-5);
  p = muladd(p, x, 0x1.55555573a8488p-3);
  p = muladd(p, x, 0x1.00000000176b5p-1);
  return p;
}

/* (log(1 + x) - x + x^2 / 2) / x^3 for 1 + x in [sqrt 1/2, sqrt 2]; error 2^-29.3 */
static inline float logTailF32(float x) {
  float p = 0x1.bcfcd20000000p-5f;
  p = muladdf(p, x, -0x1.c0fcf00000000p-4f);
  p = muladdf(p, x, 0x1.ef57320000000p-4f);
  p = muladdf(p, x, -0x1.00d8040000000p-3f);
  p = muladdf(p, x, 0x1.2307380000000p-3f);
  p = muladdf(p, x, -0x1.5531b00000000p-3f);
  p = muladdf(p, x, 0x1.99a5320000000p-3f);
  p = muladdf(p, x, -0x1.00006a0000000p-2f);
  p = muladdf(p, x, 0x1.5555480000000p-2f);
  return p;
}

/* (log((1 + s) / (1 - s)) - 2 s) / s^3, of x = s^2; error 2^-59.5 */
static inline double logTailF64(double x) {
  double p = 0x1.2f1374682f28ep-3;
  p = muladd(p, x, 0x1.39a06b01a7212p-3);
  p = muladd(p, x, 0x1.74664b0b0e049p-3);
  p = muladd(p, x, 0x1.c71c51d2af9f8p-3);
  p = muladd(p, x, 0x1.249249422ea0ap-2);
  p = muladd(p, x, 0x1.999999997f9cfp-2);
  p = muladd(p, x, 0x1.5555555555593p-1);
  return p;
}

/* (log((1 + s) / (1 - s)) - 2 s - 2/3 s^3) / s^5, of x = s^2; error 2^-73.3 */
static inline double logTailLong(double x) {
  double p = 0x1.ec16c26e57de0p-4;
  p = muladd(p, x, 0x1.de13dbdefdfa5p-4);
  p = muladd(p, x, 0x1.11217dd1d8cbap-3);
  p = muladd(p, x, 0x1.3b135d7b047d9p-3);
  p = muladd(p, x, 0x1.745d18460d3e2p-3);
  p = muladd(p, x, 0x1.c71c71c55709cp-3);
  p = muladd(p, x, 0x1.2492492493193p-2);
  p = muladd(p, x, 0x1.9999999999995p-2);
  return p;
}

/* (log((1 + s) / (1 - s)) - 2 s) / s^3, of x = s^2, for results in f32; error 2^-44.9 */
static inline double logTailShort(double x) {
  double p = 0x1.91227a72120aap-3;
  p = muladd(p, x, 0x1.c62a46bc226f0p-3);
  p = muladd(p, x, 0x1.24941414c8d23p-2);
  p = muladd(p, x, 0x1.999996a4f1bb6p-2);
  p = muladd(p, x, 0x1.555555561f85cp-1);
  return p;
}

/* (sin(s) - s) / s^3, of x = s^2; error 2^-57.7 */
static inline double sinTailF64(double x) {
  double p = 0x1.5d7e46aa13da6p-33;
  p = muladd(p, x, -0x1.ae5e1fb667d1ap-26);
  p = muladd(p, x, 0x1.71de351f2740dp-19);
  p = muladd(p, x, -0x1.a01a019bada9cp-13);
  p = muladd(p, x, 0x1.111111110f573p-7);
  p = muladd(p, x, -0x1.5555555555547p-3);
  return p;
}

/* (cos(s) - 1 + s^2 / 2) / s^4, of x = s^2; error 2^-63.7 */
static inline double cosTailF64(double x) {
  double p = -0x1.8f8b72c94b101p-37;
  p = muladd(p, x, 0x1.1ee9a7a6a002ep-29);
  p = muladd(p, x, -0x1.27e4f7a4ebb0ap-22);
  p = muladd(p, x, 0x1.a01a019c24ec8p-16);
  p = muladd(p, x, -0x1.6c16c16c14bcfp-10);
  p = muladd(p, x, 0x1.5555555555549p-5);
  return p;
}

/* (sin(s) - s) / s^3, of x = s^2, for results in f32; error 2^-33.9 */
static inline double sinTailShort(double x) {
  double p = 0x1.699a71608bcdap-19;
  p = muladd(p, x, -0x1.9ffdbb58da7f5p-13);
  p = muladd(p, x, 0x1.1110eabef1ec4p-7);
  p = muladd(p, x, -0x1.555555145b36bp-3);
  return p;
}

/* (cos(s) - 1 + s^2 / 2) / s^4, of x = s^2, for results in f32; error 2^-38.5 */
static inline double cosTailShort(double x) {
  double p = -0x1.21abb202a7d5fp-22;
  p = muladd(p, x, 0x1.a0010df24b02cp-16);
  p = muladd(p, x, -0x1.6c169763dbd70p-10);
  p = muladd(p, x, 0x1.555555243017bp-5);
  return p;
}

/* (atan(s) - s) / s^3 for |s| <= tan(pi / 8), of x = s^2; error 2^-59.4 */
static inline double atanTailF64(double x) {
  double p = -0x1.24bf8737759cbp-6;
  p = muladd(p, x, 0x1.37884ca3f81acp-5);
  p = muladd(p, x, -0x1.9cb48c23b107dp-5);
  p = muladd(p, x, 0x1.df08a5b02fe5ep-5);
  p = muladd(p, x, -0x1.10eb443bfb7f1p-4);
  p = muladd(p, x, 0x1.3b110ef822439p-4);
  p = muladd(p, x, -0x1.745cf84b2c9a4p-4);
  p = muladd(p, x, 0x1.c71c70e104030p-4);
  p = muladd(p, x, -0x1.24924922a0605p-3);
  p = muladd(p, x, 0x1.999999999564dp-3);
  p = muladd(p, x, -0x1.555555555553cp-2);
  return p;
}

/* (atan(s) - s) / s^3 for |s| <= tan(pi / 8), of x = s^2, for results in f32; error 2^-35.3 */
static inline double atanTailShort(double x) {
  double p = 0x1.844acff3fa10cp-5;
  p = muladd(p, x, -0x1.5b1bdfd440ffdp-4);
  p = muladd(p, x, 0x1.c460804c78431p-4);
  p = muladd(p, x, -0x1.247eb7ad9530ep-3);
  p = muladd(p, x, 0x1.9999177643d15p-3);
  p = muladd(p, x, -0x1.555554c470cdcp-2);
  return p;
}

/* -log(1 - erf(x)) / x for x in [0, 3.4]; error 2^-24.2 */
static inline float erfPowerF32(float x) {
  float p = 0x1.3194d00000000p-18f;
  p = muladdf(p, x, 0x1.51a2420000000p-19f);
  p = muladdf(p, x, -0x1.0b2c8a0000000p-12f);
  p = muladdf(p, x, 0x1.110cc00000000p-10f);
  p = muladdf(p, x, 0x1.9beb280000000p-12f);
  p = muladdf(p, x, -0x1.3dfe5e0000000p-6f);
  p = muladdf(p, x, 0x1.a534ba0000000p-4f);
  p = muladdf(p, x, 0x1.45f2660000000p-1f);
  p = muladdf(p, x, 0x1.20dd760000000p+0f);
  return p;
}

/* e^a^2 (1 - erf(a)) (a + 3) of a = 6 / (1 - x) - 3 for a in [0, 10.25]; error 2^-26.1 */
static inline float erfcScaledF32(float x) {
  float p = -0x1.383bac0000000p-12f;
  p = muladdf(p, x, -0x1.c977e80000000p-12f);
  p = muladdf(p, x, 0x1.938b620000000p-9f);
  p = muladdf(p, x, -0x1.4a008a0000000p-10f);
  p = muladdf(p, x, -0x1.b7d75c0000000p-6f);
  p = muladdf(p, x, 0x1.e99f100000000p-4f);
  p = muladdf(p, x, -0x1.3dea760000000p-2f);
  p = muladdf(p, x, 0x1.2e32540000000p-1f);
  p = muladdf(p, x, -0x1.c44c4a0000000p-1f);
  p = muladdf(p, x, 0x1.12f21e0000000p+0f);
  return p;
}

/* Of 2^k * 2/pi modulo 4: the nearest multiple of 2^-27, and the rest. The
 * first times an integer of 24 bits is exact. */
static const double twoOverPiMultiples[105][2] = {
    {0x1.45f306c000000p-1, 0x1.c9c882a53f84fp-29},
    {0x1.45f306e000000p+0, -0x1.b1bbead603d8bp-31},
    {0x1.45f306e000000p+1, -0x1.b1bbead603d8bp-30},
    {0x1.17cc1b8000000p+0, -0x1.b1bbead603d8bp-29},
    {0x1.17cc1b7000000p+1, 0x1.391054a7f09d6p-30},
    {0x1.7cc1b70000000p-2, 0x1.391054a7f09d6p-29},
    {0x1.7cc1b74000000p-1, -0x1.8ddf56b01ec54p-29},
    {0x1.7cc1b72000000p+0, 0x1.c882a53f84eb0p-30},
    {0x1.7cc1b72000000p+1, 0x1.c882a53f84eb0p-29},
    {0x1.f306dca000000p+0, -0x1.bbead603d8a83p-31},
    {0x1.f306dca000000p+1, -0x1.bbead603d8a83p-30},
    {0x1.e60db94000000p+1, -0x1.bbead603d8a83p-29},
    {0x1.cc1b727000000p+1, 0x1.1054a7f09d5f4p-30},
    {0x1.9836e4e000000p+1, 0x1.1054a7f09d5f4p-29},
    {0x1.306dc9d000000p+1, -0x1.df56b01ec5417p-29},
    {0x1.836e4e4000000p-1, 0x1.054a7f09d5f48p-31},
    {0x1.836e4e4000000p+0, 0x1.054a7f09d5f48p-30},
    {0x1.836e4e4000000p+1, 0x1.054a7f09d5f48p-29},
    {0x1.06dc9c9000000p+1, -0x1.f56b01ec54170p-29},
    {0x1.b727220000000p-4, 0x1.529fc2757d1f5p-33},
    {0x1.b727220000000p-3, 0x1.529fc2757d1f5p-32},
    {0x1.b727220000000p-2, 0x1.529fc2757d1f5p-31},
    {0x1.b727220000000p-1, 0x1.529fc2757d1f5p-30},
    {0x1.b727220000000p+0, 0x1.529fc2757d1f5p-29},
    {0x1.b727221000000p+1, -0x1.5ac07b1505c16p-29},
    {0x1.6e4e441000000p+1, 0x1.4a7f09d5f47d5p-29},
    {0x1.b939106000000p+0, -0x1.6b01ec5417056p-29},
    {0x1.b939105000000p+1, 0x1.29fc2757d1f53p-29},
    {0x1.727220b000000p+1, -0x1.ac07b1505c159p-29},
    {0x1.c9c882a000000p+0, 0x1.4fe13abe8fa9ap-30},
    {0x1.c9c882a000000p+1, 0x1.4fe13abe8fa9ap-29},
    {0x1.9391055000000p+1, -0x1.603d8a82e0acbp-29},
    {0x1.27220a9000000p+1, 0x1.3f84eafa3ea6ap-29},
    {0x1.391054c000000p-1, -0x1.80f62a0b82b2dp-29},
    {0x1.391054a000000p+0, 0x1.fc2757d1f534ep-30},
    {0x1.391054a000000p+1, 0x1.fc2757d1f534ep-29},
    {0x1.c882a54000000p-1, -0x1.ec54170565912p-35},
    {0x1.c882a54000000p+0, -0x1.ec54170565912p-34},
    {0x1.c882a54000000p+1, -0x1.ec54170565912p-33},
    {0x1.91054a8000000p+1, -0x1.ec54170565912p-32},
    {0x1.220a950000000p+1, -0x1.ec54170565912p-31},
    {0x1.1054a80000000p-1, -0x1.ec54170565912p-30},
    {0x1.1054a80000000p+0, -0x1.ec54170565912p-29},
    {0x1.1054a7f000000p+1, 0x1.3abe8fa9a6ee0p-32},
    {0x1.054a7f0000000p-2, 0x1.3abe8fa9a6ee0p-31},
    {0x1.054a7f0000000p-1, 0x1.3abe8fa9a6ee0p-30},
    {0x1.054a7f0000000p+0, 0x1.3abe8fa9a6ee0p-29},
    {0x1.054a7f1000000p+1, -0x1.8a82e0acb223fp-29},
    {0x1.529fc20000000p-4, 0x1.d5f47d4d37703p-30},
    {0x1.529fc20000000p-3, 0x1.d5f47d4d37703p-29},
    {0x1.529fc28000000p-2, -0x1.505c1596447e5p-31},
    {0x1.529fc28000000p-1, -0x1.505c1596447e5p-30},
    {0x1.529fc28000000p+0, -0x1.505c1596447e5p-29},
    {0x1.529fc27000000p+1, 0x1.5f47d4d377037p-29},
    {0x1.4a7f09e000000p+0, -0x1.4170565911f92p-29},
    {0x1.4a7f09d000000p+1, 0x1.7d1f534ddc0dbp-29},
    {0x1.29fc276000000p+0, -0x1.05c1596447e49p-29},
    {0x1.29fc275000000p+1, 0x1.f47d4d377036ep-29},
    {0x1.4fe13ac000000p-1, -0x1.70565911f924fp-33},
    {0x1.4fe13ac000000p+0, -0x1.70565911f924fp-32},
    {0x1.4fe13ac000000p+1, -0x1.70565911f924fp-31},
    {0x1.3f84eb0000000p+0, -0x1.70565911f924fp-30},
    {0x1.3f84eb0000000p+1, -0x1.70565911f924fp-29},
    {0x1.fc2757c000000p-1, 0x1.1f534ddc0db63p-29},
    {0x1.fc2757e000000p+0, -0x1.c1596447e493bp-29},
    {0x1.fc2757d000000p+1, 0x1.f534ddc0db629p-31},
    {0x1.f84eafa000000p+1, 0x1.f534ddc0db629p-30},
    {0x1.f09d5f4000000p+1, 0x1.f534ddc0db629p-29},
    {0x1.e13abe9000000p+1, -0x1.596447e493ad5p-33},
    {0x1.c2757d2000000p+1, -0x1.596447e493ad5p-32},
    {0x1.84eafa4000000p+1, -0x1.596447e493ad5p-31},
    {0x1.09d5f48000000p+1, -0x1.596447e493ad5p-30},
    {0x1.3abe900000000p-3, -0x1.596447e493ad5p-29},
    {0x1.3abe8f8000000p-2, 0x1.4d377036d8a56p-29},
    {0x1.3abe8fc000000p-1, -0x1.65911f924eb53p-29},
    {0x1.3abe8fa000000p+0, 0x1.34ddc0db6295ap-29},
    {0x1.3abe8fb000000p+1, -0x1.96447e493ad4dp-29},
    {0x1.d5f47d4000000p-1, 0x1.a6ee06db14acdp-30},
    {0x1.d5f47d4000000p+0, 0x1.a6ee06db14acdp-29},
    {0x1.d5f47d5000000p+1, -0x1.6447e493ad4cep-30},
    {0x1.abe8faa000000p+1, -0x1.6447e493ad4cep-29},
    {0x1.57d1f53000000p+1, 0x1.377036d8a5665p-29},
    {0x1.5f47d4e000000p+0, -0x1.911f924eb5336p-29},
    {0x1.5f47d4d000000p+1, 0x1.bb81b6c52b328p-30},
    {0x1.7d1f534000000p+0, 0x1.bb81b6c52b328p-29},
    {0x1.7d1f535000000p+1, -0x1.11f924eb53362p-30},
    {0x1.f47d4d4000000p+0, -0x1.11f924eb53362p-29},
    {0x1.f47d4d3000000p+1, 0x1.dc0db6295993cp-29},
    {0x1.e8fa9a7000000p+1, -0x1.1f924eb53361ep-31},
    {0x1.d1f534e000000p+1, -0x1.1f924eb53361ep-30},
    {0x1.a3ea69c000000p+1, -0x1.1f924eb53361ep-29},
    {0x1.47d4d37000000p+1, 0x1.c0db6295993c4p-29},
    {0x1.1f534de000000p+0, -0x1.f924eb53361dep-31},
    {0x1.1f534de000000p+1, -0x1.f924eb53361dep-30},
    {0x1.f534de0000000p-2, -0x1.f924eb53361dep-29},
    {0x1.f534ddc000000p-1, 0x1.b6c52b3278872p-34},
    {0x1.f534ddc000000p+0, 0x1.b6c52b3278872p-33},
    {0x1.f534ddc000000p+1, 0x1.b6c52b3278872p-32},
    {0x1.ea69bb8000000p+1, 0x1.b6c52b3278872p-31},
    {0x1.d4d3770000000p+1, 0x1.b6c52b3278872p-30},
    {0x1.a9a6ee0000000p+1, 0x1.b6c52b3278872p-29},
    {0x1.534ddc1000000p+1, -0x1.24eb53361de38p-30},
    {0x1.4d37704000000p+0, -0x1.24eb53361de38p-29},
    {0x1.4d37703000000p+1, 0x1.b6295993c4390p-29},
    {0x1.34ddc0e000000p+0, -0x1.275a99b0ef1bfp-30},
};

/* The first 1280 bits of 2/pi, highest word first. */
static const uint64_t twoOverPi[20] = {
    0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u,
    0xdb6295993c439041u, 0xfe5163abdebbc561u,
    0xb7246e3a424dd2e0u, 0x06492eea09d1921cu,
    0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u,
    0xe99c7026b45f7e41u, 0x3991d639835339f4u,
    0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu,
    0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u,
    0x4f463f669e5fea2du, 0x7527bac7ebe5f17bu,
    0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u,
    0x56033046fc7b6babu, 0xf0cfbc209af4361du,
};

/* clang-format on */
