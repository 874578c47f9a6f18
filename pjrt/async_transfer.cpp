// Buffers that a client fills piece by piece.

#include "pjrt/functions.h"
#include "pjrt/layout.h"
#include "pjrt/move_value.h"
#include "pjrt/objects.h"

using namespace alula::pjrt;

namespace {
/// One buffer: its memory until the last piece has come.
struct Piecewise {
  alula_buffer *data;
  Ref<Value> value;
  Buffer *buffer;
  std::vector<int64_t> dims;
  Layout layout;
};

struct TransferManager {
  Device *device;
  Memory *memory;
  std::mutex mutex;
  std::vector<Piecewise> pieces;

  ~TransferManager() {
    for (Piecewise &piece : pieces) {
      if (piece.data) {
        failValue(*piece.value,
                  {ALULA_STATUS_CANCELLED,
                   "alula: the transfer ended before all data had come"});
        alula_buffer_release(piece.data);
      }
      if (piece.buffer)
        piece.buffer->destroy();
    }
  }

  /// The piece with an index, with data that can be written if `isOpen`.
  void *find(int32_t index, bool isOpen, Piecewise *&piece) {
    if (index < 0 || static_cast<size_t>(index) >= pieces.size())
      return invalid("alula: no buffer " + std::to_string(index) +
                     " in a transfer of " + std::to_string(pieces.size()));
    piece = &pieces[static_cast<size_t>(index)];
    if (isOpen && !piece->data)
      return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                       "alula: all data of buffer " + std::to_string(index) +
                           " have come already");
    return nullptr;
  }

  void *add(const PJRT_ShapeSpec &spec, const void *layout);
  /// Puts the memory into the value, whose event is then to be finished.
  static void *close(Piecewise &piece, Ref<Value> &closed);
};

void *TransferManager::add(const PJRT_ShapeSpec &spec,
                           const void *givenLayout) {
  alula_dtype dtype = alula_dtype_from_pjrt(spec.element_type);
  auto *dims = static_cast<const int64_t *>(spec.dims);
  size_t bytes;
  if (dtype == ALULA_DTYPE_INVALID || dtype == ALULA_DTYPE_TOKEN)
    return makeError(ALULA_STATUS_UNIMPLEMENTED,
                     "alula: no array has the element type with PJRT number " +
                         std::to_string(spec.element_type));
  if (spec.num_dims > 64 || (spec.num_dims && !dims) ||
      !countBytes(dims, spec.num_dims, dtype, bytes))
    return invalid("alula: the array's shape has a negative or too large size");
  Layout layout;
  if (void *error = readDeviceLayout(givenLayout, dims, spec.num_dims,
                                     alula_dtype_get_bytes(dtype), layout))
    return error;
  alula_buffer *data;
  if (alula_error *error =
          createData(device, isOnHost(*memory), dtype, spec.num_dims,
                     getDimsInMemory(dims, spec.num_dims, layout).data(), data))
    return makeError(error);
  auto value = make<Value>(device, make<Event>());
  std::vector<int64_t> shape(dims, dims + spec.num_dims);
  auto *buffer = new Buffer(device, dtype, shape, layout, value);
  buffer->memory = memory;
  pieces.push_back(
      {data, std::move(value), buffer, std::move(shape), std::move(layout)});
  return nullptr;
}

void *TransferManager::close(Piecewise &piece, Ref<Value> &closed) {
  if (void *error = canonicalize(piece.data))
    return error;
  piece.value->set(std::exchange(piece.data, nullptr));
  closed = piece.value;
  return nullptr;
}
} // namespace

