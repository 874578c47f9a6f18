// Arrays from the host, to the host, and between devices.

#include "alula/artifact.h"
#include "pjrt/functions.h"
#include "pjrt/host_view.h"
#include "pjrt/layout.h"
#include "pjrt/move_value.h"
#include "pjrt/objects.h"

using namespace alula::pjrt;

namespace {
/// Values of PJRT_HostBufferSemantics.
enum { ImmutableZeroCopy = 2, MutableZeroCopy = 3 };

/// Below this a copy is cheaper than keeping the client's memory.
constexpr size_t leastZeroCopyBytes = 4096;
/// Of the client's memory, at the least.
constexpr uintptr_t zeroCopyAlignment = 16;
/// Memory decides how long more takes to read, not where vectors begin.
constexpr size_t mostAlignedBytes = size_t(64) << 20;

/// An array of the client's.
struct HostArray {
  Device *device;
  const char *data;
  alula_dtype dtype;
  const int64_t *dims;
  size_t rank, bytes, elementBytes;
  std::vector<int64_t> strides;
  /// What the client wants of our array, and the strides that it means.
  Layout layout;
  std::vector<int64_t> deviceStrides;
  bool isShared, isReadOnly;

  size_t countElements() const { return bytes / elementBytes; }
  /// Whether its memory is as that of our array.
  bool isDense() const {
    return isSamePlaces(dims, strides.data(), deviceStrides.data(), rank);
  }
  std::vector<int64_t> getDimsInMemory() const {
    return alula::pjrt::getDimsInMemory(dims, rank, layout);
  }
};

void *readShape(PJRT_Client_BufferFromHostBuffer_Args *args, HostArray &host) {
  uint32_t type = take(args, &ALULA_ARGS::type);
  host.dtype = alula_dtype_from_pjrt(type);
  if (host.dtype == ALULA_DTYPE_INVALID || host.dtype == ALULA_DTYPE_TOKEN)
    return makeError(ALULA_STATUS_UNIMPLEMENTED,
                     "alula: no array has the element type with PJRT number " +
                         std::to_string(type));
  host.rank = take(args, &ALULA_ARGS::num_dims);
  host.dims = static_cast<const int64_t *>(take(args, &ALULA_ARGS::dims));
  if (host.rank > 64 || (host.rank && !host.dims))
    return invalid("alula: an array has at most 64 dimensions, this one has " +
                   std::to_string(host.rank));
  host.elementBytes = alula_dtype_get_bytes(host.dtype);
  if (!countBytes(host.dims, host.rank, host.dtype, host.bytes))
    return invalid("alula: the array's shape has a negative or too large size");
  return nullptr;
}

void *readHostArray(PJRT_Client_BufferFromHostBuffer_Args *args,
                    HostArray &host) {
  if (void *error = readShape(args, host))
    return error;
  host.data = static_cast<const char *>(take(args, &ALULA_ARGS::data));
  if (!host.data && host.bytes)
    return missing("data");
  size_t strideCount = take(args, &ALULA_ARGS::num_byte_strides);
  auto *strides =
      static_cast<const int64_t *>(take(args, &ALULA_ARGS::byte_strides));
  if (strides && strideCount) {
    if (strideCount != host.rank)
      return invalid("alula: " + std::to_string(strideCount) +
                     " strides are given for an array of rank " +
                     std::to_string(host.rank));
    host.strides.assign(strides, strides + strideCount);
  } else {
    host.strides = getStrides(host.dims, host.rank, host.elementBytes, {});
  }
  uint32_t semantics = take(args, &ALULA_ARGS::host_buffer_semantics);
  host.isShared =
      semantics == ImmutableZeroCopy || semantics == MutableZeroCopy;
  host.isReadOnly = semantics == ImmutableZeroCopy;
  if (void *error =
          readDeviceLayout(take(args, &ALULA_ARGS::device_layout), host.dims,
                           host.rank, host.elementBytes, host.layout))
    return error;
  host.deviceStrides =
      getStrides(host.dims, host.rank, host.elementBytes, host.layout);
  return nullptr;
}

bool canShare(const HostArray &host) {
  return alula_instance_shares_memory(host.device->instance.get()) &&
         host.isShared && alula_dtype_get_packing(host.dtype) == 1 &&
         host.isDense() && host.bytes >= leastZeroCopyBytes &&
         reinterpret_cast<uintptr_t>(host.data) % zeroCopyAlignment == 0 &&
         isCanonical(host.dtype, host.data, host.countElements());
}

/// A buffer over the client's memory; `done` happens when it is not needed.
void *shareMemory(const HostArray &host, Ref<Event> &done, Buffer *&buffer) {
  auto event = make<Event>();
  auto release = [](void *user, void *) {
    Ref<Event>(as<Event>(user))->finish();
  };
  alula_buffer *data;
  if (alula_error *error = alula_buffer_wrap(
          host.device->instance.get(), host.dtype,
          static_cast<uint32_t>(host.rank), host.getDimsInMemory().data(),
          const_cast<char *>(host.data), host.bytes, release, event.get(),
          &data))
    return makeError(error);
  done = event;
  event.leak();
  buffer = makeBuffer(host.device, data, host.layout, host.isReadOnly);
  buffer->acquire()->isMisaligned =
      host.isReadOnly && host.bytes <= mostAlignedBytes &&
      reinterpret_cast<uintptr_t>(host.data) % ALULA_ALIGNMENT != 0;
  return nullptr;
}

void *copyFromHost(const HostArray &host, const Memory &memory,
                   Buffer *&buffer) {
  alula_buffer *data;
  if (alula_error *error =
          createData(host.device, isOnHost(memory), host.dtype, host.rank,
                     host.getDimsInMemory().data(), data))
    return makeError(error);
  HostView view(data, HostView::Use::write);
  char *to = view.data();
  if (host.bytes && host.isDense())
    memcpy(to, host.data, host.bytes);
  else if (host.bytes)
    copyStrided(to, host.deviceStrides.data(), host.data, host.strides.data(),
                host.dims, host.rank, host.elementBytes);
  canonicalize(host.dtype, to, host.countElements());
  if (alula_error *error = view.finish()) {
    alula_buffer_release(data);
    return makeError(error);
  }
  buffer = makeBuffer(host.device, data, host.layout);
  return nullptr;
}
} // namespace

