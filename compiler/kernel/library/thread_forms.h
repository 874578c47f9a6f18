/* What C code does otherwise for a thread of a GPU. */
#pragma once

#include "compiler/kernel/library/code_forms.h"

/* Whether a vector is one or a few registers. A thread of a GPU has a register
 * for each of its numbers: what holds many vectors at once does its lanes one
 * after the other there. */
#ifdef __NVPTX__
#define HAS_VECTORS 0
#else
#define HAS_VECTORS 1
#endif

/* A function that has work enough to be called, and on a GPU registers enough
 * only if it is. Not every file that has it calls it. */
#if HAS_VECTORS
#define PART static __attribute__((unused))
#else
#define PART NOINLINE __attribute__((unused))
#endif
