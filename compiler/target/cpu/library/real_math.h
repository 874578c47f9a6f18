/* Functions of one or two real numbers. */
#pragma once

#include <stdint.h>

/* Defines a function that is inlined wherever it is called, so that loops over
 * it vectorize. */
#define ALULA_INLINE __attribute__((always_inline))

float alula_exp_f32(float x);
