#pragma once

#include <cstddef>

struct PJRT_Layouts_Extension;

namespace alula::pjrt {

/// A PJRT_Layouts_MemoryLayout: the row-major one of arrays of a rank. There
/// is one for each rank, for ever.
void *getRowMajorLayout(size_t rank);

/// Without it, jaxlib learns layouts by translating every program to HLO, which
/// takes longer than compiling a small one.
PJRT_Layouts_Extension &getLayoutsExtension();

} // namespace alula::pjrt
