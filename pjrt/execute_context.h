#pragma once

#include "pjrt/ffi/current_call.h"

namespace alula::pjrt {

/// A PJRT_ExecuteContext.
struct ExecuteContext {
  std::shared_ptr<ffi::UserData> data = std::make_shared<ffi::UserData>();
};

} // namespace alula::pjrt
