// NVIDIA's cuDNN: what of its graphs of operations is used. Types and numbers
// are those of version 9.

#pragma once

#include <cstddef>
#include <cstdint>

namespace alula::cudnn {

using Status = int;
using Handle = struct HandleTag *;
using Descriptor = void *;

enum : Status {
  success = 0,
  badParameter = 2000,
  notSupported = 3000,
  executionFailed = 5000
};
/// cudnnDataType_t
enum DataType : int { f32 = 0, f16 = 2, bf16 = 9 };
/// cudnnBackendHeurMode_t
enum : int { modeA = 3 };

/// cudnnBackendDescriptorType_t
enum Kind : int {
  engineConfig = 3,
  engineHeuristic = 4,
  executionPlan = 5,
  operationGraph = 15,
  variantPack = 16,
  tensor = 17,
  attentionForward = 41
};
/// cudnnBackendAttributeType_t
enum Type : int {
  typeHandle = 0,
  typeDataType = 1,
  typeBoolean = 2,
  typeInt64 = 3,
  typePointer = 6,
  typeMode = 8,
  typeDescriptor = 15
};
/// cudnnBackendAttributeName_t
enum Attribute : int {
  heuristicMode = 200,
  heuristicGraph = 201,
  heuristicResults = 202,
  planHandle = 400,
  planConfig = 401,
  planWorkspaceBytes = 402,
  graphHandle = 800,
  graphOperations = 801,
  tensorAlignment = 900,
  tensorType = 901,
  tensorDimensions = 902,
  tensorStrides = 903,
  tensorId = 906,
  tensorIsByValue = 908,
  packIds = 1000,
  packPointers = 1001,
  packWorkspace = 1003,
  attentionQueries = 2800,
  attentionKeys = 2801,
  attentionValues = 2802,
  attentionResult = 2803,
  attentionScale = 2805
};

/// X(name without cudnn, result, parameters)
#define ALULA_FOR_EACH_CUDNN_FUNCTION(X)                                       \
  X(GetVersion, size_t, (void))                                                \
  X(GetErrorString, const char *, (Status status))                             \
  X(Create, Status, (Handle * handle))                                         \
  X(Destroy, Status, (Handle handle))                                          \
  X(SetStream, Status, (Handle handle, void *stream))                          \
  X(BackendCreateDescriptor, Status, (Kind kind, Descriptor * descriptor))     \
  X(BackendDestroyDescriptor, Status, (Descriptor descriptor))                 \
  X(BackendFinalize, Status, (Descriptor descriptor))                          \
  X(BackendSetAttribute, Status,                                               \
    (Descriptor descriptor, Attribute attribute, Type type, int64_t count,     \
     const void *values))                                                      \
  X(BackendGetAttribute, Status,                                               \
    (Descriptor descriptor, Attribute attribute, Type type, int64_t wanted,    \
     int64_t *count, void *values))                                            \
  X(BackendExecute, Status, (Handle handle, Descriptor plan, Descriptor pack))

struct Api {
#define X(name, result, parameters) result(*name) parameters;
  ALULA_FOR_EACH_CUDNN_FUNCTION(X)
#undef X
};

} // namespace alula::cudnn
