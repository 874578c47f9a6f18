#pragma once

#include "pjrt/border.h"
#include "pjrt/strides.h"

namespace alula::pjrt {

/// "{0,1}": XLA's text of a layout, dimensions from minor to major.
std::string printLayout(const Layout &layout, size_t rank);
/// Of that text, or of none for row-major.
Layout parseLayout(std::string_view text);

/// The byte strides that a client's PJRT_Buffer_MemoryLayout means for an
/// array of these dims; null stands for `otherwise`. An error for tiles and for
/// what is no layout.
void *readLayout(const void *given, const int64_t *dims, size_t rank,
                 size_t elementBytes, const Layout &otherwise,
                 std::vector<int64_t> &strides);

/// The layout that the client wants an array of ours to have, row-major unless
/// it says another one. An error also for gaps between elements.
void *readDeviceLayout(const void *given, const int64_t *dims, size_t rank,
                       size_t elementBytes, Layout &layout);

} // namespace alula::pjrt
