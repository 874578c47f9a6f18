#pragma once

struct PJRT_Shardings_Extension;

namespace alula::pjrt {

/// Without it, jaxlib learns how results are divided by translating every
/// program to HLO, with all its constants.
PJRT_Shardings_Extension &getShardingsExtension();

} // namespace alula::pjrt
