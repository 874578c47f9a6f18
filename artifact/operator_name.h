#pragma once

#include "alula/artifact.h"

namespace alula::artifact {

/// As texts of artifacts and errors say it; "?" for a number of no operator.
inline const char *getOperatorName(uint32_t op) {
  switch (op) {
#define X(NAME, code, name)                                                    \
  case code:                                                                   \
    return name;
    ALULA_FOR_EACH_OPERATOR(X)
#undef X
  }
  return "?";
}

} // namespace alula::artifact
