// For libFuzzer: build with -fsanitize=fuzzer,address and run on a folder of
// artifacts. Covers the container and the neutral form, which know no MLIR.

#include "dialect/vhlo/artifact.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  alula::vhlo::Artifact artifact;
  alula::vhlo::Error error;
  std::vector<alula::vhlo::NodeRef> order;
  if (alula::vhlo::readArtifact({data, size}, artifact, error))
    (void)alula::vhlo::orderNodes(artifact, order, error);
  return 0;
}
