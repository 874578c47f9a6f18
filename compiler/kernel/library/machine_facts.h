/* What differs between machines and is known when a kernel is compiled. */
#pragma once

#include <stdint.h>

/* 1 if the machine multiplies and adds with one rounding in one instruction.
 * `../library.cpp` gives it its value. */
extern const int32_t alula_has_fma;
/* How wide its vectors are: 16, 32 or 64. */
extern const int32_t alula_vector_bytes;
