#pragma once

#include "pjrt/border.h"

namespace alula::pjrt {

/// PJRT's extension for handlers of XLA's FFI.
PJRT_FFI_Extension &getFfiExtension();

} // namespace alula::pjrt
