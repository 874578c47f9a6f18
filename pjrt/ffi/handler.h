#pragma once

#include "pjrt/border.h"

namespace alula::pjrt::ffi {

/// When a handler is called. XLA numbers them so.
enum Stage : uint32_t { Instantiate, Prepare, Initialize, Execute };
inline constexpr size_t stageCount = 4;

/// A function of users. What it returns is null or an Error, which is ours
/// then.
using Handler = void *(XLA_FFI_CallFrame *);

/// Handlers of a target by stage; all but Execute may be null.
struct Bundle {
  Handler *handlers[stageCount] = {};

  bool operator==(const Bundle &) const = default;
};

/// XLA's sizes of structs: handlers want this one to the byte.
inline constexpr size_t frameSize =
    offsetof(XLA_FFI_CallFrame, attrs) + sizeof(XLA_FFI_Attrs);

inline std::string_view getText(const XLA_FFI_ByteSpan &span) {
  return {static_cast<const char *>(span.ptr), span.len};
}

} // namespace alula::pjrt::ffi
