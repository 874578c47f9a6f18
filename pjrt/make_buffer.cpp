// Buffers that are made in other ways than from a host's array: views, empty
// ones, errors, promises.

#include "pjrt/functions.h"
#include "pjrt/layout.h"
#include "pjrt/move_value.h"
#include "pjrt/objects.h"

using namespace alula::pjrt;

namespace {
/// What the client asks for.
struct Wanted {
  Device *device;
  alula_dtype dtype;
  std::vector<int64_t> dims;
  size_t bytes;
  Layout layout;

  std::vector<int64_t> getDimsInMemory() const {
    return alula::pjrt::getDimsInMemory(dims.data(), dims.size(), layout);
  }
};

void *readWanted(Device *device, uint32_t type, const void *dims, size_t rank,
                 const void *layout, Wanted &wanted) {
  if (!device)
    return missing("memory");
  wanted.device = device;
  wanted.dtype = alula_dtype_from_pjrt(type);
  if (wanted.dtype == ALULA_DTYPE_INVALID || wanted.dtype == ALULA_DTYPE_TOKEN)
    return makeError(ALULA_STATUS_UNIMPLEMENTED,
                     "alula: no array has the element type with PJRT number " +
                         std::to_string(type));
  if (rank > 64 || (rank && !dims))
    return invalid("alula: an array has at most 64 dimensions, this one has " +
                   std::to_string(rank));
  auto *first = static_cast<const int64_t *>(dims);
  wanted.dims.assign(first, first + rank);
  if (!countBytes(first, rank, wanted.dtype, wanted.bytes))
    return invalid("alula: the array's shape has a negative or too large size");
  return readDeviceLayout(layout, first, rank,
                          alula_dtype_get_bytes(wanted.dtype), wanted.layout);
}

Buffer *makePromise(const Wanted &wanted, Ref<Value> &value) {
  value = make<Value>(wanted.device, make<Event>());
  return new Buffer(wanted.device, wanted.dtype, wanted.dims, wanted.layout,
                    value);
}

/// The client's memory, and the callback for its last use.
struct View {
  void (*onDelete)(void *memory, void *user);
  void *user;

  static void release(void *view, void *data) {
    std::unique_ptr<View> self(as<View>(view));
    if (self->onDelete)
      self->onDelete(data, self->user);
  }
};
} // namespace

void *alula::pjrt::Client_CreateViewOfDeviceBuffer(
    PJRT_Client_CreateViewOfDeviceBuffer_Args *args) {
  ALULA_TAKE(Client, client);
  Device *device;
  if (void *error = findDevice(*client, take(args, &ALULA_ARGS::device),
                               take(args, &ALULA_ARGS::memory), device))
    return error;
  Wanted wanted;
  if (void *error = readWanted(device, take(args, &ALULA_ARGS::element_type),
                               take(args, &ALULA_ARGS::dims),
                               take(args, &ALULA_ARGS::num_dims),
                               take(args, &ALULA_ARGS::layout), wanted))
    return error;
  void *memory = take(args, &ALULA_ARGS::device_buffer_ptr);
  if (!memory && wanted.bytes)
    return missing("device_buffer_ptr");
  auto onDelete = reinterpret_cast<void (*)(void *, void *)>(
      take(args, &ALULA_ARGS::on_delete_callback));
  auto view = std::make_unique<View>(
      View{onDelete, take(args, &ALULA_ARGS::on_delete_callback_arg)});
  alula_buffer *data;
  if (alula_error *error = alula_buffer_wrap(
          wanted.device->instance.get(), wanted.dtype,
          static_cast<uint32_t>(wanted.dims.size()),
          wanted.getDimsInMemory().data(), memory,
          alula_dtype_get_packed_bytes(wanted.dtype, wanted.bytes),
          View::release, view.get(), &data))
    return makeError(error);
  view.release();
  // The client may show the memory to others: it is not written in place.
  Buffer *buffer =
      makeBuffer(wanted.device, data, wanted.layout, /*isReadOnly=*/true);
  buffer->memory = getMemory(wanted.device, take(args, &ALULA_ARGS::memory));
  put(args, &ALULA_ARGS::buffer, buffer);
  return nullptr;
}

void *alula::pjrt::Client_CreateUninitializedBuffer(
    PJRT_Client_CreateUninitializedBuffer_Args *args) {
  ALULA_TAKE(Client, client);
  Device *device;
  if (void *error = findDevice(*client, take(args, &ALULA_ARGS::device),
                               take(args, &ALULA_ARGS::memory), device))
    return error;
  Wanted wanted;
  if (void *error =
          readWanted(device, take(args, &ALULA_ARGS::shape_element_type),
                     take(args, &ALULA_ARGS::shape_dims),
                     take(args, &ALULA_ARGS::shape_num_dims),
                     take(args, &ALULA_ARGS::shape_layout), wanted))
    return error;
  Memory *memory = getMemory(wanted.device, take(args, &ALULA_ARGS::memory));
  alula_buffer *data;
  if (alula_error *error =
          createData(wanted.device, isOnHost(*memory), wanted.dtype,
                     wanted.dims.size(), wanted.getDimsInMemory().data(), data))
    return makeError(error);
  if (void *error = canonicalize(data)) {
    alula_buffer_release(data);
    return error;
  }
  Buffer *buffer = makeBuffer(wanted.device, data, wanted.layout);
  buffer->memory = memory;
  put(args, &ALULA_ARGS::buffer, buffer);
  return nullptr;
}

