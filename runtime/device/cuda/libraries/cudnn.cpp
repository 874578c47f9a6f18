// Attention by NVIDIA's cuDNN. The text of a call:
//   cudnn attention type=f16|bf16 scale=NUMBER q=B,H,S,D,STRIDES k=… v=… o=…
// O = softmax(scale Q K^T) V for each head H of each of a batch B: S rows of D
// numbers each; four strides in elements follow. The arguments are the
// addresses of q, k, v and o.

#include "runtime/device/cuda/libraries/cudnn_api.h"
#include "runtime/device/cuda/libraries/library.h"

using namespace alula::cudnn;
using alula::cuda_library::Field;
using alula::cuda_library::Lock;
using alula::cuda_library::Reason;

namespace {
/// The first that has attention as one operation.
constexpr size_t oldestVersion = 91301;
constexpr int mostDevices = 64, matrixCount = 4;

struct Library {
  Api api;
  bool isReady;
  /// One for each device, as long as it has plans. It is told of a stream and
  /// used under the mutex.
  struct PerDevice {
    Handle handle;
    uint32_t users;
    pthread_mutex_t mutex;
  } devices[mostDevices];
};

struct Matrix {
  int64_t sizes[4], strides[4];
};
struct Call {
  DataType type;
  float scale;
  Matrix matrices[matrixCount];
};

struct Plan {
  int32_t ordinal;
  Handle handle;
  /// All that the last one is made of, in the order in which they were made.
  Descriptor parts[16];
  int partCount;
  Descriptor plan;
  int64_t workspaceBytes;
  float scale;
};

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
Library library;

// ---- Texts ----

bool readMatrix(const char *text, const char *key, Matrix &matrix) {
  Field field;
  if (!field.find(text, key))
    return false;
  for (int64_t &size : matrix.sizes)
    if (!field.next(size) || size < 1 || size > INT32_MAX)
      return false;
  for (int64_t &stride : matrix.strides)
    if (!field.next(stride) || stride < 0)
      return false;
  return field.isAtEnd();
}

bool readCall(const char *text, Call &call) {
  Field type, scale;
  char word[32], *end;
  if (strncmp(text, "cudnn attention ", 16) != 0 || !type.find(text, "type") ||
      !type.next(word) || !type.isAtEnd())
    return false;
  if (strcmp(word, "f16") == 0)
    call.type = f16;
  else if (strcmp(word, "bf16") == 0)
    call.type = bf16;
  else
    return false;
  if (!scale.find(text, "scale") || !scale.next(word) || !scale.isAtEnd())
    return false;
  call.scale = strtof(word, &end);
  static const char *const keys[matrixCount] = {"q", "k", "v", "o"};
  for (int i = 0; i < matrixCount; ++i)
    if (!readMatrix(text, keys[i], call.matrices[i]))
      return false;
  return !*end;
}

// ---- The library ----

int32_t openLibrary(Reason reason) {
  if (library.isReady)
    return ALULA_CUDA_LIBRARY_TAKEN;
  static const char *const names[] = {"libcudnn.so.9", nullptr};
  void *opened = alula::cuda_library::openFirst(names);
  if (!opened) {
    reason.say("there is no libcudnn.so.9");
    return ALULA_CUDA_LIBRARY_MISSING;
  }
#define X(name, result, parameters)                                            \
  library.api.name =                                                           \
      reinterpret_cast<result(*) parameters>(dlsym(opened, "cudnn" #name));    \
  if (!library.api.name) {                                                     \
    reason.say("libcudnn has no cudnn" #name);                                 \
    return ALULA_CUDA_LIBRARY_MISSING;                                         \
  }
  ALULA_FOR_EACH_CUDNN_FUNCTION(X)
#undef X
  size_t version = library.api.GetVersion();
  if (version < oldestVersion) {
    reason.say("libcudnn is of version %zu, and must be of %zu", version,
               oldestVersion);
    return ALULA_CUDA_LIBRARY_MISSING;
  }
  for (Library::PerDevice &device : library.devices)
    pthread_mutex_init(&device.mutex, nullptr);
  library.isReady = true;
  return ALULA_CUDA_LIBRARY_TAKEN;
}

bool check(Status status, const char *what, Reason reason) {
  if (status == success)
    return true;
  const char *name = library.api.GetErrorString(status);
  reason.say("%s: %s", what, name ? name : "?");
  return false;
}

bool takeHandle(int32_t ordinal, Handle &handle, Reason reason) {
  Library::PerDevice &device = library.devices[ordinal];
  if (!device.users &&
      !check(library.api.Create(&device.handle), "cudnnCreate", reason))
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

/// Descriptors are made one after the other; the first error counts.
class Builder {
public:
  Builder(Plan &plan, Reason reason) : plan(plan), reason(reason) {}

  Descriptor make(Kind kind) {
    Descriptor made = nullptr;
    if (isGood &&
        (isGood = check(library.api.BackendCreateDescriptor(kind, &made),
                        "a descriptor", reason)))
      plan.parts[plan.partCount++] = made;
    return made;
  }
  template <class T>
  void set(Descriptor descriptor, Attribute attribute, Type type,
           const T *values, int64_t count = 1) {
    isGood = isGood && check(library.api.BackendSetAttribute(
                                 descriptor, attribute, type, count, values),
                             "an attribute", reason);
  }
  void finish(Descriptor descriptor, const char *what) {
    isGood =
        isGood && check(library.api.BackendFinalize(descriptor), what, reason);
  }

  Descriptor makeTensor(int64_t id, DataType type, const Matrix &matrix,
                        int64_t alignment, bool isByValue) {
    Descriptor made = make(tensor);
    set(made, tensorType, typeDataType, &type);
    set(made, tensorDimensions, typeInt64, matrix.sizes, 4);
    set(made, tensorStrides, typeInt64, matrix.strides, 4);
    set(made, tensorId, typeInt64, &id);
    set(made, tensorAlignment, typeInt64, &alignment);
    if (isByValue)
      set(made, tensorIsByValue, typeBoolean, &isByValue);
    finish(made, "a matrix");
    return made;
  }

  Descriptor makeAttention(const Call &call, int64_t alignment) {
    static const Attribute attributes[matrixCount] = {
        attentionQueries, attentionKeys, attentionValues, attentionResult};
    Descriptor matrices[matrixCount];
    for (int i = 0; i < matrixCount; ++i)
      matrices[i] =
          makeTensor(i, call.type, call.matrices[i], alignment, false);
    Matrix one = {{1, 1, 1, 1}, {1, 1, 1, 1}};
    Descriptor scale = makeTensor(matrixCount, f32, one, sizeof(float), true);
    Descriptor made = make(attentionForward);
    for (int i = 0; i < matrixCount; ++i)
      set(made, attributes[i], typeDescriptor, &matrices[i]);
    set(made, attentionScale, typeDescriptor, &scale);
    finish(made, "an attention");
    return made;
  }

  /// The first plan that is allowed so much memory.
  void choose(Descriptor operation, uint64_t workspace) {
    Descriptor graph = make(operationGraph);
    set(graph, graphHandle, typeHandle, &plan.handle);
    set(graph, graphOperations, typeDescriptor, &operation);
    finish(graph, "a graph");
    Descriptor heuristic = make(engineHeuristic);
    set(heuristic, heuristicGraph, typeDescriptor, &graph);
    int mode = modeA;
    set(heuristic, heuristicMode, typeMode, &mode);
    finish(heuristic, "there is no algorithm");
    Descriptor config = make(engineConfig);
    int64_t count = 0;
    isGood = isGood && check(library.api.BackendGetAttribute(
                                 heuristic, heuristicResults, typeDescriptor, 1,
                                 &count, &config),
                             "there is no algorithm", reason);
    if (isGood && count < 1)
      isGood = check(notSupported, "there is no algorithm", reason);
    plan.plan = make(executionPlan);
    set(plan.plan, planHandle, typeHandle, &plan.handle);
    set(plan.plan, planConfig, typeDescriptor, &config);
    finish(plan.plan, "there is no algorithm");
    isGood = isGood && check(library.api.BackendGetAttribute(
                                 plan.plan, planWorkspaceBytes, typeInt64, 1,
                                 &count, &plan.workspaceBytes),
                             "a plan", reason);
    if (isGood && uint64_t(plan.workspaceBytes) > workspace) {
      reason.say("it wants %lld bytes of memory",
                 static_cast<long long>(plan.workspaceBytes));
      isGood = false;
    }
  }

  bool isGood = true;

private:
  Plan &plan;
  Reason reason;
};

void destroy(Plan *plan) {
  for (int i = plan->partCount; i-- > 0;)
    library.api.BackendDestroyDescriptor(plan->parts[i]);
  if (plan->handle)
    giveHandle(plan->ordinal);
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
  if ((request->argument_count && request->argument_count != matrixCount) ||
      request->ordinal < 0 || request->ordinal >= mostDevices) {
    reason.say("%u arguments", request->argument_count);
    return ALULA_CUDA_LIBRARY_DECLINED;
  }
  Lock lock(mutex);
  if (int32_t how = openLibrary(reason))
    return how;
  auto *plan = static_cast<Plan *>(calloc(1, sizeof(Plan)));
  if (!plan)
    return ALULA_CUDA_LIBRARY_DECLINED;
  plan->ordinal = request->ordinal;
  plan->scale = call.scale;
  Builder builder(*plan, reason);
  builder.isGood = takeHandle(request->ordinal, plan->handle, reason);
  builder.choose(builder.makeAttention(call, request->alignment),
                 request->workspace_bytes);
  if (!builder.isGood) {
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
  int64_t ids[matrixCount + 1];
  void *pointers[matrixCount + 1];
  for (int i = 0; i < matrixCount; ++i) {
    ids[i] = i;
    pointers[i] = reinterpret_cast<void *>(arguments[i]);
  }
  ids[matrixCount] = matrixCount;
  pointers[matrixCount] = &plan.scale;
  auto *room = reinterpret_cast<void *>(workspace);
  Descriptor pack = nullptr;
  Lock lock(library.devices[plan.ordinal].mutex);
  bool isGood =
      check(api.BackendCreateDescriptor(variantPack, &pack), "a call",
            reason) &&
      check(api.BackendSetAttribute(pack, packIds, typeInt64, matrixCount + 1,
                                    ids),
            "a call", reason) &&
      check(api.BackendSetAttribute(pack, packPointers, typePointer,
                                    matrixCount + 1, pointers),
            "a call", reason) &&
      check(api.BackendSetAttribute(pack, packWorkspace, typePointer, 1, &room),
            "a call", reason) &&
      check(api.BackendFinalize(pack), "a call", reason) &&
      check(api.SetStream(plan.handle, stream), "a stream", reason) &&
      check(api.BackendExecute(plan.handle, plan.plan, pack),
            "cudnnBackendExecute", reason);
  if (pack)
    api.BackendDestroyDescriptor(pack);
  return isGood ? ALULA_CUDA_LIBRARY_TAKEN : ALULA_CUDA_LIBRARY_DECLINED;
}
} // namespace

extern "C" __attribute__((visibility("default"))) const alula_cuda_library *
alula_cuda_library_query(uint32_t abi);
extern "C" const alula_cuda_library *alula_cuda_library_query(uint32_t abi) {
  static const alula_cuda_library table = {sizeof table, ALULA_CUDA_LIBRARY_ABI,
                                           prepare, release, run};
  return abi == ALULA_CUDA_LIBRARY_ABI ? &table : nullptr;
}
