// One error of the artifact room: a code and a sentence, without allocation.

#pragma once

#include "alula/status.h"

#include <cstdarg>
#include <cstdio>

namespace alula::artifact {

struct Diagnostic {
  alula_status_code code = ALULA_STATUS_OK;
  char text[384] = "";

  /// Sets code and text and returns false, so that checks can return it.
  __attribute__((format(printf, 3, 4))) bool fail(alula_status_code why,
                                                  const char *format, ...) {
    va_list list;
    va_start(list, format);
    failWith(why, format, list);
    va_end(list);
    return false;
  }

  void failWith(alula_status_code why, const char *format, va_list list) {
    code = why;
    vsnprintf(text, sizeof text, format, list);
  }
};

} // namespace alula::artifact
