// Every allocation that can fail, and threads with little stack.

#include "runtime/conformance/suite.h"

#include <atomic>
#include <pthread.h>

namespace {

/// Allocations of this process that live, and the number of the one that
/// fails: 0 is none.
std::atomic<long> living, failing, seen;

bool mayAllocate() {
  long number = ++seen;
  return failing == 0 || number != failing;
}

} // namespace

// Wrapped by the linker; what the C and C++ libraries do inside stays as it is.
extern "C" {
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *memory);

void *__wrap_malloc(size_t size) {
  void *memory = mayAllocate() ? __real_malloc(size) : nullptr;
  living += memory != nullptr;
  return memory;
}
void *__wrap_calloc(size_t count, size_t size) {
  void *memory = mayAllocate() ? __real_calloc(count, size) : nullptr;
  living += memory != nullptr;
  return memory;
}
void *__wrap_realloc(void *old, size_t size) {
  void *memory = mayAllocate() ? __real_realloc(old, size) : nullptr;
  living += memory && !old;
  return memory;
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  void *memory =
      mayAllocate() ? __real_aligned_alloc(alignment, size) : nullptr;
  living += memory != nullptr;
  return memory;
}
char *__wrap_strdup(const char *text) {
  char *copy = mayAllocate() ? __real_strdup(text) : nullptr;
  living += copy != nullptr;
  return copy;
}
void __wrap_free(void *memory) {
  living -= memory != nullptr;
  __real_free(memory);
}
}

namespace alula::runtime {
namespace {

/// Errors of one run of `useEverything`; the first code and how many.
struct Outcome {
  int errors = 0;
  alula_status_code code = ALULA_STATUS_OK;

