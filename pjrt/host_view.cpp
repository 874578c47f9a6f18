#include "pjrt/host_view.h"

#include <utility>

using namespace alula::pjrt;

namespace {
size_t countIn(const alula_buffer *buffer) {
  size_t count = 1;
  for (uint32_t i = 0; i < alula_buffer_get_rank(buffer); ++i)
    count *= static_cast<size_t>(alula_buffer_get_dims(buffer)[i]);
  return count;
}
} // namespace

bool HostView::isPacked() const {
  return alula_dtype_get_packing(alula_buffer_get_dtype(buffer)) > 1;
}

HostView::HostView(alula_buffer *buffer, Use use)
    : buffer(buffer), use(use),
      memory(static_cast<char *>(alula_buffer_get_data(buffer))),
      count(countIn(buffer)) {
  if (memory && !isPacked())
    return;
  alula_dtype dtype = alula_buffer_get_dtype(buffer);
  copy.reset(new char[count * alula_dtype_get_bytes(dtype)]());
  memory = copy.get();
  if (use == Use::write)
    return;
  size_t bytes = alula_buffer_get_bytes(buffer);
  if (!isPacked()) {
    error = alula_buffer_read(buffer, 0, memory, bytes, nullptr);
    return;
  }
  std::unique_ptr<char[]> packed(new char[bytes]());
  error = alula_buffer_read(buffer, 0, packed.get(), bytes, nullptr);
  alula_dtype_unpack(dtype, packed.get(), memory, 0, count);
}

HostView::~HostView() { alula_error_destroy(error); }

alula_error *HostView::finish() {
  if (error || !copy || use == Use::read)
    return std::exchange(error, nullptr);
  size_t bytes = alula_buffer_get_bytes(buffer);
  if (!isPacked())
    return alula_buffer_write(buffer, 0, memory, bytes, nullptr);
  std::unique_ptr<char[]> packed(new char[bytes]());
  alula_dtype_pack(alula_buffer_get_dtype(buffer), memory, packed.get(), count);
  return alula_buffer_write(buffer, 0, packed.get(), bytes, nullptr);
}
