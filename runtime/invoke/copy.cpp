#include "runtime/invoke/copy.h"

namespace alula::runtime {
namespace {

/// What goes from one device to another in one piece.
constexpr size_t pieceBytes = size_t(1) << 20;

Status checkRange(const char *function, const alula_buffer *buffer,
                  size_t offset, size_t bytes) {
  if (!buffer)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT, "%s: a buffer is null",
                     function);
  if (!buffer->data)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "%s: the buffer was donated to an earlier call", function);
  if (offset <= buffer->bytes && bytes <= buffer->bytes - offset)
    return nullptr;
  return makeError(ALULA_STATUS_OUT_OF_RANGE,
                   "%s: %zu bytes at %zu are outside a buffer of %zu bytes",
                   function, bytes, offset, size_t(buffer->bytes));
}

Status copyFromHost(alula_buffer &to, size_t offset, const void *from,
                    size_t bytes) {
  StreamUse stream(*to.instance);
  ALULA_TRY(stream.take());
  return stream.finish(
      to.instance->driver->copyTo(stream.get(), to.data + offset, from, bytes));
}

Status copyToHost(void *to, const alula_buffer &from, size_t offset,
                  size_t bytes) {
  StreamUse stream(*from.instance);
  ALULA_TRY(stream.take());
  return stream.finish(from.instance->driver->copyFrom(
      stream.get(), to, from.data + offset, bytes));
}

Status copyBetween(const CopyRequest &request) {
  alula_buffer &to = *request.to, &from = *request.from;
  bool toHost = isHosts(to), fromHost = isHosts(from);
  if (to.instance == from.instance || (toHost && fromHost)) {
    StreamUse stream(*to.instance);
    ALULA_TRY(stream.take());
    return stream.finish(to.instance->driver->copy(
        stream.get(), to.data + request.toOffset,
        from.data + request.fromOffset, request.bytes));
  }
  if (toHost)
    return copyToHost(to.data + request.toOffset, from, request.fromOffset,
                      request.bytes);
  if (fromHost)
    return copyFromHost(to, request.toOffset, from.data + request.fromOffset,
                        request.bytes);
  const Driver &driver = *to.instance->driver;
  if (&driver == from.instance->driver && driver.copyFromDevice) {
    StreamUse stream(*to.instance);
    ALULA_TRY(stream.take());
    return stream.finish(driver.copyFromDevice(
        stream.get(), to.data + request.toOffset, from.instance->device,
        from.data + request.fromOffset, request.bytes));
  }
  size_t most = request.bytes < pieceBytes ? request.bytes : pieceBytes;
  void *piece = malloc(most);
  if (!piece)
    return makeOutOfMemory("a copy", most);
  Status status = nullptr;
  for (size_t done = 0; !status && done < request.bytes; done += most) {
    size_t bytes = request.bytes - done < most ? request.bytes - done : most;
    status = copyToHost(piece, from, request.fromOffset + done, bytes);
    if (!status)
      status = copyFromHost(to, request.toOffset + done, piece, bytes);
  }
  free(piece);
  return status;
}

Status runNowOrLater(const CopyRequest &request, alula_event **event) {
  return event ? runCopyLater(request, event) : runCopy(request);
}

} // namespace

Status runCopy(const CopyRequest &request) {
  if (!request.bytes)
    return nullptr;
  // An earlier call of the queue may have taken the memory.
  for (const alula_buffer *buffer : {request.to, request.from})
    if (buffer && !buffer->data)
      return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                       "a buffer of a copy was donated to an earlier call");
  if (request.hostFrom)
    return copyFromHost(*request.to, request.toOffset, request.hostFrom,
                        request.bytes);
  if (request.hostTo)
    return copyToHost(request.hostTo, *request.from, request.fromOffset,
                      request.bytes);
  return copyBetween(request);
}

} // namespace alula::runtime

using namespace alula::runtime;

alula_error *alula_buffer_read(alula_buffer *buffer, size_t offset, void *to,
                               size_t bytes, alula_event **event) {
  ALULA_TRY(checkRange("alula_buffer_read", buffer, offset, bytes));
  if (!to && bytes)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_buffer_read: the host's memory is null");
  CopyRequest request = {nullptr, buffer, to, nullptr, 0, offset, bytes};
  return runNowOrLater(request, event);
}

alula_error *alula_buffer_write(alula_buffer *buffer, size_t offset,
                                const void *from, size_t bytes,
                                alula_event **event) {
  ALULA_TRY(checkRange("alula_buffer_write", buffer, offset, bytes));
  if (!from && bytes)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_buffer_write: the host's memory is null");
  CopyRequest request = {buffer, nullptr, nullptr, from, offset, 0, bytes};
  return runNowOrLater(request, event);
}

alula_error *alula_buffer_copy(alula_buffer *to, size_t toOffset,
                               alula_buffer *from, size_t fromOffset,
                               size_t bytes, alula_event **event) {
  ALULA_TRY(checkRange("alula_buffer_copy", to, toOffset, bytes));
  ALULA_TRY(checkRange("alula_buffer_copy", from, fromOffset, bytes));
  CopyRequest request = {to,       from,       nullptr, nullptr,
                         toOffset, fromOffset, bytes};
  return runNowOrLater(request, event);
}
