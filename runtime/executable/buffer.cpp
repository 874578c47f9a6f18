#include "runtime/executable/buffer.h"

#include <cinttypes>
#include <cstdio>

namespace alula::runtime {

Status getShapeBytes(alula_dtype dtype, uint32_t rank, const int64_t *dims,
                     uint64_t &bytes) {
  if (alula_dtype_get_kind(dtype) == ALULA_KIND_INVALID)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT, "unknown element type %d",
                     int(dtype));
  if (rank && !dims)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "the dimensions of a buffer are null");
  if (rank > ALULA_MAX_RANK)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "a buffer has at most %u dimensions, not %u",
                     ALULA_MAX_RANK, rank);
  uint64_t total = alula_dtype_get_bytes(dtype);
  bool empty = false, tooLarge = false;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] < 0)
      return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                       "dimension %u of a buffer is %" PRId64, i, dims[i]);
    empty |= dims[i] == 0;
    tooLarge |= __builtin_mul_overflow(total, uint64_t(dims[i]), &total) ||
                total > ALULA_MAX_BYTES;
  }
  if (!empty && tooLarge) {
    char shape[160];
    printShape(shape, sizeof shape, dtype, rank, dims);
    return makeError(ALULA_STATUS_RESOURCE_EXHAUSTED,
                     "a buffer of %s has more than 2^48 bytes", shape);
  }
  bytes = empty ? 0 : alula_dtype_get_packed_bytes(dtype, total);
  return nullptr;
}

Status createHandle(Instance *instance, alula_dtype dtype, uint32_t rank,
                    const int64_t *dims, alula_buffer **buffer) {
  uint64_t bytes;
  ALULA_TRY(getShapeBytes(dtype, rank, dims, bytes));
  size_t size = sizeof(alula_buffer) + rank * sizeof(int64_t);
  auto *made = static_cast<alula_buffer *>(malloc(size));
  if (!made)
    return makeOutOfMemory("a buffer", size);
  new (made) alula_buffer();
  made->instance = instance;
  made->users.store(1, std::memory_order_relaxed);
  made->dtype = dtype;
  made->rank = rank;
  made->bytes = bytes;
  if (rank)
    memcpy(made->dims, dims, rank * sizeof(int64_t));
  retain(instance);
  *buffer = made;
  return nullptr;
}

Status createBuffer(Instance *instance, alula_dtype dtype, uint32_t rank,
                    const int64_t *dims, alula_buffer **buffer) {
  alula_buffer *made;
  ALULA_TRY(createHandle(instance, dtype, rank, dims, &made));
  made->data = instance->driver->allocate(instance->device, made->bytes);
  if (!made->data) {
    uint64_t bytes = made->bytes;
    alula_buffer_release(made);
    return makeOutOfMemory("a buffer", bytes);
  }
  *buffer = made;
  return nullptr;
}

bool isHosts(const alula_buffer &buffer) {
  return buffer.instance->driver->sharesMemory || buffer.isOnHost;
}

/// Fewer bytes of the caller's are not worth counting.
constexpr uint64_t leastLent = 1 << 16;

static void lend(const Instance &instance, uint64_t bytes, int64_t sign) {
  if (bytes >= leastLent && instance.driver->lend)
    instance.driver->lend(instance.device, sign * int64_t(bytes));
}

static void releaseMemory(alula_buffer *buffer) {
  const Instance &instance = *buffer->instance;
  if (!buffer->data)
    return;
  if (buffer->isOnHost) {
    instance.driver->releaseOnHost(instance.device, buffer->data,
                                   buffer->bytes);
  } else if (!buffer->isWrapped) {
    instance.driver->release(instance.device, buffer->data, buffer->bytes);
  } else {
    lend(instance, buffer->bytes, -1);
    if (buffer->releaseData)
      buffer->releaseData(buffer->releaseUser, buffer->data);
  }
  buffer->data = nullptr;
}

void moveMemory(alula_buffer *from, alula_buffer *to) {
  to->data = from->data;
  to->isWrapped = from->isWrapped;
  to->isOnHost = from->isOnHost;
  to->releaseData = from->releaseData;
  to->releaseUser = from->releaseUser;
  from->data = nullptr;
}

uint32_t getElementAlignment(alula_dtype dtype) {
  uint32_t bytes = alula_dtype_get_bytes(dtype);
  if (alula_dtype_get_kind(dtype) == ALULA_KIND_COMPLEX)
    bytes /= 2;
  return bytes ? bytes : 1;
}

void printShape(char *text, size_t size, alula_dtype dtype, uint32_t rank,
                const int64_t *dims) {
  size_t used = 0;
  text[0] = 0;
  for (uint32_t i = 0; i <= rank; ++i) {
    int more;
    if (i == rank)
      more = snprintf(text + used, size - used, "%s",
                      alula_dtype_get_name(dtype) ? alula_dtype_get_name(dtype)
                                                  : "invalid");
    else if (dims[i] < 0)
      more = snprintf(text + used, size - used, "?x");
    else
      more = snprintf(text + used, size - used, "%" PRId64 "x", dims[i]);
    if (more < 0 || size_t(more) >= size - used)
      return;
    used += size_t(more);
  }
}

} // namespace alula::runtime

