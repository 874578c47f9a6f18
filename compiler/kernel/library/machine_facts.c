/* The facts of the machine that a C compiler makes code for: only for the
 * library that tests call, which may say less. The header has them as
 * constants. */
#include <stdint.h>

#if defined(__x86_64__) && !defined(__FMA__)
int32_t alula_has_fma = 0;
#else
int32_t alula_has_fma = 1;
#endif

#if defined(__AVX512F__)
int32_t alula_vector_bytes = 64;
#elif defined(__AVX2__)
int32_t alula_vector_bytes = 32;
#else
int32_t alula_vector_bytes = 16;
#endif

#if defined(__AVX512BF16__)
int32_t alula_has_bf16_dot = 1;
#else
int32_t alula_has_bf16_dot = 0;
#endif

#if defined(__AVX512VNNI__) || defined(__ARM_FEATURE_DOTPROD)
int32_t alula_has_int8_dot = 1;
#else
int32_t alula_has_int8_dot = 0;
#endif

#if defined(__ARM_FEATURE_MATMUL_INT8) && defined(__ARM_FEATURE_BF16)
int32_t alula_has_matrix_products = 1;
#else
int32_t alula_has_matrix_products = 0;
#endif
