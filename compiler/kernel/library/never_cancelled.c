// The flag of a cancelled call where kernels have none: nobody sets it.
#include <stdint.h>

const int32_t *alula_cancel_flag(void);

static const int32_t never_cancelled = 0;

const int32_t *alula_cancel_flag(void) { return &never_cancelled; }
