/* What LLVM's code generator calls by name. */
#include <stddef.h>
#include <stdint.h>

void *memset(void *to, int value, size_t size) {
  unsigned char *out = to;
  for (size_t i = 0; i < size; ++i)
    out[i] = (unsigned char)value;
  return to;
}
