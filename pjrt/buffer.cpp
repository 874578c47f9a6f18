#include "pjrt/functions.h"
#include "pjrt/layout.h"
#include "pjrt/move_value.h"
#include "pjrt/objects.h"

using namespace alula::pjrt;

Ref<Value> Buffer::acquire() {
  std::lock_guard lock(mutex);
  return value;
}

Ref<Value> Buffer::acquireForCall() {
  Ref<Value> held, copy;
  auto mayMove = [&] {
    return held->isMisaligned && !isInPlace && externalReferences == 0;
  };
  {
    std::lock_guard lock(mutex);
    held = value;
    if (!held || !mayMove())
      return held;
    if (!std::exchange(wasRead, true))
      return held;
  }
  copy = make<Value>(device, make<Event>());
  copyValue(held, *copy);
  // Without memory for it, programs read what there is.
  if (copy->ready->getError())
    return held;
  std::lock_guard lock(mutex);
  if (value.get() != held.get() || !mayMove())
    return held;
  // Calls that read the other one hold it.
  value = copy;
  return copy;
}

Ref<Value> Buffer::acquireInPlace() {
  std::lock_guard lock(mutex);
  isInPlace = true;
  return value;
}

bool Buffer::takeAway(const Value *expected) {
  Ref<Value> gone;
  std::lock_guard lock(mutex);
  if (value.get() != expected)
    return false;
  gone = std::move(value);
  value = Ref<Value>();
  if (externalReferences)
    kept = std::move(gone);
  return true;
}

void Buffer::giveBack(Ref<Value> taken) {
  std::lock_guard lock(mutex);
  value = std::move(taken);
  kept.reset();
}

void Buffer::remove() {
  if (Ref<Value> held = acquire())
    takeAway(held.get());
}

bool Buffer::isDeleted() {
  std::lock_guard lock(mutex);
  return !value;
}

void Buffer::addExternalReference() {
  std::lock_guard lock(mutex);
  ++externalReferences;
}

bool Buffer::dropExternalReference() {
  Ref<Value> gone;
  bool isLast;
  {
    std::lock_guard lock(mutex);
    if (externalReferences == 0)
      return false;
    isLast = --externalReferences == 0;
    if (isLast)
      std::swap(gone, kept);
    isLast = isLast && isDestroyed;
  }
  if (isLast)
    delete this;
  return true;
}

void Buffer::destroy() {
  {
    std::lock_guard lock(mutex);
    isDestroyed = true;
    if (externalReferences)
      return;
  }
  delete this;
}

Buffer *alula::pjrt::makeBuffer(Device *device, alula_buffer *data,
                                const Layout &layout, bool isReadOnly) {
  auto value = make<Value>(device, getReadyEvent());
  value->set(data);
  value->isReadOnly = isReadOnly;
  return new Buffer(device, alula_buffer_get_dtype(data),
                    getDimsOfProgram(alula_buffer_get_dims(data),
                                     alula_buffer_get_rank(data), layout),
                    layout, std::move(value));
}

void *alula::pjrt::Buffer_Destroy(PJRT_Buffer_Destroy_Args *args) {
  if (auto *buffer = as<Buffer>(take(args, &ALULA_ARGS::buffer)))
    buffer->destroy();
  return nullptr;
}

void *alula::pjrt::Buffer_ElementType(PJRT_Buffer_ElementType_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  put(args, &ALULA_ARGS::type, alula_dtype_get_pjrt(buffer->dtype));
  return nullptr;
}

void *alula::pjrt::Buffer_Dimensions(PJRT_Buffer_Dimensions_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  put(args, &ALULA_ARGS::dims, buffer->dims.data());
  put(args, &ALULA_ARGS::num_dims, buffer->dims.size());
  return nullptr;
}

void *alula::pjrt::Buffer_UnpaddedDimensions(
    PJRT_Buffer_UnpaddedDimensions_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  put(args, &ALULA_ARGS::unpadded_dims, buffer->dims.data());
  put(args, &ALULA_ARGS::num_dims, buffer->dims.size());
  return nullptr;
}