void *alula::pjrt::Client_BufferFromHostBuffer(
    PJRT_Client_BufferFromHostBuffer_Args *args) {
  ALULA_TAKE(Client, client);
  HostArray host = {};
  if (void *error = findDevice(*client, take(args, &ALULA_ARGS::device),
                               take(args, &ALULA_ARGS::memory), host.device))
    return error;
  if (void *error = readHostArray(args, host))
    return error;
  Buffer *buffer;
  Ref<Event> done = getReadyEvent();
  Memory *memory = getMemory(host.device, take(args, &ALULA_ARGS::memory));
  if (void *error = canShare(host) ? shareMemory(host, done, buffer)
                                   : copyFromHost(host, *memory, buffer))
    return error;
  buffer->memory = memory;
  put(args, &ALULA_ARGS::buffer, buffer);
  put(args, &ALULA_ARGS::done_with_host_buffer, done.leak());
  return nullptr;
}

namespace {
/// Where an array goes on the host.
struct HostTarget {
  char *data;
  bool isPacked;
  std::vector<int64_t> dims, strides, deviceStrides;
};

alula_error *copyToHost(const Value &value, const HostTarget &target) {
  alula_buffer *data = value.data;
  if (alula_buffer_get_bytes(data) == 0)
    return nullptr;
  HostView view(data, HostView::Use::read);
  if (alula_error *error = view.finish())
    return error;
  const char *from = view.data();
  alula_dtype dtype = alula_buffer_get_dtype(data);
  size_t elementBytes = alula_dtype_get_bytes(dtype);
  size_t count = view.countElements(), bytes = count * elementBytes;
  const int64_t *dims = target.dims.data();
  size_t rank = target.dims.size();
  bool isSame = isSamePlaces(dims, target.strides.data(),
                             target.deviceStrides.data(), rank);
  auto turn = [&](char *to) {
    copyStrided(to, target.strides.data(), from, target.deviceStrides.data(),
                dims, rank, elementBytes);
  };
  if (target.isPacked && !isSame) {
    std::vector<char> turned(bytes);
    turn(turned.data());
    alula_dtype_pack(dtype, turned.data(), target.data, count);
  } else if (target.isPacked) {
    alula_dtype_pack(dtype, from, target.data, count);
  } else if (isSame) {
    memcpy(target.data, from, bytes);
  } else {
    turn(target.data);
  }
  return nullptr;
}

/// Does `copy` when the value is there, and then finishes the event.
Ref<Event> whenReady(Ref<Value> value,
                     std::function<alula_error *(const Value &)> copy) {
  auto done = make<Event>();
  Event &ready = *value->ready;
  ready.onReady([value = std::move(value), copy = std::move(copy),
                 done](const Error *error) mutable {
    auto result = error ? std::make_unique<Error>(*error) : nullptr;
    if (!error)
      if (alula_error *failed = copy(*value))
        result.reset(as<Error>(makeError(failed)));
    // The use of the value ends before anybody can act on the event.
    value.reset();
    done->finish(std::move(result));
  });
  return done;
}
} // namespace