  bool note(alula_error *error) {
    if (error) {
      ++errors;
      code = alula_error_get_code(error);
      alula_error_destroy(error);
    }
    return !error;
  }
};

alula_error *negate(void *, const alula_custom_call_args *args) {
  for (uint64_t i = 0; i < args->operands[0].bytes / 4; ++i)
    static_cast<float *>(args->results[0].data)[i] =
        -static_cast<float *>(args->operands[0].data)[i];
  return nullptr;
}

/// A program with a kernel on several threads, dynamic sizes, memory of its
/// own, a global, a constant outside that must be copied, a custom call,
/// collectives.
std::string build() {
  KernelFile file;
  uint32_t any = file.addType(ALULA_DTYPE_F32, {Dim::dynamic("n")});
  uint32_t number = file.addType(ALULA_DTYPE_I64, {});
  uint32_t global = file.addGlobal("g", number, /*isMutable=*/true);
  uint32_t outside = file.addExternalConstant("w", "t", number);
  uint32_t call = file.addCustomCall({.name = "negate",
                                      .operandTypes = {any},
                                      .resultTypes = {any},
                                      .config = "",
                                      .attributes = ""});
  FunctionWriter &main = file.addFunction("main");
  main.addArgument("x", any);
  main.addResult("y", any);
  main.addResult("n", number);
  Operand n = main.argumentDim(0, 0), zero = main.immediate(0),
          one = main.immediate(1), eight = main.immediate(8);
  Operand bytes = main.compute(ALULA_OPERATOR_MUL, n, main.immediate(4));
  uint32_t t = main.local(), x = main.argument(0), slot = main.global(global);
  main.bindResult(0, {n});
  uint32_t y = main.result(0);
  main.alloc(t, bytes);
  main.dispatch(file.addF32, main.immediate(4), one, one, {x, x, t}, {n});
  main.customCall(call, {t}, {y}, {n}, {n});
  main.copy(slot, zero, main.constant(outside), zero, eight);
  main.defineGlobal(global);
  main.copy(main.result(1), zero, slot, zero, eight);
  // Two of a device that is alone.
  FunctionWriter &exchange = file.addFunction("exchange");
  exchange.setArenaBytes(192);
  uint32_t a = exchange.arena(0, 8), b = exchange.arena(64, 8),
           c = exchange.arena(128, 8);
  exchange.store(ALULA_DTYPE_I64, a, zero, eight);
  Operand sum = exchange.collectiveStart(
      file.addCollective({.kind = ALULA_COLLECTIVE_ALL_REDUCE,
                          .reduction = ALULA_REDUCTION_SUM,
                          .dtype = ALULA_DTYPE_I64,
                          .groups = file.addGroups(1, {{0}}),
                          .count = 1}),
      a, b);
  Operand moved = exchange.collectiveStart(
      file.addCollective({.kind = ALULA_COLLECTIVE_PERMUTE,
                          .dtype = ALULA_DTYPE_I64,
                          .groups = file.addGroups(1, {{0, 0}}),
                          .count = 1}),
      a, c);
  exchange.collectiveDone(sum);
  exchange.collectiveDone(moved);
  return file.finish();
}

/// The whole life of the runtime's objects. Returns at the first error, with
/// everything released.
Outcome useEverything(const std::string &bytes, const char *device) {
  Outcome outcome;
  alula_instance *instance = nullptr, *other = nullptr;
  alula_executable *model = nullptr, *shared = nullptr;
  alula_state *state = nullptr;
  alula_buffer *x = nullptr, *results[2] = {}, *more[2] = {};
  alula_buffer *y = nullptr, *others[2] = {};
  alula_event *event = nullptr;
  alula_collectives *collectives = nullptr;
  alula_collectives_options meeting = {};
  meeting.struct_bytes = sizeof meeting;
  meeting.participant_count = 1;
  alula_instance_options options = {};
  options.struct_bytes = sizeof options;
  options.device = device;
  options.thread_count = 3;
  alula_load_options load = {};
  load.struct_bytes = sizeof load;
  load.find_external = [](void *, const alula_external_constant *,
                          const void **data) -> alula_error * {
    alignas(8) static const char memory[9] = {0, 5};
    *data = memory + 1;
    return nullptr;
  };
  int64_t dims[] = {1000}, value = 7;
  std::vector<float> zeros(1000);
  alula_call_options callOptions = {};
  callOptions.struct_bytes = sizeof callOptions;
  auto run = [&] {
    if (!outcome.note(alula_instance_create(&options, &instance)) ||
        !outcome.note(alula_instance_register_custom_call(instance, "negate",
                                                          negate, nullptr)) ||
        !outcome.note(alula_executable_load_memory(
            instance, bytes.data(), bytes.size(), &load, &model)) ||
        !outcome.note(alula_state_create(model, &state)) ||
        !outcome.note(alula_global_set(model, state, 0, &value, 8)) ||
        !outcome.note(
            alula_buffer_create(instance, ALULA_DTYPE_F32, 1, dims, &x)))
      return;
    if (!outcome.note(alula_buffer_write(x, 0, zeros.data(), 4000, nullptr)) ||
        !outcome.note(alula_buffer_copy(x, 0, x, 2000, 2000, nullptr)))
      return;
    options.thread_count = 0;
    options.share_threads = instance;
    bool isShared =
        outcome.note(alula_instance_create(&options, &other)) &&
        outcome.note(alula_instance_register_custom_call(other, "negate",
                                                         negate, nullptr)) &&
        outcome.note(alula_executable_share(model, other, &shared)) &&
        outcome.note(
            alula_buffer_create(other, ALULA_DTYPE_F32, 1, dims, &y)) &&
        outcome.note(alula_buffer_copy(y, 0, x, 0, 4000, nullptr)) &&
        outcome.note(alula_call(shared, 0, nullptr, &y, 1, others, 2));
    if (!isShared)
      return;
    callOptions.state = state;
    if (!outcome.note(alula_call(model, 0, &callOptions, &x, 1, results, 2)) ||
        !outcome.note(
            alula_call_async(model, 0, nullptr, &x, 1, more, 2, &event)))
      return;
    if (!outcome.note(alula_event_wait(event)))
      return;
    alula_event_destroy(event);
    event = nullptr;
    if (!outcome.note(
            alula_buffer_read(more[0], 0, zeros.data(), 4000, &event)) ||
        !outcome.note(alula_event_wait(event)) ||
        !outcome.note(alula_collectives_create(&meeting, &collectives)))
      return;
    callOptions.collectives = collectives;
    outcome.note(alula_call(model, 1, &callOptions, nullptr, 0, nullptr, 0));
  };
  run();
  if (event)
    alula_event_destroy(event);
  for (alula_buffer *buffer :
       {x, y, results[0], results[1], more[0], more[1], others[0], others[1]})
    alula_buffer_release(buffer);
  alula_collectives_destroy(collectives);
  alula_state_destroy(state);
  alula_executable_destroy(model);
  alula_executable_destroy(shared);
  alula_instance_destroy(instance);
  alula_instance_destroy(other);
  return outcome;
}

class OutOfMemory : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Device, OutOfMemory, testing::Values("cpu", "afar"),
                         [](const auto &info) { return info.param; });

TEST_P(OutOfMemory, EveryAllocation) {
  std::string bytes = build();
  failing = seen = 0;
  Outcome good = useEverything(bytes, GetParam());
  ASSERT_EQ(good.errors, 0) << good.code;
  long count = seen, errors = 0;
  for (long n = 1; n <= count; ++n) {
    failing = n;
    seen = 0;
    long before = living;
    Outcome outcome = useEverything(bytes, GetParam());
    failing = 0;
    EXPECT_EQ(living, before) << "allocation " << n;
    // What only serves speed, as threads, can do without.
    EXPECT_LE(outcome.errors, 1) << n;
    if (outcome.errors)
      EXPECT_EQ(outcome.code, ALULA_STATUS_RESOURCE_EXHAUSTED) << n;
    errors += outcome.errors;
  }
  printf("%ld allocations, %ld errors\n", count, errors);
  EXPECT_GE(errors, count / 2);
}

// ---- Stack ----

/// Loops inside loops, and a kernel in the innermost.
std::string buildDeep(uint32_t depth) {
  KernelFile file;
  FunctionWriter &main = file.addFunction("main");
  main.addArgument("x", file.addType(ALULA_DTYPE_F32, {4}));
  main.addResult("y", file.addType(ALULA_DTYPE_F32, {4}));
  Operand one = main.immediate(1);
  for (uint32_t i = 1; i < depth; ++i) {
    uint32_t block = main.newBlock();
    main.branch(one, block);
    main.setBlock(block);
  }
  uint32_t x = main.argument(0);
  main.dispatch(file.addF32, main.immediate(4), one, one,
                {x, x, main.result(0)}, {main.immediate(4)});
  return file.finish();
}

struct SmallThread {
  alula_executable *model;
  alula_buffer *x, *y;
  std::string message;
  alula_status_code code;