void *alula::pjrt::Buffer_DynamicDimensionIndices(
    PJRT_Buffer_DynamicDimensionIndices_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  put(args, &ALULA_ARGS::dynamic_dim_indices, static_cast<void *>(nullptr));
  put(args, &ALULA_ARGS::num_dynamic_dims, 0);
  return nullptr;
}

void *
alula::pjrt::Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  std::call_once(buffer->minorToMajorMade, [&] {
    buffer->minorToMajor = buffer->layout;
    if (buffer->layout.empty())
      for (size_t i = buffer->dims.size(); i-- > 0;)
        buffer->minorToMajor.push_back(static_cast<int64_t>(i));
  });
  PJRT_Buffer_MemoryLayout layout = {};
  layout.struct_size = sizeof layout;
  layout._anon2.tiled.minor_to_major = buffer->minorToMajor.data();
  layout._anon2.tiled.minor_to_major_size = buffer->minorToMajor.size();
  put(args, &ALULA_ARGS::layout, layout);
  return nullptr;
}

void *alula::pjrt::Buffer_OnDeviceSizeInBytes(
    PJRT_Buffer_OnDeviceSizeInBytes_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  size_t bytes = 0;
  countBytes(buffer->dims.data(), buffer->dims.size(), buffer->dtype, bytes);
  put(args, &ALULA_ARGS::on_device_size_in_bytes,
      alula_dtype_get_packed_bytes(buffer->dtype, bytes));
  return nullptr;
}

void *alula::pjrt::Buffer_Device(PJRT_Buffer_Device_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  put(args, &ALULA_ARGS::device, buffer->device);
  return nullptr;
}

void *alula::pjrt::Buffer_Memory(PJRT_Buffer_Memory_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  put(args, &ALULA_ARGS::memory, buffer->memory);
  return nullptr;
}

void *alula::pjrt::Buffer_Delete(PJRT_Buffer_Delete_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  buffer->remove();
  return nullptr;
}

void *alula::pjrt::Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  put(args, &ALULA_ARGS::is_deleted, buffer->isDeleted());
  return nullptr;
}

void *alula::pjrt::Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  put(args, &ALULA_ARGS::is_on_cpu,
      alula_instance_shares_memory(buffer->device->instance.get()) != 0);
  return nullptr;
}

void *alula::pjrt::Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  put(args, &ALULA_ARGS::event, Ref<Event>(buffer->ready).leak());
  return nullptr;
}

namespace {
/// Waits until there is an address to tell.
void *getPointer(Buffer &buffer, void *&pointer) {
  Ref<Value> value = buffer.acquireInPlace();
  if (!value)
    return deletedError();
  if (const Error *error = value->ready->wait())
    return copyError(error);
  pointer = reinterpret_cast<void *>(alula_buffer_get_address(value->data));
  return nullptr;
}
} // namespace

void *alula::pjrt::Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  void *pointer;
  if (void *error = getPointer(*buffer, pointer))
    return error;
  put(args, &ALULA_ARGS::buffer_pointer, reinterpret_cast<uintptr_t>(pointer));
  return nullptr;
}

void *alula::pjrt::Buffer_OpaqueDeviceMemoryDataPointer(
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  void *pointer;
  if (void *error = getPointer(*buffer, pointer))
    return error;
  put(args, &ALULA_ARGS::device_memory_ptr, pointer);
  return nullptr;
}

void *alula::pjrt::Buffer_IncreaseExternalReferenceCount(
    PJRT_Buffer_IncreaseExternalReferenceCount_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  buffer->addExternalReference();
  return nullptr;
}

void *alula::pjrt::Buffer_DecreaseExternalReferenceCount(
    PJRT_Buffer_DecreaseExternalReferenceCount_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  if (buffer->dropExternalReference())
    return nullptr;
  return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                   "alula: the buffer has no external reference");
}