void *alula::pjrt::Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args *args) {
  ALULA_TAKE(Buffer, src);
  Ref<Value> value = src->acquire();
  if (!value)
    return deletedError();
  size_t rank = src->dims.size();
  size_t elementBytes = alula_dtype_get_bytes(src->dtype);
  size_t bytes = 0;
  countBytes(src->dims.data(), rank, src->dtype, bytes);
  HostTarget target = {
      static_cast<char *>(take(args, &ALULA_ARGS::dst)),
      false,
      src->dims,
      {},
      getStrides(src->dims.data(), rank, elementBytes, src->layout)};
  if (void *error =
          readLayout(take(args, &ALULA_ARGS::host_layout), src->dims.data(),
                     rank, elementBytes, src->layout, target.strides))
    return error;
  if (!target.data && bytes) {
    put(args, &ALULA_ARGS::dst_size, bytes);
    return nullptr;
  }
  size_t room = take(args, &ALULA_ARGS::dst_size);
  size_t packed = alula_dtype_get_packed_bytes(src->dtype, bytes);
  target.isPacked = room == packed && packed < bytes;
  if (room < bytes && !target.isPacked)
    return invalid("alula: the host buffer has " + std::to_string(room) +
                   " bytes, needs " + std::to_string(bytes));
  Ref<Event> done = whenReady(std::move(value),
                              [target = std::move(target)](const Value &from) {
                                return copyToHost(from, target);
                              });
  put(args, &ALULA_ARGS::event, done.leak());
  return nullptr;
}

namespace {
/// A range of a buffer's bytes, or an error.
void *checkRange(const Buffer &buffer, int64_t offset, int64_t size) {
  size_t bytes = 0;
  countBytes(buffer.dims.data(), buffer.dims.size(), buffer.dtype, bytes);
  auto total =
      static_cast<int64_t>(alula_dtype_get_packed_bytes(buffer.dtype, bytes));
  if (offset >= 0 && size >= 0 && offset <= total && size <= total - offset)
    return nullptr;
  return invalid("alula: " + std::to_string(size) + " bytes from " +
                 std::to_string(offset) + " are not in a buffer of " +
                 std::to_string(total));
}

std::function<alula_error *(const Value &)> copyRange(void *to, int64_t offset,
                                                      int64_t size) {
  return [=](const Value &from) {
    return alula_buffer_read(from.data, static_cast<size_t>(offset), to,
                             static_cast<size_t>(size), nullptr);
  };
}
} // namespace

