#pragma once

#include <string>

struct PJRT_Layouts_Extension;

namespace alula::pjrt {

/// A PJRT_Layouts_MemoryLayout, the one with this text, for ever.
void *getLayoutObject(const std::string &text);

/// Without it, jaxlib learns layouts by translating every program to HLO, which
/// takes longer than compiling a small one.
PJRT_Layouts_Extension &getLayoutsExtension();

} // namespace alula::pjrt
