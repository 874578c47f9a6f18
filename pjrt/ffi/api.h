#pragma once

#include "pjrt/ffi/handler.h"

namespace alula::pjrt::ffi {

/// The functions that handlers call.
const XLA_FFI_Api &getApi();

} // namespace alula::pjrt::ffi