void *alula::pjrt::Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  int64_t offset = take(args, &ALULA_ARGS::offset);
  int64_t size = take(args, &ALULA_ARGS::transfer_size);
  if (void *error = checkRange(*buffer, offset, size))
    return error;
  void *dst = take(args, &ALULA_ARGS::dst);
  if (!dst && size)
    return missing("dst");
  Ref<Value> value = buffer->acquire();
  if (!value)
    return deletedError();
  put(args, &ALULA_ARGS::event,
      whenReady(std::move(value), copyRange(dst, offset, size)).leak());
  return nullptr;
}

namespace {
/// A copy whose place the client tells later.
struct LateCopy {
  Ref<Value> value;
  Ref<Event> done;
  int64_t offset, size;

  static void start(PJRT_Buffer_CopyRawToHostFuture_Callback_Args *args) {
    if (!args)
      return;
    std::unique_ptr<LateCopy> copy(
        as<LateCopy>(take(args, &ALULA_ARGS::callback_data)));
    if (!copy)
      return;
    if (uint32_t code = take(args, &ALULA_ARGS::error_code)) {
      copy->done->finish(std::make_unique<Error>(
          readError(code, take(args, &ALULA_ARGS::error_message),
                    take(args, &ALULA_ARGS::error_message_size))));
      return;
    }
    void *dst = take(args, &ALULA_ARGS::dst);
    if (!dst && copy->size) {
      copy->done->finish(std::make_unique<Error>(Error{
          ALULA_STATUS_INVALID_ARGUMENT, "alula: the argument 'dst' is null"}));
      return;
    }
    whenReady(copy->value, copyRange(dst, copy->offset, copy->size))
        ->onReady([done = copy->done](const Error *error) {
          done->finish(error ? std::make_unique<Error>(*error) : nullptr);
        });
  }
};
} // namespace

void *alula::pjrt::Buffer_CopyRawToHostFuture(
    PJRT_Buffer_CopyRawToHostFuture_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  int64_t offset = take(args, &ALULA_ARGS::offset);
  int64_t size = take(args, &ALULA_ARGS::transfer_size);
  if (void *error = checkRange(*buffer, offset, size))
    return error;
  Ref<Value> value = buffer->acquire();
  if (!value)
    return deletedError();
  if (!hasField(args, &ALULA_ARGS::future_ready_callback))
    return invalid("alula: the struct has no room for the callback");
  auto done = make<Event>();
  put(args, &ALULA_ARGS::callback_data,
      new LateCopy{std::move(value), done, offset, size});
  put(args, &ALULA_ARGS::future_ready_callback,
      reinterpret_cast<void *>(&LateCopy::start));
  put(args, &ALULA_ARGS::event, done.leak());
  return nullptr;
}

namespace {
void *copyTo(Buffer &source, Device *device, bool isForHost, Buffer *&result) {
  if (void *error = findDevice(*source.device->client, device, nullptr, device))
    return error;
  Ref<Value> from = source.acquire();
  if (!from)
    return deletedError();
  auto done = make<Event>();
  auto to = make<Value>(device, done);
  to->isForHost = isForHost;
  result = new Buffer(device, source.dtype, source.dims, source.layout, to);
  Event &ready = *from->ready;
  ready.onReady([from = std::move(from), to](const Error *) mutable {
    copyValue(std::move(from), *to);
  });
  return nullptr;
}
} // namespace

void *alula::pjrt::Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  ALULA_TAKE(Device, dst_device);
  Buffer *copy;
  if (void *error = copyTo(*buffer, dst_device, /*isForHost=*/false, copy))
    return error;
  put(args, &ALULA_ARGS::dst_buffer, copy);
  return nullptr;
}

void *alula::pjrt::Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  ALULA_TAKE(Memory, dst_memory);
  Buffer *copy;
  if (void *error =
          copyTo(*buffer, dst_memory->device, isOnHost(*dst_memory), copy))
    return error;
  copy->memory = dst_memory;
  put(args, &ALULA_ARGS::dst_buffer, copy);
  return nullptr;
}
