#pragma once

#include "dialect/vhlo/artifact.h"

namespace alula::vhlo {

/// Decodes the bytes of one attribute or type, which `cursor` spans, into
/// `node`. Types must be decoded before the attributes that refer to them.
[[nodiscard]] bool readNode(Artifact &artifact, ByteCursor &cursor, Node &node,
                            bool hasCustomEncoding);

} // namespace alula::vhlo
