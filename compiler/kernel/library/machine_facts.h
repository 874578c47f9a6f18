/* What differs between machines and is known when a kernel is compiled. */
#pragma once

#include <stdint.h>

/* 1 if the machine multiplies and adds with one rounding in one instruction.
 * `../library.cpp` gives it its value. */
extern const int32_t alula_has_fma;
