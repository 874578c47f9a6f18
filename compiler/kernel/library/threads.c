/* Which thread this is, of those that run a kernel at once, and what those of a
 * workgroup do together. */
#include "compiler/kernel/library/block_product.inc"

#include "compiler/kernel/library/group_product.inc"

#include "compiler/kernel/library/block_attention.inc"

#include <stdint.h>

int64_t alula_grid_thread(void);
int64_t alula_grid_threads(void);
int64_t alula_block(void);
int64_t alula_blocks(void);
int64_t alula_block_thread(void);
int64_t alula_block_threads(void);
void alula_block_wait(void);

/* Bytes of a workgroup, for what its threads exchange: no more than it needs,
 * so that as many as possible are there at once. */
#define TILE_ELEMENT(kilobytes, bytes, type)                                   \
  void alula_tile_put_##bytes##_of_##kilobytes(int64_t place, type element);   \
  void alula_tile_put_##bytes##_of_##kilobytes(int64_t place, type element) {  \
    *(SHARED type *)(tile_of_##kilobytes + place) = element;                   \
  }                                                                            \
  type alula_tile_get_##bytes##_of_##kilobytes(int64_t place);                 \
  type alula_tile_get_##bytes##_of_##kilobytes(int64_t place) {                \
    return *(SHARED type *)(tile_of_##kilobytes + place);                      \
  }
#define EXCHANGE_MEMORY(kilobytes)                                             \
  static SHARED char tile_of_##kilobytes[kilobytes << 10]                      \
      __attribute__((aligned(16), loader_uninitialized));                      \
  TILE_ELEMENT(kilobytes, 1, int8_t)                                           \
  TILE_ELEMENT(kilobytes, 2, int16_t)                                          \
  TILE_ELEMENT(kilobytes, 4, int32_t)                                          \
  TILE_ELEMENT(kilobytes, 8, int64_t)
EXCHANGE_MEMORY(5)
EXCHANGE_MEMORY(9)
EXCHANGE_MEMORY(17)
EXCHANGE_MEMORY(48)

int64_t alula_block(void) { return __nvvm_read_ptx_sreg_ctaid_x(); }

int64_t alula_blocks(void) { return __nvvm_read_ptx_sreg_nctaid_x(); }

int64_t alula_block_thread(void) { return __nvvm_read_ptx_sreg_tid_x(); }

int64_t alula_block_threads(void) { return __nvvm_read_ptx_sreg_ntid_x(); }

int64_t alula_grid_thread(void) {
  return (int64_t)__nvvm_read_ptx_sreg_ctaid_x() * alula_block_threads() +
         alula_block_thread();
}

int64_t alula_grid_threads(void) {
  return (int64_t)__nvvm_read_ptx_sreg_nctaid_x() * alula_block_threads();
}

/* All threads of a workgroup come here before any goes on, and see what the
 * others have written. */
__attribute__((convergent)) void alula_block_wait(void) { __syncthreads(); }
