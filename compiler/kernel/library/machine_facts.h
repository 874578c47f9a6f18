/* What differs between machines and is known when a kernel is compiled. */
#pragma once

#include <stdint.h>

/* 1 if the machine multiplies and adds with one rounding in one instruction.
 * `compiler/target/cpu/library.cpp` gives it its value. */
extern const int32_t alula_has_fma;
/* How wide its vectors are: 16, 32 or 64. */
extern const int32_t alula_vector_bytes;
/* 1 if it adds products of pairs of bf16 to vectors of f32, 64 bytes wide. */
extern const int32_t alula_has_bf16_dot;
/* 1 if it adds products of four bytes to vectors of i32: on x86-64 those of one
 * side are signed, on aarch64 of both sides or of none. */
extern const int32_t alula_has_int8_dot;
/* 1 if it multiplies matrices of two rows and two columns, of bf16 and of
 * bytes: aarch64 alone. */
extern const int32_t alula_has_matrix_products;
