// libcudnn.so.9 for machines without a GPU: attention in double precision, as a
// kernel of the fake driver. Descriptors must have what the real library wants,
// of the right types and in the right order. FAKE_CUDNN is what it does wrong:
// "old", "decline", "wrong", "crash", "hang", "fail".

#include "runtime/device/cuda/fake/control.h"
#include "runtime/device/cuda/libraries/cudnn_api.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace alula::cudnn {

struct HandleTag {
  void *stream = nullptr;
};

namespace {
std::atomic<uint64_t> attentions{0}, objects{0};
constexpr uint64_t workspaceBytes = 4096;

bool isMode(const char *mode) {
  const char *asked = getenv("FAKE_CUDNN");
  return asked && strcmp(asked, mode) == 0;
}

// ---- Descriptors ----

/// What a descriptor may have: of which type, how many, whether it must.
struct Known {
  Kind kind;
  Attribute attribute;
  Type type;
  int64_t count; ///< 0: any number
  bool isNeeded;
};
const Known known[] = {
    {tensor, tensorType, typeDataType, 1, true},
    {tensor, tensorDimensions, typeInt64, 4, true},
    {tensor, tensorStrides, typeInt64, 4, true},
    {tensor, tensorId, typeInt64, 1, true},
    {tensor, tensorAlignment, typeInt64, 1, true},
    {tensor, tensorIsByValue, typeBoolean, 1, false},
    {attentionForward, attentionQueries, typeDescriptor, 1, true},
    {attentionForward, attentionKeys, typeDescriptor, 1, true},
    {attentionForward, attentionValues, typeDescriptor, 1, true},
    {attentionForward, attentionResult, typeDescriptor, 1, true},
    {attentionForward, attentionScale, typeDescriptor, 1, false},
    {operationGraph, graphHandle, typeHandle, 1, true},
    {operationGraph, graphOperations, typeDescriptor, 1, true},
    {engineHeuristic, heuristicGraph, typeDescriptor, 1, true},
    {engineHeuristic, heuristicMode, typeMode, 1, true},
    {executionPlan, planHandle, typeHandle, 1, true},
    {executionPlan, planConfig, typeDescriptor, 1, true},
    {variantPack, packIds, typeInt64, 0, true},
    {variantPack, packPointers, typePointer, 0, true},
    {variantPack, packWorkspace, typePointer, 1, true},
};
size_t getBytes(Type type) {
  return type == typeBoolean                        ? 1
         : type == typeDataType || type == typeMode ? 4
                                                    : 8;
}

struct Object {
  Kind kind;
  bool isFinished = false;
  std::map<Attribute, std::string> values;
  /// Of an engine's configuration: the graph that it is for.
  const Object *graph = nullptr;

  template <class T> T get(Attribute attribute, size_t index = 0) const {
    T value;
    memcpy(&value, values.at(attribute).data() + index * sizeof value,
           sizeof value);
    return value;
  }
  size_t count(Attribute attribute) const {
    return values.at(attribute).size() / 8;
  }
};

Object &at(Descriptor descriptor) { return *static_cast<Object *>(descriptor); }

// ---- Attention ----

struct Matrix {
  int64_t id = 0, sizes[4] = {}, strides[4] = {};
  DataType type = f32;