  static void *run(void *argument) {
    auto &self = *static_cast<SmallThread *>(argument);
    alula_error *error =
        alula_call(self.model, 0, nullptr, &self.x, 1, &self.y, 1);
    self.code = alula_error_get_code(error);
    self.message = alula_error_get_message(error);
    alula_error_destroy(error);
    return nullptr;
  }
};

TEST(Stack, TooLittleIsAnError) {
  Error error;
  Instance instance = Instance::create(nullptr, error);
  Buffer x = Buffer::create(instance, ALULA_DTYPE_F32, {4}, error);
  Buffer y = Buffer::create(instance, ALULA_DTYPE_F32, {4}, error);
  memset(x.data(), 0, x.bytes());
  int good = 0, bad = 0;
  for (uint32_t depth : {1u, 64u, ALULA_MAX_NESTING}) {
    std::string bytes = buildDeep(depth);
    Executable model =
        Executable::loadMemory(instance, bytes.data(), bytes.size(), error);
    ASSERT_FALSE(error) << error.message();
    for (size_t stack = 65536; stack <= (size_t(1) << 20); stack += 32768) {
      SmallThread thread = {model.get(), x.get(), y.get(), "", ALULA_STATUS_OK};
      pthread_attr_t attributes;
      pthread_attr_init(&attributes);
      ASSERT_EQ(pthread_attr_setstacksize(&attributes, stack), 0);
      pthread_t handle;
      ASSERT_EQ(pthread_create(&handle, &attributes, SmallThread::run, &thread),
                0);
      pthread_join(handle, nullptr);
      pthread_attr_destroy(&attributes);
      ++(thread.code ? bad : good);
      if (thread.code) {
        EXPECT_EQ(thread.code, ALULA_STATUS_RESOURCE_EXHAUSTED);
        EXPECT_EQ(thread.message,
                  "function 'main': the calling thread has too little stack");
      }
      if (stack == size_t(1) << 20)
        EXPECT_EQ(thread.code, ALULA_STATUS_OK) << depth;
      if (stack == 65536)
        EXPECT_NE(thread.code, ALULA_STATUS_OK);
    }
  }
  printf("%d calls with enough stack, %d without\n", good, bad);
}

} // namespace
} // namespace alula::runtime
