#pragma once

#include "dialect/vhlo/artifact.h"

namespace alula::vhlo {

/// Reads the operations, which `cursor` spans.
[[nodiscard]] bool readIr(Artifact &artifact, ByteCursor &cursor);

} // namespace alula::vhlo
