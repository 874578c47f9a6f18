#include "runtime/base/status.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

struct alula_error {
  alula_status_code code;
  char text[];
};

namespace alula::runtime {

/// What is returned when there is no memory for an error.
static struct {
  alula_status_code code;
  char text[16];
} noMemory = {ALULA_STATUS_RESOURCE_EXHAUSTED, "out of memory"};

static alula_error *getNoMemory() {
  return reinterpret_cast<alula_error *>(&noMemory);
}

Status makeError(alula_status_code code, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int length = vsnprintf(nullptr, 0, format, list);
  va_end(list);
  size_t size = length < 0 ? 1 : size_t(length) + 1;
  auto *error = static_cast<alula_error *>(malloc(sizeof(alula_error) + size));
  if (!error)
    return getNoMemory();
  error->code = code;
  va_start(list, format);
  vsnprintf(error->text, size, format, list);
  va_end(list);
  return error;
}

Status makeOutOfMemory(const char *what, uint64_t bytes) {
  return makeError(ALULA_STATUS_RESOURCE_EXHAUSTED,
                   "out of memory: %" PRIu64 " bytes for %s", bytes, what);
}

Quoted::Quoted(const char *name) {
  text[0] = 0;
  if (*name)
    snprintf(text, sizeof text, " '%.100s'", name);
}

} // namespace alula::runtime

using namespace alula::runtime;

alula_error *alula_error_create(alula_status_code code, const char *message) {
  // An error always has a code.
  return makeError(code == ALULA_STATUS_OK ? ALULA_STATUS_UNKNOWN : code, "%s",
                   message ? message : "");
}

alula_status_code alula_error_get_code(const alula_error *error) {
  return error ? error->code : ALULA_STATUS_OK;
}

const char *alula_error_get_message(const alula_error *error) {
  return error ? error->text : "";
}

void alula_error_destroy(alula_error *error) {
  if (error != getNoMemory())
    free(error);
}
