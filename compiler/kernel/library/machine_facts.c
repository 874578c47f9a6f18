/* The facts of the machine that a C compiler makes code for: only for the
 * library that tests call. */
#include "compiler/kernel/library/machine_facts.h"

#if defined(__x86_64__) && !defined(__FMA__)
const int32_t alula_has_fma = 0;
#else
const int32_t alula_has_fma = 1;
#endif

#if defined(__AVX512F__)
const int32_t alula_vector_bytes = 64;
#elif defined(__AVX2__)
const int32_t alula_vector_bytes = 32;
#else
const int32_t alula_vector_bytes = 16;
#endif
