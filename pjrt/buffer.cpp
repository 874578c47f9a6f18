#include "pjrt/functions.h"
#include "pjrt/objects.h"

using namespace alula::pjrt;

alula_buffer *Buffer::acquire() {
  std::lock_guard lock(mutex);
  if (data)
    alula_buffer_retain(data);
  return data;
}

Buffer *alula::pjrt::makeBuffer(Device *device, alula_buffer *data) {
  auto *buffer = new Buffer{device->client, device, {}, data,
                            alula_buffer_get_dtype(data), {}, {}};
  const int64_t *dims = alula_buffer_get_dims(data);
  buffer->dims.assign(dims, dims + alula_buffer_get_rank(data));
  return buffer;
}

namespace {
size_t countElements(const int64_t *dims, size_t rank) {
  size_t count = 1;
  for (size_t i = 0; i < rank; ++i)
    count *= static_cast<size_t>(dims[i]);
  return count;
}

/// Copies elements that lie `strides` bytes apart into rows without gaps.
char *copyStrided(char *to, const char *from, size_t elementBytes,
                  const int64_t *dims, const int64_t *strides, size_t rank) {
  if (rank == 0) {
    memcpy(to, from, elementBytes);
    return to + elementBytes;
  }
  for (int64_t i = 0; i < dims[0]; ++i)
    to = copyStrided(to, from + i * strides[0], elementBytes, dims + 1,
                     strides + 1, rank - 1);
  return to;
}

bool isDense(const int64_t *dims, const int64_t *strides, size_t rank,
             size_t elementBytes) {
  auto expected = static_cast<int64_t>(elementBytes);
  for (size_t i = rank; i-- > 0;) {
    if (dims[i] != 1 && strides[i] != expected)
      return false;
    expected *= dims[i];
  }
  return true;
}

struct HostBuffer {
  const char *data;
  alula_dtype dtype;
  const int64_t *dims, *strides;
  size_t rank;
};

void *copyFromHost(Device *device, const HostBuffer &host, void *&result) {
  alula_buffer *data;
  if (alula_error *error = alula_buffer_create(
          device->client->instance, host.dtype,
          static_cast<uint32_t>(host.rank), host.dims, &data))
    return makeError(error);
  auto *to = static_cast<char *>(alula_buffer_get_data(data));
  size_t elementBytes = alula_dtype_get_bytes(host.dtype);
  if (countElements(host.dims, host.rank) == 0)
    ; // Nothing to read.
  else if (!host.strides ||
           isDense(host.dims, host.strides, host.rank, elementBytes))
    memcpy(to, host.data, alula_buffer_get_bytes(data));
  else
    copyStrided(to, host.data, elementBytes, host.dims, host.strides,
                host.rank);
  result = makeBuffer(device, data);
  return nullptr;
}

void *deleted() {
  return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                   "alula: the buffer has been deleted or donated");
}
} // namespace

void *alula::pjrt::Client_BufferFromHostBuffer(
    PJRT_Client_BufferFromHostBuffer_Args *args) {
  using Args = PJRT_Client_BufferFromHostBuffer_Args;
  auto *client = as<Client>(args->client);
  Device *device = client->devices.front().get();
  if (void *memory = take(args, &Args::memory))
    device = as<Memory>(memory)->device;
  else if (args->device)
    device = as<Device>(args->device);
  alula_dtype dtype = alula_dtype_from_pjrt(args->type);
  if (dtype == ALULA_DTYPE_INVALID)
    return makeError(ALULA_STATUS_UNIMPLEMENTED,
                     "alula: no element type with PJRT number " +
                         std::to_string(args->type));
  HostBuffer host{static_cast<const char *>(args->data), dtype,
                  static_cast<const int64_t *>(args->dims),
                  args->num_byte_strides
                      ? static_cast<const int64_t *>(args->byte_strides)
                      : nullptr,
                  args->num_dims};
  void *buffer;
  if (void *error = copyFromHost(device, host, buffer))
    return error;
  put(args, &Args::buffer, buffer);
  put(args, &Args::done_with_host_buffer, makeReadyEvent());
  return nullptr;
}

void *alula::pjrt::Buffer_Destroy(PJRT_Buffer_Destroy_Args *args) {
  delete as<Buffer>(args->buffer);
  return nullptr;
}

void *alula::pjrt::Buffer_ElementType(PJRT_Buffer_ElementType_Args *args) {
  put(args, &PJRT_Buffer_ElementType_Args::type,
      alula_dtype_get_pjrt(as<Buffer>(args->buffer)->dtype));
  return nullptr;
}

void *alula::pjrt::Buffer_Dimensions(PJRT_Buffer_Dimensions_Args *args) {
  auto &dims = as<Buffer>(args->buffer)->dims;
  put(args, &PJRT_Buffer_Dimensions_Args::dims, dims.data());
  put(args, &PJRT_Buffer_Dimensions_Args::num_dims, dims.size());
  return nullptr;
}

void *alula::pjrt::Buffer_UnpaddedDimensions(
    PJRT_Buffer_UnpaddedDimensions_Args *args) {
  using Args = PJRT_Buffer_UnpaddedDimensions_Args;
  auto &dims = as<Buffer>(args->buffer)->dims;
  put(args, &Args::unpadded_dims, dims.data());
  put(args, &Args::num_dims, dims.size());
  return nullptr;
}

