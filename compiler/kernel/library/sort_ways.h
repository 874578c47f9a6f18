/* How machines sort, as long as the files of the library must agree. */
#pragma once

#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/machine_facts.h"

/* Vectors of items are compared, if these are keys or pairs_32; else digits count.
 * It takes instructions that put chosen lanes side by side: those of AVX-512. */
INLINE int are_vectors_sorted(void) {
#if defined(__x86_64__)
  return alula_vector_bytes == 64;
#else
  return 0;
#endif
}
