// Which variant of an artifact a CPU runs.

#pragma once

#include "artifact/reader.h"
#include "runtime/device/cpu/features.h"

namespace alula::runtime {

/// What a variant needs and the CPU has not; NULL if it fits.
const char *findMissing(const artifact::Artifact &artifact,
                        const alula_file_variant &variant,
                        const Processor &processor);

/// The first that fits, which is the best since they stand best first, or the
/// one called `wanted` if that is not NULL and fits; else the number of
/// variants.
uint32_t findVariant(const artifact::Artifact &artifact,
                     const Processor &processor, const char *wanted);

} // namespace alula::runtime
