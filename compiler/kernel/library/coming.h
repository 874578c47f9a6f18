/* Memory that products need next, fetched while they compute. */
#pragma once

#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/product.h"

#include <stdint.h>

/* How much a tile's step fetches of what comes next: a panel in four tiles. */
enum { FETCHED_BY_STEP = ALULA_PANEL_BYTES / 4 };

/* Of which each tile fetches a part. */
typedef struct coming {
  const char *at;
  int64_t bytes;
} coming;

/* What a tile of so many steps fetches: once all of it has come, what is `here`
 * already. */
INLINE const char *take_coming(coming *next, const void *here, int64_t steps) {
  const char *at = next->bytes > 0 ? next->at : (const char *)here;
  next->at += steps * FETCHED_BY_STEP;
  next->bytes -= steps * FETCHED_BY_STEP;
  return at;
}
