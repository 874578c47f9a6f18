/* The kernel as a plugin of the runtime: found when an artifact is loaded. */
#include "alula/import.h"
#include "matmul.h"

#include <string.h>

/* Pointers and sizes in the order of the call. */
struct params {
  const float *a, *b;
  int64_t m, k, n;
  float *r;
};

static int32_t call(void *memory, void *context, void *reserved) {
  struct params *p = memory;
  (void)context, (void)reserved;
  multiply(p->a, p->b, p->m, p->k, p->n, p->r);
  return 0;
}

static int32_t resolve(void *self, size_t count, const char *const *names,
                       alula_import_call *functions, void **contexts) {
  (void)self, (void)contexts;
  for (size_t i = 0; i < count; ++i)
    if (!functions[i] && strcmp(names[i], "kernels_matmul") == 0)
      functions[i] = call;
  return 0;
}

__attribute__((visibility("default"))) const alula_import_plugin *
alula_import_plugin_query(uint16_t major, uint16_t minor) {
  static const alula_import_plugin plugin = {sizeof plugin,
                                             ALULA_IMPORT_ABI_MAJOR,
                                             ALULA_IMPORT_ABI_MINOR,
                                             "kernels",
                                             "1.0",
                                             ALULA_IMPORT_STANDALONE,
                                             ALULA_IMPORT_SANITIZER,
                                             0,
                                             0,
                                             resolve,
                                             0};
  (void)minor;
  return major == ALULA_IMPORT_ABI_MAJOR ? &plugin : 0;
}
