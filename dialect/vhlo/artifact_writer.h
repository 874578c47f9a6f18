#pragma once

#include "dialect/vhlo/artifact.h"

namespace alula::vhlo {

/// The bytes of an artifact. Properties are taken from their items. Equal
/// artifacts give equal bytes.
std::string writeArtifact(const Artifact &artifact);

} // namespace alula::vhlo
