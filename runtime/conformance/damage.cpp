// Loads every damaged form of small artifacts:
//   alula-damage FILE...
// Every byte changed to each of its 255 other values, and every truncation,
// must be an error with a code and a sentence. Then the same changes with
// hashes that are right, on the null device, which maps no code: whatever the
// tables say is an error or loads.

#include "alula/runtime.h"
#include "artifact/fuzz/mutate.h"

#include <cstdio>
#include <vector>

using namespace alula::artifact;

namespace {

struct Damage {
  alula_instance *instance, *null;
  uint64_t errors = 0, loads = 0;

  /// Whether it loads; an error without a reason ends the program.
  bool load(alula_instance *on, const uint8_t *bytes, size_t size) {
    alula_load_options options = {};
    options.struct_bytes = sizeof options;
    options.flags = ALULA_LOAD_BORROW;
    alula_executable *executable = nullptr;
    alula_error *error =
        alula_executable_load_memory(on, bytes, size, &options, &executable);
    if (!error) {
      ++loads;
      alula_executable_destroy(executable);
      return true;
    }
    if (executable || alula_error_get_code(error) == ALULA_STATUS_OK ||
        !*alula_error_get_message(error)) {
      printf("an error without a reason, or with a result\n");
      abort();
    }
    ++errors;
    alula_error_destroy(error);
    return false;
  }
};

/// A copy at a multiple of 64 and of exactly this size.
uint8_t *copyBytes(const uint8_t *bytes, size_t size) {
  void *copy = nullptr;
  if (posix_memalign(&copy, 64, size ? size : 1) != 0)
    abort();
  memcpy(copy, bytes, size);
  return static_cast<uint8_t *>(copy);
}

bool damageFile(Damage &damage, const char *path) {
  std::vector<uint8_t> original(1 << 16);
  FILE *file = fopen(path, "rb");
  size_t size = file ? fread(original.data(), 1, original.size(), file) : 0;
  if (file)
    fclose(file);
  uint8_t *bytes = copyBytes(original.data(), size);
  if (size == original.size() || !damage.load(damage.instance, bytes, size)) {
    printf("%s: is no small artifact\n", path);
    return false;
  }
  damage.loads = 0;
  for (size_t at = 0; at < size; ++at) {
    for (int change = 1; change < 256; ++change) {
      bytes[at] = uint8_t(original[at] ^ change);
      damage.load(damage.instance, bytes, size);
    }
    bytes[at] = original[at];
  }
  free(bytes);
  for (size_t length = 0; length < size; ++length) {
    bytes = copyBytes(original.data(), length);
    damage.load(damage.instance, bytes, length);
    free(bytes);
  }
  printf(
      "%s: %zu bytes, %llu changes and truncations: %llu errors, %llu load\n",
      path, size, static_cast<unsigned long long>(size * 256),
      static_cast<unsigned long long>(damage.errors),
      static_cast<unsigned long long>(damage.loads));
  bool isGood = damage.loads == 0 && damage.errors == size * 256;
  damage.errors = damage.loads = 0;
  bytes = copyBytes(original.data(), size);
  for (size_t at = 0; at < size; ++at)
    for (int change = 1; change < 256; ++change) {
      memcpy(bytes, original.data(), size);
      bytes[at] = uint8_t(original[at] ^ change);
      fixHashes(bytes, size);
      damage.load(damage.null, bytes, size);
    }
  free(bytes);
  printf("%s: with right hashes: %llu errors, %llu load\n", path,
         static_cast<unsigned long long>(damage.errors),
         static_cast<unsigned long long>(damage.loads));
  damage.errors = damage.loads = 0;
  return isGood;
}

} // namespace

int main(int argc, char **argv) {
  Damage damage = {};
  alula_instance_options options = {};
  options.struct_bytes = sizeof options;
  options.thread_count = 1;
  if (alula_instance_create(&options, &damage.instance))
    return 1;
  options.device = "null";
  if (alula_instance_create(&options, &damage.null))
    return 1;
  bool isGood = argc > 1;
  for (int i = 1; i < argc; ++i)
    isGood &= damageFile(damage, argv[i]);
  alula_instance_destroy(damage.instance);
  alula_instance_destroy(damage.null);
  return isGood ? 0 : 1;
}