void *alula::pjrt::Buffer_DynamicDimensionIndices(
    PJRT_Buffer_DynamicDimensionIndices_Args *args) {
  using Args = PJRT_Buffer_DynamicDimensionIndices_Args;
  put(args, &Args::dynamic_dim_indices, (void *)nullptr);
  put(args, &Args::num_dynamic_dims, 0);
  return nullptr;
}

void *alula::pjrt::Buffer_OnDeviceSizeInBytes(
    PJRT_Buffer_OnDeviceSizeInBytes_Args *args) {
  auto &buffer = *as<Buffer>(args->buffer);
  put(args, &PJRT_Buffer_OnDeviceSizeInBytes_Args::on_device_size_in_bytes,
      countElements(buffer.dims.data(), buffer.dims.size()) *
          alula_dtype_get_bytes(buffer.dtype));
  return nullptr;
}

void *alula::pjrt::Buffer_Device(PJRT_Buffer_Device_Args *args) {
  put(args, &PJRT_Buffer_Device_Args::device, as<Buffer>(args->buffer)->device);
  return nullptr;
}

void *alula::pjrt::Buffer_Memory(PJRT_Buffer_Memory_Args *args) {
  put(args, &PJRT_Buffer_Memory_Args::memory,
      &as<Buffer>(args->buffer)->device->memory);
  return nullptr;
}

void *alula::pjrt::Buffer_Delete(PJRT_Buffer_Delete_Args *args) {
  auto &buffer = *as<Buffer>(args->buffer);
  std::lock_guard lock(buffer.mutex);
  if (buffer.data)
    alula_buffer_release(buffer.data);
  buffer.data = nullptr;
  return nullptr;
}

void *alula::pjrt::Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args *args) {
  auto &buffer = *as<Buffer>(args->buffer);
  std::lock_guard lock(buffer.mutex);
  put(args, &PJRT_Buffer_IsDeleted_Args::is_deleted, !buffer.data);
  return nullptr;
}

namespace {
void *copyTo(void *source, Device *device, void *&result) {
  auto &buffer = *as<Buffer>(source);
  alula_buffer *data = buffer.acquire();
  if (!data)
    return deleted();
  HostBuffer host{static_cast<const char *>(alula_buffer_get_data(data)),
                  buffer.dtype, buffer.dims.data(), nullptr,
                  buffer.dims.size()};
  void *error = copyFromHost(device, host, result);
  alula_buffer_release(data);
  return error;
}
} // namespace

void *alula::pjrt::Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args *args) {
  void *copy;
  if (void *error = copyTo(args->buffer, as<Device>(args->dst_device), copy))
    return error;
  put(args, &PJRT_Buffer_CopyToDevice_Args::dst_buffer, copy);
  return nullptr;
}

void *alula::pjrt::Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args *args) {
  void *copy;
  if (void *error =
          copyTo(args->buffer, as<Memory>(args->dst_memory)->device, copy))
    return error;
  put(args, &PJRT_Buffer_CopyToMemory_Args::dst_buffer, copy);
  return nullptr;
}

void *alula::pjrt::Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args *args) {
  using Args = PJRT_Buffer_ToHostBuffer_Args;
  alula_buffer *data = as<Buffer>(args->src)->acquire();
  if (!data)
    return deleted();
  size_t bytes = alula_buffer_get_bytes(data);
  void *error = nullptr;
  if (!args->dst)
    put(args, &Args::dst_size, bytes);
  else if (args->dst_size < bytes)
    error = makeError(ALULA_STATUS_INVALID_ARGUMENT,
                      "alula: the host buffer has " +
                          std::to_string(args->dst_size) + " bytes, needs " +
                          std::to_string(bytes));
  else
    memcpy(args->dst, alula_buffer_get_data(data), bytes);
  alula_buffer_release(data);
  if (!error && args->dst)
    put(args, &Args::event, makeReadyEvent());
  return error;
}

void *alula::pjrt::Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args *args) {
  put(args, &PJRT_Buffer_IsOnCpu_Args::is_on_cpu, true);
  return nullptr;
}

void *alula::pjrt::Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args *args) {
  put(args, &PJRT_Buffer_ReadyEvent_Args::event, makeReadyEvent());
  return nullptr;
}

namespace {
void *getPointer(void *source, void *&pointer) {
  auto &buffer = *as<Buffer>(source);
  std::lock_guard lock(buffer.mutex);
  if (!buffer.data)
    return deleted();
  pointer = alula_buffer_get_data(buffer.data);
  return nullptr;
}
} // namespace

void *alula::pjrt::Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args *args) {
  void *pointer;
  if (void *error = getPointer(args->buffer, pointer))
    return error;
  put(args, &PJRT_Buffer_UnsafePointer_Args::buffer_pointer,
      reinterpret_cast<uintptr_t>(pointer));
  return nullptr;
}

void *alula::pjrt::Buffer_OpaqueDeviceMemoryDataPointer(
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args *args) {
  void *pointer;
  if (void *error = getPointer(args->buffer, pointer))
    return error;
  put(args, &PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args::device_memory_ptr,
      pointer);
  return nullptr;
}

void *alula::pjrt::Buffer_IncreaseExternalReferenceCount(
    PJRT_Buffer_IncreaseExternalReferenceCount_Args *args) {
  ++as<Buffer>(args->buffer)->externalReferences;
  return nullptr;
}

void *alula::pjrt::Buffer_DecreaseExternalReferenceCount(
    PJRT_Buffer_DecreaseExternalReferenceCount_Args *args) {
  auto &count = as<Buffer>(args->buffer)->externalReferences;
  if (--count >= 0)
    return nullptr;
  ++count;
  return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                   "alula: the buffer has no external reference");
}
