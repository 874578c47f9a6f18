/* Memory that products need next, fetched while they compute. */
#pragma once

#include "compiler/kernel/library/code_forms.h"

#include <stdint.h>

/* How many bytes a tile's step fetches of what comes next: steps read four times
 * as much, so that a panel comes in four tiles. */
enum { FETCHED_BY_STEP = 32 };

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
