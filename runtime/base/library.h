// Libraries that are parts of Alula and are loaded when they are needed.

#pragma once

namespace alula::runtime {

/// Opens a part: beside the library or program that this code is in, in `lib`
/// beside its folder, or where the system looks. NULL: dlerror says why.
void *openPart(const char *name);

} // namespace alula::runtime
