// libFuzzer entry of reader, verifier and printer, and of the reader of
// safetensors. Without libFuzzer the same file is a program that mutates the
// samples by itself:
//   artifact_fuzz COUNT [SEED]

#include "artifact/fuzz/mutate.h"
#include "artifact/printer.h"
#include "artifact/safetensors.h"
#include "artifact/sample_test.h"

#include <cstdlib>
#include <cstring>

using namespace alula::artifact;

/// Whether the bytes are a safetensors file; looks for a tensor in it.
static bool tryTensors(const uint8_t *bytes, size_t size) {
  auto *copy = static_cast<uint8_t *>(malloc(size));
  memcpy(copy, bytes, size);
  Safetensors file;
  SafetensorsTensor tensor;
  Diagnostic diagnostic;
  bool good = openSafetensors(copy, size, file, diagnostic);
  if (good && findTensor(file, "constant.0", tensor) && tensor.bytes) {
    // Whatever the bytes are: they must be there.
    [[maybe_unused]] volatile uint8_t ends =
        tensor.data[0] ^ tensor.data[tensor.bytes - 1];
  }
  free(copy);
  return good;
}

/// Whether the bytes are an artifact; prints it if so.
static bool tryBytes(const uint8_t *bytes, size_t size) {
  // On the heap and of exactly this size: every overrun shows under ASan.
  auto *copy = static_cast<uint8_t *>(malloc(size));
  memcpy(copy, bytes, size);
  fixHashes(copy, size);
  Artifact artifact;
  Diagnostic diagnostic;
  bool good = openArtifact(copy, size, {}, artifact, diagnostic) &&
              verifyArtifact(artifact, diagnostic);
  if (good && printText(artifact).empty())
    abort();
  free(copy);
  return good;
}

#ifdef ALULA_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size) {
    tryBytes(bytes, size);
    tryTensors(bytes, size);
  }
  return 0;
}

#else

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 100000;
  uint64_t state = makeSeed(argc > 2 ? argv[2] : "0");
  ArtifactWriter weights;
  for (char fill : {'a', 'b'}) {
    std::string bytes(64, fill);
    weights.addConstant(bytes.data(), bytes.size(),
                        weights.addType(ALULA_DTYPE_F32, {4, 4}));
  }
  const std::string tensors = weights.externalizeConstants("w", 1);
  const std::string samples[] = {makeSample(),       makeControlSample(),
                                 makeImportSample(), makeCollectiveSample(),
                                 makeBundleSample(), tensors};
  long good[6] = {};
  for (long i = 0; i < count; ++i) {
    std::string bytes = samples[i % 6];
    for (uint64_t n = nextRandom(state) % 4 + 1; n; --n)
      mutate(bytes, state);
    good[i % 6] += (i % 6 == 5 ? tryTensors : tryBytes)(
        reinterpret_cast<uint8_t *>(bytes.data()), bytes.size());
  }
  printf("%ld mutated artifacts and safetensors files, %ld + %ld + %ld + %ld + "
         "%ld + "
         "%ld are still good\n",
         count, good[0], good[1], good[2], good[3], good[4], good[5]);
  return 0;
}

#endif
