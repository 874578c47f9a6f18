#include "runtime/device/cpu/variants.h"

#include "alula/kernel_abi.h"

#include <cstring>

namespace alula::runtime {

const char *findMissing(const artifact::Artifact &artifact,
                        const alula_file_variant &variant,
                        const Processor &processor) {
  const char *target = artifact.getString(variant.target);
  if (strcmp(target, getHostTarget()) != 0)
    return target;
  if (variant.kernel_abi != ALULA_KERNEL_ABI)
    return "another kernel ABI";
  for (uint32_t i = 0; i < variant.feature_count; ++i) {
    const char *feature =
        artifact.getString(artifact.lists[variant.first_feature + i]);
    if (!hasFeature(processor, feature))
      return feature;
  }
  return nullptr;
}

uint32_t findVariant(const artifact::Artifact &artifact,
                     const Processor &processor, const char *wanted) {
  uint32_t index = 0;
  for (; index < artifact.variants.size; ++index) {
    const alula_file_variant &variant = artifact.variants[index];
    if ((!wanted || strcmp(wanted, artifact.getString(variant.name)) == 0) &&
        !findMissing(artifact, variant, processor))
      break;
  }
  return index;
}

} // namespace alula::runtime
