// Runs damaged artifacts that still verify, on the null device: whatever a
// verified command list says, the host side must stay in bounds and give an
// error at worst.
//   runtime_fuzz COUNT [SEED]

#include "alula/runtime.h"
#include "artifact/fuzz/mutate.h"
#include "artifact/sample_test.h"
#include "runtime/conformance/fuzz_calls.h"

#include <atomic>
#include <csignal>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

using namespace alula::artifact;
using namespace alula::runtime;

namespace {

/// Set by the timer: a damaged loop may have no end.
int cancel = 0;

/// Buffers for the arguments of a function; false if one can't be made.
bool makeArguments(alula_instance *instance, const alula_executable *executable,
                   uint32_t function, alula_buffer **buffers, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    alula_value_info info = {};
    info.struct_bytes = sizeof info;
    alula_executable_get_argument(executable, function, i, &info);
    int64_t dims[ALULA_MAX_RANK];
    for (uint32_t j = 0; j < info.rank; ++j)
      dims[j] = info.dims[j] < 0 ? 2 : info.dims[j];
    alula_error *error =
        alula_buffer_create(instance, info.dtype, info.rank, dims, &buffers[i]);
    if (error) {
      alula_error_destroy(error);
      return false;
    }
    memset(alula_buffer_get_data(buffers[i]), int(i + 1),
           alula_buffer_get_bytes(buffers[i]));
  }
  return true;
}

/// Calls a function with small arguments; whether it came through.
bool callAs(uint32_t participant, alula_collectives *collectives,
            alula_instance *instance, alula_executable *executable,
            uint32_t function) {
  uint32_t arguments =
      alula_executable_get_argument_count(executable, function);
  uint32_t results = alula_executable_get_result_count(executable, function);
  if (arguments > 64 || results > 64)
    return false;
  alula_buffer *in[64] = {}, *out[64] = {};
  alula_call_options options = {};
  options.struct_bytes = sizeof options;
  options.cancel = &cancel;
  options.collectives = collectives;
  options.participant = participant;
  bool good = makeArguments(instance, executable, function, in, arguments);
  if (good) {
    alula_error *error =
        alula_call(executable, function, &options, in, arguments, out, results);
    good = !error;
    alula_error_destroy(error);
  }
  for (alula_buffer *buffer : in)
    alula_buffer_release(buffer);
  for (alula_buffer *buffer : out)
    alula_buffer_release(buffer);
  return good;
}

/// The same as all participants at once.
bool callFunction(alula_instance *instance, alula_executable *executable,
                  uint32_t function) {
  __atomic_store_n(&cancel, 0, __ATOMIC_RELAXED);
  itimerval soon = {{0, 0}, {0, 20000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  uint32_t count = alula_executable_get_participant_count(executable);
  if (count == 1 || count > 4)
    return callAs(0, nullptr, instance, executable, function);
  alula_collectives_options options = {};
  options.struct_bytes = sizeof options;
  options.participant_count = count;
  options.timeout_ms = 50;
  alula_collectives *collectives = nullptr;
  if (alula_collectives_create(&options, &collectives))
    return false;
  std::atomic<uint32_t> good = 0;
  auto run = [&](uint32_t participant) {
    good += callAs(participant, collectives, instance, executable, function);
  };
  std::vector<std::thread> others;
  for (uint32_t i = 1; i < count; ++i)
    others.emplace_back(run, i);
  run(0);
  for (std::thread &other : others)
    other.join();
  alula_collectives_destroy(collectives);
  return good == count;
}

alula_error *findExternal(void *, const alula_external_constant *constant,
                          const void **data) {
  static const uint64_t zeros[512] = {};
  if (constant->bytes <= sizeof zeros)
    *data = zeros;
  return nullptr;
}

} // namespace

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 20000;
  uint64_t state = makeSeed(argc > 2 ? argv[2] : "0");
  signal(SIGALRM, [](int) { __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED); });
  alula_allocator allocator = {nullptr, allocateForFuzz, releaseForFuzz};
  alula_instance_options options = {};
  options.struct_bytes = sizeof options;
  options.device = "null";
  options.thread_count = 1;
  options.allocator = &allocator;
  alula_instance *instance;
  if (alula_instance_create(&options, &instance))
    return 1;
  for (const char *name : {"scale", "log"})
    if (alula_instance_register_custom_call(instance, name, touchAll, nullptr))
      return 1;
  alula_load_options load = {};
  load.struct_bytes = sizeof load;
  load.find_external = findExternal;
  const std::string samples[] = {makeSample(), makeControlSample(),
                                 makeCollectiveSample()};
  long loaded = 0, calls = 0, good = 0;
  for (long i = 0; i < count; ++i) {
    std::string bytes = samples[i % 3];
    for (uint64_t n = nextRandom(state) % 3 + 1; n; --n)
      mutate(bytes, state);
    fixHashes(reinterpret_cast<uint8_t *>(bytes.data()), bytes.size());
    alula_executable *executable;
    alula_error *error = alula_executable_load_memory(
        instance, bytes.data(), bytes.size(), &load, &executable);
    if (error) {
      alula_error_destroy(error);
      continue;
    }
    ++loaded;
    uint32_t functions = alula_executable_get_function_count(executable);
    for (uint32_t f = 0; f < functions; ++f, ++calls)
      good += callFunction(instance, executable, f);
    alula_executable_destroy(executable);
  }
  alula_instance_destroy(instance);
  printf("%ld mutated artifacts, %ld load, %ld calls, %ld without error, %llu "
         "bytes left\n",
         count, loaded, calls, good,
         static_cast<unsigned long long>(fuzzBytes.load()));
  return fuzzBytes == 0 ? 0 : 1;
}