using namespace alula::runtime;

alula_error *alula_buffer_create(alula_instance *instance, alula_dtype dtype,
                                 uint32_t rank, const int64_t *dims,
                                 alula_buffer **buffer) {
  if (!instance || !buffer)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_buffer_create: instance or result is null");
  return createBuffer(reinterpret_cast<Instance *>(instance), dtype, rank, dims,
                      buffer);
}

alula_error *alula_buffer_create_on_host(alula_instance *instance,
                                         alula_dtype dtype, uint32_t rank,
                                         const int64_t *dims,
                                         alula_buffer **buffer) {
  if (!instance || !buffer)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_buffer_create_on_host: instance or result is null");
  auto *mine = reinterpret_cast<Instance *>(instance);
  const Driver &driver = *mine->driver;
  if (driver.sharesMemory)
    return createBuffer(mine, dtype, rank, dims, buffer);
  if (!driver.allocateOnHost)
    return makeError(ALULA_STATUS_UNIMPLEMENTED,
                     "device '%s' reaches no memory of the host", driver.name);
  alula_buffer *made;
  ALULA_TRY(createHandle(mine, dtype, rank, dims, &made));
  made->data = driver.allocateOnHost(mine->device, made->bytes);
  made->isOnHost = made->data != nullptr;
  if (!made->data) {
    uint64_t bytes = made->bytes;
    alula_buffer_release(made);
    return makeOutOfMemory("a buffer on the host", bytes);
  }
  *buffer = made;
  return nullptr;
}

alula_error *alula_buffer_wrap(alula_instance *instance, alula_dtype dtype,
                               uint32_t rank, const int64_t *dims, void *data,
                               size_t bytes,
                               void (*releaseData)(void *, void *), void *user,
                               alula_buffer **buffer) {
  if (!instance || !buffer)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_buffer_wrap: instance or result is null");
  uint64_t needed;
  ALULA_TRY(getShapeBytes(dtype, rank, dims, needed));
  char shape[160];
  printShape(shape, sizeof shape, dtype, rank, dims);
  if (bytes != needed)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "a buffer of %s takes %" PRIu64 " bytes, not %zu", shape,
                     needed, bytes);
  if (!data && bytes)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "a buffer of %s wraps a null pointer", shape);
  if (reinterpret_cast<uintptr_t>(data) % getElementAlignment(dtype))
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "a buffer of %s must be aligned to %u", shape,
                     getElementAlignment(dtype));
  auto *mine = reinterpret_cast<Instance *>(instance);
  if (bytes && !mine->driver->reaches(mine->device, data, bytes))
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "a buffer of %s wraps memory that device '%s' can't use",
                     shape, mine->driver->name);
  // As wide as a device's widest access; a host's are never wider than what
  // they know of an element.
  constexpr uintptr_t deviceAlignment = 16;
  if (bytes && !mine->driver->sharesMemory &&
      reinterpret_cast<uintptr_t>(data) % deviceAlignment)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "a buffer of %s must be aligned to %u on device '%s'",
                     shape, unsigned(deviceAlignment), mine->driver->name);
  alula_buffer *made;
  ALULA_TRY(createHandle(mine, dtype, rank, dims, &made));
  // No memory means "donated", so an empty buffer shows something else.
  static uint8_t nothing;
  made->data = data ? static_cast<uint8_t *>(data) : &nothing;
  made->isWrapped = true;
  made->releaseData = data ? releaseData : nullptr;
  made->releaseUser = user;
  lend(*mine, made->bytes, 1);
  *buffer = made;
  return nullptr;
}

void alula_buffer_retain(alula_buffer *buffer) {
  if (buffer)
    buffer->users.fetch_add(1, std::memory_order_relaxed);
}

void alula_buffer_release(alula_buffer *buffer) {
  if (!buffer || buffer->users.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  releaseMemory(buffer);
  Instance *instance = buffer->instance;
  free(buffer);
  release(instance);
}

void *alula_buffer_get_data(const alula_buffer *buffer) {
  return buffer && isHosts(*buffer) ? buffer->data : nullptr;
}
uint64_t alula_buffer_get_address(const alula_buffer *buffer) {
  return buffer ? reinterpret_cast<uintptr_t>(buffer->data) : 0;
}
size_t alula_buffer_get_bytes(const alula_buffer *buffer) {
  return buffer ? size_t(buffer->bytes) : 0;
}
alula_dtype alula_buffer_get_dtype(const alula_buffer *buffer) {
  return buffer ? buffer->dtype : ALULA_DTYPE_INVALID;
}
uint32_t alula_buffer_get_rank(const alula_buffer *buffer) {
  return buffer ? buffer->rank : 0;
}
const int64_t *alula_buffer_get_dims(const alula_buffer *buffer) {
  return buffer ? buffer->dims : nullptr;
}
