/* What a page calls of a digits model without a runtime: one memory for the
 * pictures, one for the probabilities, one function. */
#include "digits.h"

static _Alignas(DIGITS_ARENA_ALIGN) unsigned char arena[DIGITS_ARENA_BYTES + 1];
static _Alignas(16) unsigned char pictures[DIGITS_IN0_BYTES];
static _Alignas(16) unsigned char probabilities[DIGITS_OUT0_BYTES];

__attribute__((export_name("pictures"))) void *get_pictures(void);
__attribute__((export_name("probabilities"))) void *get_probabilities(void);
__attribute__((export_name("classify"))) int32_t classify(void);

void *get_pictures(void) { return pictures; }
void *get_probabilities(void) { return probabilities; }

int32_t classify(void) {
  const void *in[] = {pictures};
  void *out[] = {probabilities};
  return digits_run(arena, in, out);
}
