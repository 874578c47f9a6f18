#include "pjrt/host_view.h"

#include <utility>

using namespace alula::pjrt;

HostView::HostView(alula_buffer *buffer, Use use)
    : buffer(buffer), use(use),
      memory(static_cast<char *>(alula_buffer_get_data(buffer))) {
  if (memory)
    return;
  size_t bytes = alula_buffer_get_bytes(buffer);
  copy.reset(new char[bytes]());
  memory = copy.get();
  if (use != Use::write)
    error = alula_buffer_read(buffer, 0, memory, bytes, nullptr);
}

HostView::~HostView() { alula_error_destroy(error); }

alula_error *HostView::finish() {
  if (error || !copy || use == Use::read)
    return std::exchange(error, nullptr);
  return alula_buffer_write(buffer, 0, memory, alula_buffer_get_bytes(buffer),
                            nullptr);
}