void *alula::pjrt::Client_CreateErrorBuffer(
    PJRT_Client_CreateErrorBuffer_Args *args) {
  ALULA_TAKE(Client, client);
  ALULA_TAKE(Memory, memory);
  Wanted wanted;
  if (void *error = readWanted(memory->device,
                               take(args, &ALULA_ARGS::shape_element_type),
                               take(args, &ALULA_ARGS::shape_dims),
                               take(args, &ALULA_ARGS::shape_num_dims),
                               take(args, &ALULA_ARGS::shape_layout), wanted))
    return error;
  Ref<Value> value;
  Buffer *buffer = makePromise(wanted, value);
  buffer->memory = memory;
  failValue(*value, readError(take(args, &ALULA_ARGS::error_code),
                              take(args, &ALULA_ARGS::error_message),
                              take(args, &ALULA_ARGS::error_message_size)));
  put(args, &ALULA_ARGS::buffer, buffer);
  return nullptr;
}

namespace {
/// A promise of a buffer, until another one keeps it.
struct Alias {
  Wanted wanted;
  Ref<Value> value;

  bool isKeptBy(const Buffer &buffer) const {
    return wanted.dtype == buffer.dtype && wanted.dims == buffer.dims &&
           wanted.layout == buffer.layout;
  }
};
} // namespace

void *alula::pjrt::Client_CreateAliasBuffer(
    PJRT_Client_CreateAliasBuffer_Args *args) {
  ALULA_TAKE(Client, client);
  ALULA_TAKE(Memory, memory);
  if (!hasField(args, &ALULA_ARGS::fulfill_alias_buffer_cb))
    return invalid("alula: the struct has no room for the callback");
  Wanted wanted;
  if (void *error = readWanted(memory->device,
                               take(args, &ALULA_ARGS::shape_element_type),
                               take(args, &ALULA_ARGS::shape_dims),
                               take(args, &ALULA_ARGS::shape_num_dims),
                               take(args, &ALULA_ARGS::shape_layout), wanted))
    return error;
  Ref<Value> value;
  Buffer *made = makePromise(wanted, value);
  made->memory = memory;
  put(args, &ALULA_ARGS::alias_buffer, made);
  // Which the fulfilment takes over.
  put(args, &ALULA_ARGS::fulfill_alias_buffer_cb,
      new Alias{std::move(wanted), std::move(value)});
  return nullptr;
}

void *alula::pjrt::Client_FulfillAliasBuffer(
    PJRT_Client_FulfillAliasBuffer_Args *args) {
  ALULA_TAKE(Client, client);
  ALULA_TAKE(Alias, fulfill_alias_buffer_cb);
  std::unique_ptr<Alias> alias(fulfill_alias_buffer_cb);
  Ref<Value> to = alias->value;
  if (uint32_t code = take(args, &ALULA_ARGS::status_code)) {
    failValue(*to, readError(code, take(args, &ALULA_ARGS::error_message),
                             take(args, &ALULA_ARGS::error_message_size)));
    return nullptr;
  }
  auto *buffer = as<Buffer>(take(args, &ALULA_ARGS::buffer));
  bool isRight = buffer && alias->isKeptBy(*buffer);
  Ref<Value> from = isRight ? buffer->acquire() : Ref<Value>();
  if (!from) {
    void *error = isRight  ? deletedError()
                  : buffer ? invalid("alula: the buffer has another shape or "
                                     "layout than the one that was promised")
                           : missing("buffer");
    failValue(*to, *as<Error>(error));
    return error;
  }
  Event &ready = *from->ready;
  ready.onReady([from = std::move(from), to](const Error *) mutable {
    copyValue(std::move(from), *to);
  });
  return nullptr;
}

namespace {
/// A donated value that becomes another one when the client says so.
struct Dependency {
  Ref<Value> from, to;

  static void end(PJRT_Buffer_DonateWithControlDependency_Callback_Args *args) {
    if (!args)
      return;
    std::unique_ptr<Dependency> self(
        as<Dependency>(take(args, &ALULA_ARGS::callback_data)));
    if (!self)
      return;
    if (uint32_t code = take(args, &ALULA_ARGS::error_code))
      return failValue(*self->to,
                       readError(code, take(args, &ALULA_ARGS::error_message),
                                 take(args, &ALULA_ARGS::error_message_size)));
    Event &ready = *self->from->ready;
    ready.onReady([from = std::move(self->from),
                   to = std::move(self->to)](const Error *) mutable {
      moveValue(std::move(from), *to);
    });
  }
};
} // namespace

void *alula::pjrt::Buffer_DonateWithControlDependency(
    PJRT_Buffer_DonateWithControlDependency_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  if (!hasField(args, &ALULA_ARGS::out_buffer))
    return invalid("alula: the struct has no room for the new buffer");
  Ref<Value> from = buffer->acquire();
  if (!from || !buffer->takeAway(from.get()))
    return deletedError();
  Wanted wanted = {buffer->device, buffer->dtype, buffer->dims, 0,
                   buffer->layout};
  Ref<Value> to;
  Buffer *made = makePromise(wanted, to);
  made->memory = buffer->memory;
  put(args, &ALULA_ARGS::out_buffer, made);
  put(args, &ALULA_ARGS::callback_data,
      new Dependency{std::move(from), std::move(to)});
  put(args, &ALULA_ARGS::dependency_ready_callback,
      reinterpret_cast<void *>(&Dependency::end));
  return nullptr;
}
