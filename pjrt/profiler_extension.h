#pragma once

#include "pjrt/border.h"

namespace alula::pjrt {

/// What jax.profiler asks for.
PJRT_Profiler_Extension &getProfilerExtension();

} // namespace alula::pjrt
