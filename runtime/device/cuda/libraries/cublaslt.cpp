// Products of matrices by NVIDIA's cuBLASLt. The text of a call:
//   cublaslt m=M n=N k=K batch=COUNT a=TYPE,OP,LD,STRIDE b=TYPE,OP,LD,STRIDE
//     d=TYPE,LD,STRIDE [act=relu|gelu] [bias=TYPE]
// D = act(op(A) op(B) + bias), with matrices by columns and a bias for each
// row, as the library has them; OP is n or t, STRIDE between matrices of a
// batch. The arguments are the addresses of a, b, d and the bias.

#include "runtime/device/cuda/libraries/cublaslt_api.h"
#include "runtime/device/cuda/libraries/library.h"

using namespace alula::cublaslt;
using alula::cuda_library::Field;
using alula::cuda_library::Lock;
using alula::cuda_library::Reason;

namespace {
constexpr size_t oldestVersion = 120000;
constexpr int mostDevices = 64;

/// Found at the first request; a library that is there stays.
struct Library {
  Api api;
  bool isReady;
  /// One for each device, as long as it has plans.
  struct PerDevice {
    Handle handle;
    uint32_t users;
  } devices[mostDevices];
};

struct Matrix {
  Type type;
  bool isTransposed;
  int64_t leading, stride;
};

/// What a text says.
struct Call {
  int64_t m, n, k, batch;
  Matrix a, b, d;
  uint32_t epilogue;
  Type biasType;
};

struct Plan {
  int32_t ordinal;
  Handle handle;
  Product product;
  Layout a, b, d;
  Algorithm algorithm;
  size_t workspaceBytes;
  bool hasBias;
  /// The type of both factors of the sum.
  Type scale;
  /// The product is told of the bias's address in each run.
  pthread_mutex_t mutex;
};

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
Library library;

// ---- Texts ----

bool readType(Field &field, Type &type) {
  static const struct {
    const char *name;
    Type type;
  } types[] = {{"f32", f32},         {"f64", f64},      {"f16", f16},
               {"bf16", bf16},       {"i8", i8},        {"i32", i32},
               {"f8E4M3FN", f8E4M3}, {"f8E5M2", f8E5M2}};
  char word[32];
  if (!field.next(word))
    return false;
  for (const auto &each : types)
    if (strcmp(each.name, word) == 0) {
      type = each.type;
      return true;
    }
  return false;
}

bool readNumber(const char *text, const char *key, int64_t &number) {
  Field field;
  return field.find(text, key) && field.next(number) && field.isAtEnd() &&
         number > 0 && number <= INT32_MAX;
}

bool readMatrix(const char *text, const char *key, bool hasOperation,
                Matrix &matrix) {
  Field field;
  char word[32] = "n";
  if (!field.find(text, key) || !readType(field, matrix.type) ||
      (hasOperation && !field.next(word)))
    return false;
  matrix.isTransposed = strcmp(word, "t") == 0;
  return (matrix.isTransposed || strcmp(word, "n") == 0) &&
         field.next(matrix.leading) && field.next(matrix.stride) &&
         field.isAtEnd() && matrix.leading > 0 && matrix.stride >= 0;
}

bool readCall(const char *text, Call &call) {
  if (!readNumber(text, "m", call.m) || !readNumber(text, "n", call.n) ||
      !readNumber(text, "k", call.k) ||
      !readNumber(text, "batch", call.batch) ||
      !readMatrix(text, "a", true, call.a) ||
      !readMatrix(text, "b", true, call.b) ||
      !readMatrix(text, "d", false, call.d))
    return false;
  call.epilogue = 0;
  Field field;
  char word[32];
  if (field.find(text, "act")) {
    if (!field.next(word) || !field.isAtEnd())
      return false;
    call.epilogue = strcmp(word, "relu") == 0   ? relu
                    : strcmp(word, "gelu") == 0 ? gelu
                                                : 0;
    if (!call.epilogue)
      return false;
  }
  if (field.find(text, "bias")) {
    if (!readType(field, call.biasType) || !field.isAtEnd())
      return false;
    call.epilogue |= bias;
  }
  if (!call.epilogue)
    call.epilogue = noEpilogue;
  return true;
}

// ---- The library ----

int32_t openLibrary(Reason reason) {
  if (library.isReady)
    return ALULA_CUDA_LIBRARY_TAKEN;
  static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                      nullptr};
  void *opened = alula::cuda_library::openFirst(names);
  if (!opened) {
    reason.say("there is no libcublasLt.so.13 or .12");
    return ALULA_CUDA_LIBRARY_MISSING;
  }
#define X(name, result, parameters)                                            \
  library.api.name =                                                           \
      reinterpret_cast<result(*) parameters>(dlsym(opened, "cublasLt" #name)); \
  if (!library.api.name) {                                                     \
    reason.say("libcublasLt has no cublasLt" #name);                           \
    return ALULA_CUDA_LIBRARY_MISSING;                                         \
  }
  ALULA_FOR_EACH_CUBLASLT_FUNCTION(X)
#undef X
  size_t version = library.api.GetVersion();
  if (version < oldestVersion) {
    reason.say("libcublasLt is of version %zu, and must be of %zu", version,
               oldestVersion);
    return ALULA_CUDA_LIBRARY_MISSING;
  }
  library.isReady = true;
  return ALULA_CUDA_LIBRARY_TAKEN;
}

bool check(Status status, const char *what, Reason reason) {
  if (status == success)
    return true;
  const char *name = library.api.GetStatusName(status);
  reason.say("%s: %s", what, name ? name : "?");
  return false;
}

bool takeHandle(int32_t ordinal, Handle &handle, Reason reason) {
  Library::PerDevice &device = library.devices[ordinal];
  if (!device.users &&
      !check(library.api.Create(&device.handle), "cublasLtCreate", reason))
    return false;
  ++device.users;
  handle = device.handle;
  return true;
}

void giveHandle(int32_t ordinal) {
  Library::PerDevice &device = library.devices[ordinal];
  if (!--device.users)
    library.api.Destroy(device.handle);
}

// ---- Plans ----

bool describe(Layout &layout, const Matrix &matrix, int64_t rows,
              int64_t columns, int64_t batch, Reason reason) {
  if (matrix.isTransposed) {
    int64_t swapped = rows;
    rows = columns;
    columns = swapped;
  }
  if (!check(library.api.MatrixLayoutCreate(&layout, matrix.type,
                                            uint64_t(rows), uint64_t(columns),
                                            matrix.leading),
             "a matrix", reason))
    return false;
  auto count = int32_t(batch);
  return batch == 1 ||
         (check(library.api.MatrixLayoutSetAttribute(layout, batchCount, &count,
                                                     sizeof count),
                "a batch", reason) &&
          check(library.api.MatrixLayoutSetAttribute(
                    layout, batchOffset, &matrix.stride, sizeof matrix.stride),
                "a batch", reason));
}

bool describe(Plan &plan, const Call &call, uint64_t alignment, Reason reason) {
  const Api &api = library.api;
  Type element = call.a.type;
  Compute compute = element == i8    ? computeI32
                    : element == f64 ? computeF64
                                     : computeF32;
  plan.scale = element == i8 ? i32 : element == f64 ? f64 : f32;
  plan.hasBias = call.epilogue & bias;
  int32_t operationA = call.a.isTransposed ? transposed : plain,
          operationB = call.b.isTransposed ? transposed : plain,
          type = call.biasType;
  // Where a bias could be, as far as algorithms are concerned.
  uint64_t someBias = alignment;
  auto set = [&](ProductAttribute attribute, const void *value, size_t bytes) {
    return check(
        api.MatmulDescSetAttribute(plan.product, attribute, value, bytes),
        "a product", reason);
  };
  return check(api.MatmulDescCreate(&plan.product, compute, plan.scale),
               "a product", reason) &&
         set(transposeA, &operationA, sizeof operationA) &&
         set(transposeB, &operationB, sizeof operationB) &&
         set(epilogue, &call.epilogue, sizeof call.epilogue) &&
         (!plan.hasBias || (set(biasType, &type, sizeof type) &&
                            set(biasPointer, &someBias, sizeof someBias))) &&
         describe(plan.a, call.a, call.m, call.k, call.batch, reason) &&
         describe(plan.b, call.b, call.k, call.n, call.batch, reason) &&
         describe(plan.d, call.d, call.m, call.n, call.batch, reason);
}

bool choose(Plan &plan, const alula_cuda_request &request, Reason reason) {
  const Api &api = library.api;
  Preference preference = nullptr;
  if (!check(api.MatmulPreferenceCreate(&preference), "a preference", reason))
    return false;
  uint64_t workspace = request.workspace_bytes;
  uint32_t alignment = request.alignment;
  Status status = api.MatmulPreferenceSetAttribute(
      preference, mostWorkspace, &workspace, sizeof workspace);
  for (PreferenceAttribute each :
       {alignmentA, alignmentB, alignmentC, alignmentD})
    if (status == success)
      status = api.MatmulPreferenceSetAttribute(preference, each, &alignment,
                                                sizeof alignment);
  Found found = {};
  int count = 0;
  if (status == success)
    status = api.MatmulAlgoGetHeuristic(plan.handle, plan.product, plan.a,
                                        plan.b, plan.d, plan.d, preference, 1,
                                        &found, &count);
  api.MatmulPreferenceDestroy(preference);
  if (status == success && (!count || found.state != success))
    status = notSupported;
  if (status == success && found.workspaceBytes > workspace)
    status = allocFailed;
  plan.algorithm = found.algorithm;
  plan.workspaceBytes = found.workspaceBytes;
  return check(status, "there is no algorithm", reason);
}

void destroy(Plan *plan) {
  const Api &api = library.api;
  for (Layout layout : {plan->a, plan->b, plan->d})
    if (layout)
      api.MatrixLayoutDestroy(layout);
  if (plan->product)
    api.MatmulDescDestroy(plan->product);
  if (plan->handle)
    giveHandle(plan->ordinal);
  pthread_mutex_destroy(&plan->mutex);
  free(plan);
}

int32_t prepare(const alula_cuda_request *request, alula_cuda_plan **made,
                char *text, size_t bytes) {
  Reason reason = {text, bytes};
  Call call = {};
  if (!readCall(request->text, call)) {
    reason.say("it does not know '%.100s'", request->text);
    return ALULA_CUDA_LIBRARY_DECLINED;
  }
  if (request->argument_count != (call.epilogue & bias ? 4u : 3u) &&
      request->argument_count) {
    reason.say("%u arguments", request->argument_count);
    return ALULA_CUDA_LIBRARY_DECLINED;
  }
  if (request->ordinal < 0 || request->ordinal >= mostDevices)
    return ALULA_CUDA_LIBRARY_DECLINED;
  Lock lock(mutex);
  if (int32_t how = openLibrary(reason))
    return how;
  auto *plan = static_cast<Plan *>(calloc(1, sizeof(Plan)));
  if (!plan)
    return ALULA_CUDA_LIBRARY_DECLINED;
  plan->ordinal = request->ordinal;
  pthread_mutex_init(&plan->mutex, nullptr);
  if (!takeHandle(request->ordinal, plan->handle, reason) ||
      !describe(*plan, call, request->alignment, reason) ||
      !choose(*plan, *request, reason)) {
    destroy(plan);
    return ALULA_CUDA_LIBRARY_DECLINED;
  }
  *made = reinterpret_cast<alula_cuda_plan *>(plan);
  return ALULA_CUDA_LIBRARY_TAKEN;
}

void release(alula_cuda_plan *plan) {
  Lock lock(mutex);
  destroy(reinterpret_cast<Plan *>(plan));
}

int32_t run(alula_cuda_plan *handle, void *stream, const uint64_t *arguments,
            uint64_t workspace, char *text, size_t bytes) {
  Plan &plan = *reinterpret_cast<Plan *>(handle);
  const Api &api = library.api;
  Reason reason = {text, bytes};
  const void *a = reinterpret_cast<const void *>(arguments[0]);
  const void *b = reinterpret_cast<const void *>(arguments[1]);
  void *d = reinterpret_cast<void *>(arguments[2]);
  // Both of them of the type that the product is scaled in.
  union Factor {
    float single;
    double whole;
    int32_t integer;
  } one = {}, zero = {};
  if (plan.scale == f32)
    one.single = 1;
  else if (plan.scale == f64)
    one.whole = 1;
  else
    one.integer = 1;
  Lock lock(plan.mutex);
  if (plan.hasBias &&
      !check(api.MatmulDescSetAttribute(plan.product, biasPointer,
                                        &arguments[3], sizeof arguments[3]),
             "the bias", reason))
    return ALULA_CUDA_LIBRARY_DECLINED;
  return check(api.Matmul(plan.handle, plan.product, &one, a, plan.a, b, plan.b,
                          &zero, d, plan.d, d, plan.d, &plan.algorithm,
                          reinterpret_cast<void *>(workspace),
                          plan.workspaceBytes, stream),
               "cublasLtMatmul", reason)
             ? ALULA_CUDA_LIBRARY_TAKEN
             : ALULA_CUDA_LIBRARY_DECLINED;
}
} // namespace

extern "C" __attribute__((visibility("default"))) const alula_cuda_library *
alula_cuda_library_query(uint32_t abi);
extern "C" const alula_cuda_library *alula_cuda_library_query(uint32_t abi) {
  static const alula_cuda_library table = {sizeof table, ALULA_CUDA_LIBRARY_ABI,
                                           prepare, release, run};
  return abi == ALULA_CUDA_LIBRARY_ABI ? &table : nullptr;
}
