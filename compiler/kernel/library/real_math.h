/* Functions of one or two real numbers: what StableHLO's elementwise ops mean,
 * for f32 and f64. Denormals are numbers like others; NaN in, NaN out, unless
 * C's rules for pow say otherwise. Errors are those of docs/accuracy.md: at
 * most 1 unit in the last place, but for logistic_f32, tanh_f32, rsqrt and
 * pow_f64 at most 2. Branch-free and always inlined, so that loops over them
 * vectorize, unless a comment says otherwise. */
#pragma once

#include <stdint.h>

#define ALULA_INLINE __attribute__((always_inline))

float alula_exp_f32(float x);
double alula_exp_f64(double x);
float alula_expm1_f32(float x);
double alula_expm1_f64(double x);
float alula_log_f32(float x);
double alula_log_f64(double x);
float alula_log1p_f32(float x);
double alula_log1p_f64(double x);
float alula_logistic_f32(float x);
double alula_logistic_f64(double x);
float alula_tanh_f32(float x);
double alula_tanh_f64(double x);

/* Angles of any size are reduced exactly; f64 branches at 2^20. */
float alula_sin_f32(float x);
double alula_sin_f64(double x);
float alula_cos_f32(float x);
double alula_cos_f64(double x);
float alula_tan_f32(float x);
double alula_tan_f64(double x);

float alula_sqrt_f32(float x);
double alula_sqrt_f64(double x);
float alula_rsqrt_f32(float x);
double alula_rsqrt_f64(double x);
float alula_cbrt_f32(float x);
double alula_cbrt_f64(double x);
float alula_pow_f32(float x, float y);
double alula_pow_f64(double x, double y); /* not inlined */
float alula_atan2_f32(float y, float x);
double alula_atan2_f64(double y, double x);

/* Exact; with the sign of x, as C's fmod. Branches and loops. */
float alula_remainder_f32(float x, float y);
double alula_remainder_f64(double x, double y);

/* Within 4 and 10 units. */
float alula_erf_f32(float x);
double alula_erf_f64(double x);
float alula_erfc_f32(float x);
double alula_erfc_f64(double x);

/* Not inlined. */
double alula_sinh_f64(double x);
double alula_cosh_f64(double x);