void *alula::pjrt::Client_CreateBuffersForAsyncHostToDevice(
    PJRT_Client_CreateBuffersForAsyncHostToDevice_Args *args) {
  ALULA_TAKE(Client, client);
  if (!hasField(args, &ALULA_ARGS::transfer_manager))
    return invalid("alula: the struct has no room for the transfer manager");
  auto *memory = as<Memory>(take(args, &ALULA_ARGS::memory));
  auto manager = std::make_unique<TransferManager>();
  if (void *error = findDevice(*client, nullptr, memory, manager->device))
    return error;
  manager->memory = getMemory(manager->device, memory);
  size_t count = take(args, &ALULA_ARGS::num_shape_specs);
  auto *specs = as<PJRT_ShapeSpec>(take(args, &ALULA_ARGS::shape_specs));
  if (count && !specs)
    return missing("shape_specs");
  auto **layouts =
      static_cast<void **>(take(args, &ALULA_ARGS::device_layouts));
  size_t layoutCount = take(args, &ALULA_ARGS::num_device_layouts);
  // The client's structs may be larger than ours.
  size_t stride =
      count ? std::max<size_t>(specs->struct_size, sizeof(PJRT_ShapeSpec)) : 0;
  for (size_t i = 0; i < count; ++i) {
    auto *spec = reinterpret_cast<PJRT_ShapeSpec *>(
        reinterpret_cast<char *>(specs) + i * stride);
    bool hasLayout = layouts && i < layoutCount;
    if (void *error = manager->add(*spec, hasLayout ? layouts[i] : nullptr))
      return error;
  }
  put(args, &ALULA_ARGS::transfer_manager, manager.release());
  return nullptr;
}

void *alula::pjrt::AsyncHostToDeviceTransferManager_Destroy(
    PJRT_AsyncHostToDeviceTransferManager_Destroy_Args *args) {
  delete as<TransferManager>(take(args, &ALULA_ARGS::transfer_manager));
  return nullptr;
}

namespace {
/// `closed` becomes the value if that was its last piece.
void *writePiece(TransferManager &manager, int32_t index, const void *data,
                 int64_t offset, int64_t size, bool isLast,
                 Ref<Value> &closed) {
  std::lock_guard lock(manager.mutex);
  Piecewise *piece;
  if (void *error = manager.find(index, /*isOpen=*/true, piece))
    return error;
  auto total = static_cast<int64_t>(alula_buffer_get_bytes(piece->data));
  if (offset < 0 || size < 0 || offset > total || size > total - offset)
    return invalid("alula: " + std::to_string(size) + " bytes from " +
                   std::to_string(offset) + " are not in a buffer of " +
                   std::to_string(total));
  if (size && !data)
    return missing("data");
  if (alula_error *error =
          alula_buffer_write(piece->data, static_cast<size_t>(offset), data,
                             static_cast<size_t>(size), nullptr))
    return makeError(error);
  return isLast ? TransferManager::close(*piece, closed) : nullptr;
}

void *write(TransferManager &manager, int32_t index, const void *data,
            int64_t offset, int64_t size, bool isLast) {
  Ref<Value> closed;
  void *error = writePiece(manager, index, data, offset, size, isLast, closed);
  // Without the lock: whoever waits may call us again.
  if (closed)
    closed->ready->finish();
  return error;
}
} // namespace

void *alula::pjrt::AsyncHostToDeviceTransferManager_TransferData(
    PJRT_AsyncHostToDeviceTransferManager_TransferData_Args *args) {
  ALULA_TAKE(TransferManager, transfer_manager);
  if (void *error =
          write(*transfer_manager, take(args, &ALULA_ARGS::buffer_index),
                take(args, &ALULA_ARGS::data), take(args, &ALULA_ARGS::offset),
                take(args, &ALULA_ARGS::transfer_size),
                take(args, &ALULA_ARGS::is_last_transfer)))
    return error;
  put(args, &ALULA_ARGS::done_with_h2d_transfer, getReadyEvent().leak());
  return nullptr;
}

