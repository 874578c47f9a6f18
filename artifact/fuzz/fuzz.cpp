// libFuzzer entry of reader, verifier and printer. Without libFuzzer the same
// file is a program that mutates the sample by itself:
//   artifact_fuzz COUNT [SEED]

#include "artifact/fuzz/mutate.h"
#include "artifact/printer.h"
#include "artifact/sample_test.h"

#include <cstdlib>
#include <cstring>

using namespace alula::artifact;

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
  if (size)
    tryBytes(bytes, size);
  return 0;
}

#else

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 100000;
  uint64_t state = makeSeed(argc > 2 ? argv[2] : "0");
  const std::string sample = makeSample();
  long good = 0;
  for (long i = 0; i < count; ++i) {
    std::string bytes = sample;
    for (uint64_t n = nextRandom(state) % 4 + 1; n; --n)
      mutate(bytes, state);
    good += tryBytes(reinterpret_cast<uint8_t *>(bytes.data()), bytes.size());
  }
  printf("%ld mutated artifacts, %ld still verify\n", count, good);
  return 0;
}

#endif
