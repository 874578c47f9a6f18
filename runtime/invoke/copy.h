// Copies between buffers and the host, and from buffer to buffer.

#pragma once

#include "runtime/executable/buffer.h"

namespace alula::runtime {

/// One of `to` and `hostTo`, one of `from` and `hostFrom`, is not NULL, unless
/// there are no bytes.
struct CopyRequest {
  alula_buffer *to, *from;
  void *hostTo;
  const void *hostFrom;
  /// Into the buffers.
  size_t toOffset, fromOffset;
  size_t bytes;
};

/// Runs it on this thread and waits; ranges are checked already.
Status runCopy(const CopyRequest &request);

/// Enqueues it for the thread of asynchronous calls.
Status runCopyLater(const CopyRequest &request, alula_event **event);

} // namespace alula::runtime
