#pragma once

#include "alula/runtime.h"

#include <memory>

namespace alula::pjrt {

/// The elements of a buffer for the host, one of 2 or 4 bits to a byte: the
/// buffer's own bytes, or a copy where the host can't reach them or they are
/// packed.
class HostView {
public:
  enum class Use {
    read,
    /// All elements are written anew.
    write,
    /// Read, changed and written.
    change
  };
  HostView(alula_buffer *buffer, Use use);
  ~HostView();
  HostView(const HostView &) = delete;
  HostView &operator=(const HostView &) = delete;

  char *data() const { return memory; }
  size_t countElements() const { return count; }
  /// To be called in the end: gives the buffer what was written. What went
  /// wrong in this or in reading, or NULL; `data` has no meaning then.
  alula_error *finish();

private:
  bool isPacked() const;

  alula_buffer *buffer;
  Use use;
  char *memory;
  size_t count;
  std::unique_ptr<char[]> copy;
  alula_error *error = nullptr;
};

} // namespace alula::pjrt
