// CUDA's driver: what of its functions is used, found when they are first
// needed. Types and numbers are those of CUDA 12.4.

#pragma once

#include <cstddef>
#include <cstdint>

namespace alula::runtime::cuda {

using Result = int;
using DeviceNumber = int;
using DeviceAddress = uint64_t;
using ContextHandle = struct ContextTag *;
using StreamHandle = struct StreamTag *;
using EventHandle = struct EventTag *;
using ModuleHandle = struct ModuleTag *;
using FunctionHandle = struct FunctionTag *;
using PoolHandle = struct PoolTag *;
using GraphHandle = struct GraphTag *;
using GraphExecHandle = struct GraphExecTag *;
using NodeHandle = struct NodeTag *;
using ConditionHandle = uint64_t;

enum : Result {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  notInitialized = 3,
  noDevice = 100,
  invalidImage = 200,
  invalidContext = 201,
  noBinary = 209,
  invalidPtx = 218,
  unsupportedPtxVersion = 222,
  invalidHandle = 400,
  notFound = 500,
  notReady = 600,
  illegalAddress = 700,
  launchOutOfResources = 701,
  launchTimeout = 702,
  peerAccessAlreadyEnabled = 704,
  contextIsDestroyed = 709,
  assertFailed = 710,
  hardwareStackError = 714,
  illegalInstruction = 715,
  misalignedAddress = 716,
  invalidAddressSpace = 717,
  invalidPc = 718,
  launchFailed = 719,
  unknownError = 999
};

/// CUdevice_attribute
enum : int {
  capabilityMajor = 75,
  capabilityMinor = 76,
  sharedBytesOptin = 97,
  memoryPools = 115
};
/// CUfunction_attribute, CUpointer_attribute, CUjit_option and flags.
enum : int { maxDynamicShared = 8 };
enum : int {
  pointerType = 2,
  pointerDevice = 9,
  rangeStart = 11,
  rangeSize = 12
};
enum : int { infoLog = 3, infoLogBytes = 4, errorLog = 5, errorLogBytes = 6 };
enum : unsigned {
  streamNonBlocking = 1,
  eventNoTiming = 2,
  hostPortable = 1,
  hostMapped = 2
};
enum : int {
  captureRelaxed = 2,
  poolReleaseThreshold = 4,
  launchCooperative = 2,
  launchCluster = 4
};

struct Location {
  int type; // 1: a device
  int id;
};
struct PoolProperties {
  int allocationType; // 1: pinned
  int handleTypes;
  Location location;
  void *securityAttributes;
  unsigned char reserved[64];
};
static_assert(sizeof(PoolProperties) == 88);
struct PoolAccess {
  Location location;
  int flags; // 3: read and write
};
struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    unsigned cluster[3];
    int cooperative;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);
struct LaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  StreamHandle stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchConfig) == 56);

/// Nodes of graphs.
struct KernelNode {
  FunctionHandle function;
  unsigned grid[3], block[3], sharedBytes;
  void **parameters, **extra;
  void *kernel;
  ContextHandle context;
};
static_assert(sizeof(KernelNode) == 72);
/// Where the address tells whose memory it is.
enum : int { unifiedMemory = 4 };
struct CopyEnd {
  size_t x, y, z, level;
  int type;
  void *host;
  DeviceAddress address;
  void *array, *reserved;
  size_t pitch, height;
};
struct CopyNode {
  CopyEnd from, to;
  size_t width, height, depth;
};
static_assert(sizeof(CopyNode) == 200);
struct FillNode {
  DeviceAddress to;
  size_t pitch;
  unsigned value, elementBytes;
  size_t width, height;
};
static_assert(sizeof(FillNode) == 40);

/// A node whose graph runs once, or as long as its condition holds.
struct ConditionNode {
  ConditionHandle condition;
  int isLoop;
  unsigned graphCount; // 1
  GraphHandle *graphs; // what CUDA has made for it
  ContextHandle context;
};
struct NodeParameters {
  int type;
  int reserved[3];
  union {
    int64_t size[29];
    ConditionNode condition;
  };
  int64_t end;
};
static_assert(sizeof(NodeParameters) == 256);
enum : int { conditionNode = 13 };

