#include "pjrt/move_value.h"

using namespace alula::pjrt;

void alula::pjrt::failValue(Value &to, Error error) {
  to.ready->finish(std::make_unique<Error>(std::move(error)));
}

alula_error *alula::pjrt::createData(Device *device, bool isOnHost,
                                     alula_dtype dtype, size_t rank,
                                     const int64_t *dims, alula_buffer *&data) {
  return (isOnHost ? alula_buffer_create_on_host : alula_buffer_create)(
      device->instance.get(), dtype, static_cast<uint32_t>(rank), dims, &data);
}

void alula::pjrt::copyValue(Ref<Value> from, Value &to) {
  if (const Error *error = from->ready->getError())
    return failValue(to, *error);
  alula_buffer *data = nullptr;
  if (alula_error *error = createData(
          to.device, to.isForHost, alula_buffer_get_dtype(from->data),
          alula_buffer_get_rank(from->data), alula_buffer_get_dims(from->data),
          data)) {
    std::unique_ptr<Error> copied(as<Error>(makeError(error)));
    return failValue(to, *copied);
  }
  if (alula_error *error = alula_buffer_copy(
          data, 0, from->data, 0, alula_buffer_get_bytes(data), nullptr)) {
    alula_buffer_release(data);
    std::unique_ptr<Error> copied(as<Error>(makeError(error)));
    return failValue(to, *copied);
  }
  to.set(data);
  from.reset();
  to.ready->finish();
}

void alula::pjrt::moveValue(Ref<Value> from, Value &to) {
  if (from->ready->getError() || !from->isUnique())
    return copyValue(std::move(from), to);
  alula_buffer_retain(from->data);
  to.isReadOnly = from->isReadOnly;
  to.isMisaligned = from->isMisaligned;
  to.set(from->data);
  from.reset();
  to.ready->finish();
}
