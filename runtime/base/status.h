// The runtime's errors: a pointer, null for none, so that a good call costs
// nothing and an error crosses the C API as it is.

#pragma once

#include "alula/runtime.h"
#include "alula/status.h"

namespace alula::runtime {

/// Owned by the caller; NULL means success.
using Status = alula_error *;

/// Makes an error; out of memory gives a static one.
[[nodiscard]] Status makeError(alula_status_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

[[nodiscard]] Status makeOutOfMemory(const char *what, uint64_t bytes);

/// " 'name'" for a sentence, or nothing where there is no name.
struct Quoted {
  explicit Quoted(const char *name);
  char text[104];
};

} // namespace alula::runtime

/// Returns the error of an expression, if it has one.
#define ALULA_TRY(expression)                                                  \
  do {                                                                         \
    if (::alula::runtime::Status tried = (expression))                         \
      return tried;                                                            \
  } while (false)