void *alula::pjrt::AsyncHostToDeviceTransferManager_TransferLiteral(
    PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args *args) {
  ALULA_TAKE(TransferManager, transfer_manager);
  alula_dtype dtype =
      alula_dtype_from_pjrt(take(args, &ALULA_ARGS::shape_element_type));
  auto *dims =
      static_cast<const int64_t *>(take(args, &ALULA_ARGS::shape_dims));
  size_t rank = take(args, &ALULA_ARGS::shape_num_dims), bytes;
  if (dtype == ALULA_DTYPE_INVALID || rank > 64 || (rank && !dims) ||
      !countBytes(dims, rank, dtype, bytes))
    return invalid("alula: the literal has no shape of an array");
  int32_t index = take(args, &ALULA_ARGS::buffer_index);
  const void *data = take(args, &ALULA_ARGS::data);
  Piecewise *piece;
  if (void *error = transfer_manager->find(index, /*isOpen=*/false, piece))
    return error;
  if (piece->dims != std::vector<int64_t>(dims, dims + rank))
    return invalid("alula: the literal has another shape than buffer " +
                   std::to_string(index));
  size_t elementBytes = alula_dtype_get_bytes(dtype);
  std::vector<int64_t> strides;
  if (void *error = readLayout(take(args, &ALULA_ARGS::shape_layout), dims,
                               rank, elementBytes, {}, strides))
    return error;
  auto deviceStrides = getStrides(dims, rank, elementBytes, piece->layout);
  std::vector<char> turned;
  if (data && !isSamePlaces(dims, strides.data(), deviceStrides.data(), rank)) {
    turned.resize(bytes);
    copyStrided(turned.data(), deviceStrides.data(),
                static_cast<const char *>(data), strides.data(), dims, rank,
                elementBytes);
    data = turned.data();
  }
  if (void *error = write(*transfer_manager, index, data, 0,
                          static_cast<int64_t>(bytes), /*isLast=*/true))
    return error;
  put(args, &ALULA_ARGS::done_with_h2d_transfer, getReadyEvent().leak());
  return nullptr;
}

void *alula::pjrt::AsyncHostToDeviceTransferManager_RetrieveBuffer(
    PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args *args) {
  ALULA_TAKE(TransferManager, transfer_manager);
  std::lock_guard lock(transfer_manager->mutex);
  Piecewise *piece;
  int32_t index = take(args, &ALULA_ARGS::buffer_index);
  if (void *error = transfer_manager->find(index, /*isOpen=*/false, piece))
    return error;
  if (!hasField(args, &ALULA_ARGS::buffer_out))
    return invalid("alula: the struct has no room for the buffer");
  if (!piece->buffer)
    return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                     "alula: buffer " + std::to_string(index) +
                         " has been retrieved already");
  put(args, &ALULA_ARGS::buffer_out, std::exchange(piece->buffer, nullptr));
  return nullptr;
}

void *alula::pjrt::AsyncHostToDeviceTransferManager_Device(
    PJRT_AsyncHostToDeviceTransferManager_Device_Args *args) {
  ALULA_TAKE(TransferManager, transfer_manager);
  put(args, &ALULA_ARGS::device_out, transfer_manager->device);
  return nullptr;
}

void *alula::pjrt::AsyncHostToDeviceTransferManager_BufferCount(
    PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args *args) {
  ALULA_TAKE(TransferManager, transfer_manager);
  put(args, &ALULA_ARGS::buffer_count, transfer_manager->pieces.size());
  return nullptr;
}

void *alula::pjrt::AsyncHostToDeviceTransferManager_BufferSize(
    PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args *args) {
  ALULA_TAKE(TransferManager, transfer_manager);
  std::lock_guard lock(transfer_manager->mutex);
  Piecewise *piece;
  if (void *error =
          transfer_manager->find(take(args, &ALULA_ARGS::buffer_index),
                                 /*isOpen=*/false, piece))
    return error;
  const alula_buffer *data = piece->data ? piece->data : piece->value->data;
  put(args, &ALULA_ARGS::buffer_size, data ? alula_buffer_get_bytes(data) : 0);
  return nullptr;
}

void *alula::pjrt::AsyncHostToDeviceTransferManager_SetBufferError(
    PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args *args) {
  ALULA_TAKE(TransferManager, transfer_manager);
  std::lock_guard lock(transfer_manager->mutex);
  Piecewise *piece;
  if (void *error =
          transfer_manager->find(take(args, &ALULA_ARGS::buffer_index),
                                 /*isOpen=*/true, piece))
    return error;
  alula_buffer_release(std::exchange(piece->data, nullptr));
  failValue(*piece->value,
            readError(take(args, &ALULA_ARGS::error_code),
                      take(args, &ALULA_ARGS::error_message),
                      take(args, &ALULA_ARGS::error_message_size)));
  return nullptr;
}

void *alula::pjrt::AsyncHostToDeviceTransferManager_AddMetadata(
    PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args *args) {
  // Facts for a profiler: nothing to do with them.
  ALULA_TAKE(TransferManager, transfer_manager);
  return nullptr;
}