  Matrix() = default;
  explicit Matrix(const Object &object)
      : id(object.get<int64_t>(tensorId)),
        type(object.get<DataType>(tensorType)) {
    for (size_t i = 0; i < 4; ++i) {
      sizes[i] = object.get<int64_t>(tensorDimensions, i);
      strides[i] = object.get<int64_t>(tensorStrides, i);
    }
  }
  uint64_t countBytes() const {
    int64_t last = 0;
    for (int i = 0; i < 4; ++i)
      last += (sizes[i] - 1) * strides[i];
    return uint64_t(last + 1) * 2;
  }
};

struct Launch {
  Matrix matrices[4];
  uint8_t *memory[4];
  void *workspace;
  float scale;
};

double read(const Matrix &matrix, const uint8_t *memory, int64_t batch,
            int64_t head, int64_t row, int64_t column) {
  const uint8_t *place =
      memory + 2 * (batch * matrix.strides[0] + head * matrix.strides[1] +
                    row * matrix.strides[2] + column * matrix.strides[3]);
  if (matrix.type == f16) {
    _Float16 value;
    memcpy(&value, place, sizeof value);
    return double(value);
  }
  uint32_t bits = 0;
  memcpy(reinterpret_cast<char *>(&bits) + 2, place, 2);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

void write(const Matrix &matrix, uint8_t *memory, int64_t batch, int64_t head,
           int64_t row, int64_t column, double value) {
  uint8_t *place =
      memory + 2 * (batch * matrix.strides[0] + head * matrix.strides[1] +
                    row * matrix.strides[2] + column * matrix.strides[3]);
  if (matrix.type == f16) {
    auto rounded = static_cast<_Float16>(value);
    memcpy(place, &rounded, sizeof rounded);
    return;
  }
  auto single = float(value);
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  if (single == single)
    bits += 0x7FFF + (bits >> 16 & 1);
  memcpy(place, reinterpret_cast<const char *>(&bits) + 2, 2);
}

void attend(const void *data) {
  const auto &launch = *static_cast<const Launch *>(data);
  const Matrix &q = launch.matrices[0], &k = launch.matrices[1],
               &v = launch.matrices[2], &o = launch.matrices[3];
  // A GPU would stop, or write over what is somebody else's.
  for (int i = 0; i < 4; ++i)
    if (!fakeCudaHasMemory(reinterpret_cast<uint64_t>(launch.memory[i]),
                           launch.matrices[i].countBytes()))
      abort();
  if (!fakeCudaHasMemory(reinterpret_cast<uint64_t>(launch.workspace),
                         workspaceBytes))
    abort();
  memset(launch.workspace, 0xA5, workspaceBytes);
  double scale = isMode("wrong") ? 0 : launch.scale;
  std::vector<double> weights(size_t(k.sizes[2]));
  for (int64_t batch = 0; batch < q.sizes[0]; ++batch)
    for (int64_t head = 0; head < q.sizes[1]; ++head)
      for (int64_t row = 0; row < q.sizes[2]; ++row) {
        double largest = -INFINITY, sum = 0;
        for (int64_t key = 0; key < k.sizes[2]; ++key) {
          double score = 0;
          for (int64_t i = 0; i < q.sizes[3]; ++i)
            score += read(q, launch.memory[0], batch, head, row, i) *
                     read(k, launch.memory[1], batch, head, key, i);
          weights[size_t(key)] = score * scale;
          largest = std::max(largest, score * scale);
        }
        for (double &weight : weights)
          sum += weight = std::exp(weight - largest);
        for (int64_t i = 0; i < v.sizes[3]; ++i) {
          double value = 0;
          for (int64_t key = 0; key < k.sizes[2]; ++key)
            value += weights[size_t(key)] / sum *
                     read(v, launch.memory[2], batch, head, key, i);
          write(o, launch.memory[3], batch, head, row, i, value);
        }
      }
  ++attentions;
}

constexpr Attribute roles[] = {attentionQueries, attentionKeys, attentionValues,
                               attentionResult};

/// Whether its matrices fit together.
bool isAttention(const Object &operation) {
  Matrix all[4];
  for (int i = 0; i < 4; ++i) {
    const Object &matrix = at(operation.get<Descriptor>(roles[i]));
    if (matrix.kind != tensor || !matrix.isFinished ||
        matrix.values.count(tensorIsByValue) ||
        matrix.get<int64_t>(tensorAlignment) != 16)
      return false;
    all[i] = Matrix(matrix);
  }
  if (!operation.values.count(attentionScale))
    return false;
  const Object &scale = at(operation.get<Descriptor>(attentionScale));
  if (scale.kind != tensor || !scale.isFinished ||
      !scale.values.count(tensorIsByValue) ||
      scale.get<DataType>(tensorType) != f32)
    return false;
  const auto &[q, k, v, o] = all;
  for (int i = 0; i < 2; ++i)
    if (k.sizes[i] != q.sizes[i] || v.sizes[i] != q.sizes[i] ||
        o.sizes[i] != q.sizes[i])
      return false;
  return k.sizes[3] == q.sizes[3] && v.sizes[2] == k.sizes[2] &&
         o.sizes[2] == q.sizes[2] && o.sizes[3] == v.sizes[3];
}

/// Whether there is a kernel for it.
bool isSupported(const Object &operation) {
  for (Attribute role : roles) {
    Matrix matrix(at(operation.get<Descriptor>(role)));
    if ((matrix.type != f16 && matrix.type != bf16) || matrix.strides[3] != 1 ||
        matrix.sizes[3] % 8 || matrix.sizes[3] > 256)
      return false;
  }
  return true;
}

Status finish(Object &object) {
  for (const Known &each : known)
    if (each.kind == object.kind && each.isNeeded &&
        !object.values.count(each.attribute))
      return badParameter;
  auto isFinished = [&](Attribute attribute, Kind kind) {
    const Object &other = at(object.get<Descriptor>(attribute));
    return other.kind == kind && other.isFinished;
  };
  switch (object.kind) {
  case attentionForward:
    return isAttention(object) ? success : badParameter;
  case operationGraph:
    return isFinished(graphOperations, attentionForward) ? success
                                                         : badParameter;
  case engineHeuristic:
    if (!isFinished(heuristicGraph, operationGraph))
      return badParameter;
    return isMode("decline") ||
                   !isSupported(at(at(object.get<Descriptor>(heuristicGraph))
                                       .get<Descriptor>(graphOperations)))
               ? notSupported
               : success;
  case executionPlan:
    return at(object.get<Descriptor>(planConfig)).graph ? success
                                                        : badParameter;
  case variantPack:
    return object.count(packIds) == object.count(packPointers) ? success
                                                               : badParameter;
  default:
    return success;
  }
}
} // namespace

#define FAKE extern "C" __attribute__((visibility("default")))
#define X(name, result, parameters) FAKE result cudnn##name parameters;
ALULA_FOR_EACH_CUDNN_FUNCTION(X)
#undef X

size_t cudnnGetVersion(void) { return isMode("old") ? 91200 : 91900; }
const char *cudnnGetErrorString(Status status) {
  return status == success        ? "CUDNN_STATUS_SUCCESS"
         : status == badParameter ? "CUDNN_STATUS_BAD_PARAM"
         : status == notSupported ? "CUDNN_STATUS_NOT_SUPPORTED"
                                  : "CUDNN_STATUS_EXECUTION_FAILED";
}
Status cudnnCreate(Handle *handle) {
  ++objects;
  *handle = new HandleTag;
  return success;
}
Status cudnnDestroy(Handle handle) {
  --objects;
  delete handle;
  return success;
}
Status cudnnSetStream(Handle handle, void *stream) {
  handle->stream = stream;
  return success;
}
Status cudnnBackendCreateDescriptor(Kind kind, Descriptor *descriptor) {
  ++objects;
  *descriptor = new Object{kind, false, {}, nullptr};
  return success;
}
Status cudnnBackendDestroyDescriptor(Descriptor descriptor) {
  --objects;
  delete &at(descriptor);
  return success;
}
Status cudnnBackendFinalize(Descriptor descriptor) {
  Object &object = at(descriptor);
  if (object.isFinished)
    return badParameter;
  Status status = finish(object);
  object.isFinished = status == success;
  return status;
}
Status cudnnBackendSetAttribute(Descriptor descriptor, Attribute attribute,
                                Type type, int64_t count, const void *values) {
  Object &object = at(descriptor);
  for (const Known &each : known)
    if (each.kind == object.kind && each.attribute == attribute) {
      if (object.isFinished || each.type != type || !values || count < 1 ||
          (each.count && each.count != count))
        return badParameter;
      object.values[attribute].assign(static_cast<const char *>(values),
                                      size_t(count) * getBytes(type));
      return success;
    }
  return badParameter;
}
Status cudnnBackendGetAttribute(Descriptor descriptor, Attribute attribute,
                                Type type, int64_t wanted, int64_t *count,
                                void *values) {
  Object &object = at(descriptor);
  if (!object.isFinished || wanted < 1)
    return badParameter;
  *count = 1;
  if (object.kind == engineHeuristic && attribute == heuristicResults &&
      type == typeDescriptor) {
    Object &config = at(*static_cast<Descriptor *>(values));
    if (config.kind != engineConfig)
      return badParameter;
    config.graph = &at(object.get<Descriptor>(heuristicGraph));
    config.isFinished = true;
    return success;
  }
  if (object.kind == executionPlan && attribute == planWorkspaceBytes &&
      type == typeInt64) {
    *static_cast<int64_t *>(values) = workspaceBytes;
    return success;
  }
  return badParameter;
}
Status cudnnBackendExecute(Handle handle, Descriptor plan, Descriptor pack) {
  if (isMode("crash"))
    _exit(139);
  while (isMode("hang"))
    pause();
  if (isMode("fail"))
    return executionFailed;
  const Object &chosen = at(plan), &given = at(pack);
  if (chosen.kind != executionPlan || !chosen.isFinished ||
      given.kind != variantPack || !given.isFinished || !handle->stream ||
      chosen.get<Handle>(planHandle) != handle)
    return badParameter;
  const Object &operation = at(at(chosen.get<Descriptor>(planConfig))
                                   .graph->get<Descriptor>(graphOperations));
  auto find = [&](int64_t id) -> uint8_t * {
    for (size_t i = 0; i < given.count(packIds); ++i)
      if (given.get<int64_t>(packIds, i) == id)
        return given.get<uint8_t *>(packPointers, i);
    return nullptr;
  };
  Launch launch = {};
  for (int i = 0; i < 4; ++i) {
    launch.matrices[i] = Matrix(at(operation.get<Descriptor>(roles[i])));
    launch.memory[i] = find(launch.matrices[i].id);
    if (!launch.memory[i] || reinterpret_cast<uint64_t>(launch.memory[i]) % 16)
      return badParameter;
  }
  // Its value is the host's.
  const uint8_t *scale = find(
      at(operation.get<Descriptor>(attentionScale)).get<int64_t>(tensorId));
  launch.workspace = given.get<void *>(packWorkspace);
  if (!scale || !launch.workspace)
    return badParameter;
  memcpy(&launch.scale, scale, sizeof launch.scale);
  return fakeCudaLaunch(handle->stream, attend, &launch, sizeof launch) == 0
             ? success
             : executionFailed;
}

/// "attentions" that have run; else the objects that live.
FAKE uint64_t fakeCudnnCount(const char *what);
uint64_t fakeCudnnCount(const char *what) {
  return strcmp(what, "attentions") == 0 ? attentions : objects;
}

} // namespace alula::cudnn
