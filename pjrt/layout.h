#pragma once

#include "pjrt/border.h"
#include "pjrt/strides.h"

namespace alula::pjrt {

/// The byte strides that a client's PJRT_Buffer_MemoryLayout means for an
/// array of these dims; null stands for row-major. An error for tiles and for
/// what is no layout.
void *readLayout(const void *given, const int64_t *dims, size_t rank,
                 size_t elementBytes, std::vector<int64_t> &strides);

/// An error unless the layout is the only one that our buffers have.
void *checkDeviceLayout(const void *given, const int64_t *dims, size_t rank,
                        size_t elementBytes);

} // namespace alula::pjrt
