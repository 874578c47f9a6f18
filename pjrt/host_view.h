#pragma once

#include "alula/runtime.h"

#include <memory>

namespace alula::pjrt {

/// The bytes of a buffer for the host: themselves, or a copy where the host
/// can't reach them.
class HostView {
public:
  enum class Use {
    read,
    /// All bytes are written anew.
    write,
    /// Read, changed and written.
    change
  };
  HostView(alula_buffer *buffer, Use use);
  ~HostView();
  HostView(const HostView &) = delete;
  HostView &operator=(const HostView &) = delete;

  char *data() const { return memory; }
  /// To be called in the end: gives the buffer what was written. What went
  /// wrong in this or in reading, or NULL; `data` has no meaning then.
  alula_error *finish();

private:
  alula_buffer *buffer;
  Use use;
  char *memory;
  std::unique_ptr<char[]> copy;
  alula_error *error = nullptr;
};

} // namespace alula::pjrt