/// X(name without cu, parameters): all return a Result.
#define ALULA_FOR_EACH_CUDA_FUNCTION(X)                                        \
  X(Init, (unsigned flags))                                                    \
  X(DriverGetVersion, (int *version))                                          \
  X(DeviceGetCount, (int *count))                                              \
  X(DeviceGet, (DeviceNumber * device, int ordinal))                           \
  X(DeviceGetAttribute, (int *value, int attribute, DeviceNumber device))      \
  X(DeviceGetUuid, (uint8_t *uuid, DeviceNumber device))                       \
  X(DevicePrimaryCtxRetain, (ContextHandle * context, DeviceNumber device))    \
  X(DevicePrimaryCtxRelease, (DeviceNumber device))                            \
  X(CtxPushCurrent, (ContextHandle context))                                   \
  X(CtxPopCurrent, (ContextHandle * context))                                  \
  X(DeviceCanAccessPeer, (int *can, DeviceNumber device, DeviceNumber peer))   \
  X(MemPoolCreate, (PoolHandle * pool, const PoolProperties *properties))      \
  X(MemPoolDestroy, (PoolHandle pool))                                         \
  X(MemPoolSetAttribute, (PoolHandle pool, int attribute, void *value))        \
  X(MemPoolSetAccess,                                                          \
    (PoolHandle pool, const PoolAccess *access, size_t count))                 \
  X(MemAllocFromPoolAsync, (DeviceAddress * address, size_t bytes,             \
                            PoolHandle pool, StreamHandle stream))             \
  X(MemFreeAsync, (DeviceAddress address, StreamHandle stream))                \
  X(MemHostAlloc, (void **memory, size_t bytes, unsigned flags))               \
  X(MemFreeHost, (void *memory))                                               \
  X(PointerGetAttribute, (void *value, int attribute, DeviceAddress address))  \
  X(MemcpyAsync,                                                               \
    (DeviceAddress to, DeviceAddress from, size_t bytes, StreamHandle stream)) \
  X(MemcpyPeerAsync,                                                           \
    (DeviceAddress to, ContextHandle toContext, DeviceAddress from,            \
     ContextHandle fromContext, size_t bytes, StreamHandle stream))            \
  X(MemsetD8Async, (DeviceAddress to, unsigned char value, size_t count,       \
                    StreamHandle stream))                                      \
  X(MemsetD16Async, (DeviceAddress to, unsigned short value, size_t count,     \
                     StreamHandle stream))                                     \
  X(MemsetD32Async,                                                            \
    (DeviceAddress to, unsigned value, size_t count, StreamHandle stream))     \
  X(MemsetD2D32Async, (DeviceAddress to, size_t pitch, unsigned value,         \
                       size_t width, size_t height, StreamHandle stream))      \
  X(StreamCreate, (StreamHandle * stream, unsigned flags))                     \
  X(StreamDestroy, (StreamHandle stream))                                      \
  X(StreamSynchronize, (StreamHandle stream))                                  \
  X(StreamBeginCapture, (StreamHandle stream, int mode))                       \
  X(StreamEndCapture, (StreamHandle stream, GraphHandle * graph))              \
  X(StreamWaitEvent, (StreamHandle stream, EventHandle event, unsigned flags)) \
  X(EventCreate, (EventHandle * event, unsigned flags))                        \
  X(EventDestroy, (EventHandle event))                                         \
  X(EventRecord, (EventHandle event, StreamHandle stream))                     \
  X(EventQuery, (EventHandle event))                                           \
  X(EventSynchronize, (EventHandle event))                                     \
  X(ModuleLoadDataEx, (ModuleHandle * module, const void *image,               \
                       unsigned count, int *options, void **values))           \
  X(ModuleUnload, (ModuleHandle module))                                       \
  X(ModuleGetFunction,                                                         \
    (FunctionHandle * function, ModuleHandle module, const char *name))        \
  X(FuncSetAttribute, (FunctionHandle function, int attribute, int value))     \
  X(LaunchKernel,                                                              \
    (FunctionHandle function, unsigned gridX, unsigned gridY, unsigned gridZ,  \
     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,  \
     StreamHandle stream, void **parameters, void **extra))                    \
  X(LaunchKernelEx, (const LaunchConfig *config, FunctionHandle function,      \
                     void **parameters, void **extra))                         \
  X(GraphCreate, (GraphHandle * graph, unsigned flags))                        \
  X(GraphDestroy, (GraphHandle graph))                                         \
  X(GraphAddKernelNode,                                                        \
    (NodeHandle * node, GraphHandle graph, const NodeHandle *before,           \
     size_t count, const KernelNode *launch))                                  \
  X(GraphAddMemcpyNode,                                                        \
    (NodeHandle * node, GraphHandle graph, const NodeHandle *before,           \
     size_t count, const CopyNode *copy, ContextHandle context))               \
  X(GraphAddMemsetNode,                                                        \
    (NodeHandle * node, GraphHandle graph, const NodeHandle *before,           \
     size_t count, const FillNode *fill, ContextHandle context))               \
  X(GraphAddChildGraphNode,                                                    \
    (NodeHandle * node, GraphHandle graph, const NodeHandle *before,           \
     size_t count, GraphHandle child))                                         \
  X(GraphInstantiateWithFlags,                                                 \
    (GraphExecHandle * exec, GraphHandle graph, uint64_t flags))               \
  X(GraphExecDestroy, (GraphExecHandle exec))                                  \
  X(GraphExecKernelNodeSetParams,                                              \
    (GraphExecHandle exec, NodeHandle node, const KernelNode *launch))         \
  X(GraphExecMemcpyNodeSetParams,                                              \
    (GraphExecHandle exec, NodeHandle node, const CopyNode *copy,              \
     ContextHandle context))                                                   \
  X(GraphExecMemsetNodeSetParams,                                              \
    (GraphExecHandle exec, NodeHandle node, const FillNode *fill,              \
     ContextHandle context))                                                   \
  X(GraphExecChildGraphNodeSetParams,                                          \
    (GraphExecHandle exec, NodeHandle node, GraphHandle child))                \
  X(GraphLaunch, (GraphExecHandle exec, StreamHandle stream))                  \
  X(GetErrorName, (Result result, const char **text))                          \
  X(GetErrorString, (Result result, const char **text))

/// Those of CUDA 12.3, which has graphs with conditions: NULL before.
#define ALULA_FOR_EACH_LATER_CUDA_FUNCTION(X)                                  \
  X(GraphAddNode, 12020,                                                       \
    (NodeHandle * node, GraphHandle graph, const NodeHandle *before,           \
     size_t count, NodeParameters *parameters))                                \
  X(GraphConditionalHandleCreate, 12030,                                       \
    (ConditionHandle * condition, GraphHandle graph, ContextHandle context,    \
     unsigned initial, unsigned flags))

/// The version whose functions are asked for.
constexpr int apiVersion = 12040;

struct Api {
#define X(name, parameters) Result(*name) parameters;
  ALULA_FOR_EACH_CUDA_FUNCTION(X)
#undef X
#define X(name, version, parameters) Result(*name) parameters;
  ALULA_FOR_EACH_LATER_CUDA_FUNCTION(X)
#undef X
};

} // namespace alula::runtime::cuda
