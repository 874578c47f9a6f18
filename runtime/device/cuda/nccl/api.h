// NCCL: what of its functions is used, found when it is first needed. Types and
// numbers are those of NCCL 2.18.

#pragma once

#include "runtime/device/cuda/api.h"

namespace alula::runtime::cuda::nccl {

using CommunicatorHandle = struct NcclCommunicatorTag *;

enum Code : int {
  fine = 0,
  unhandledCudaError = 1,
  systemError = 2,
  internalError = 3,
  invalidArgument = 4,
  invalidUsage = 5,
  remoteError = 6,
  inProgress = 7
};
enum Type : int {
  int8 = 0,
  uint8 = 1,
  int32 = 2,
  uint32 = 3,
  int64 = 4,
  uint64 = 5,
  float16 = 6,
  float32 = 7,
  float64 = 8,
  bfloat16 = 9
};
enum Reduction : int { sum = 0, product = 1, max = 2, min = 3 };

struct UniqueId {
  char bytes[128];
};
constexpr int undefined = -2147483647 - 1;
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xCAFEBEEF;
  unsigned version = 21800;
  int blocking = undefined, clusterSize = undefined, leastBlocks = undefined,
      mostBlocks = undefined;
  const char *network = nullptr;
  int sharesWhenSplit = undefined;
};
static_assert(sizeof(Config) == 48);

/// The oldest that has all of Config.
constexpr int leastVersion = 21800;

/// X(name without nccl, parameters): all return a Code.
#define ALULA_FOR_EACH_NCCL_FUNCTION(X)                                        \
  X(GetVersion, (int *version))                                                \
  X(GetUniqueId, (UniqueId * id))                                              \
  X(CommInitRankConfig, (CommunicatorHandle * communicator, int count,         \
                         UniqueId id, int rank, Config *config))               \
  X(CommAbort, (CommunicatorHandle communicator))                              \
  X(CommGetAsyncError, (CommunicatorHandle communicator, Code * code))         \
  X(AllReduce,                                                                 \
    (const void *from, void *to, size_t count, Type type, Reduction reduction, \
     CommunicatorHandle communicator, StreamHandle stream))                    \
  X(ReduceScatter, (const void *from, void *to, size_t toCount, Type type,     \
                    Reduction reduction, CommunicatorHandle communicator,      \
                    StreamHandle stream))                                      \
  X(AllGather, (const void *from, void *to, size_t fromCount, Type type,       \
                CommunicatorHandle communicator, StreamHandle stream))         \
  X(Broadcast, (const void *from, void *to, size_t count, Type type, int root, \
                CommunicatorHandle communicator, StreamHandle stream))         \
  X(Send, (const void *from, size_t count, Type type, int peer,                \
           CommunicatorHandle communicator, StreamHandle stream))              \
  X(Recv, (void *to, size_t count, Type type, int peer,                        \
           CommunicatorHandle communicator, StreamHandle stream))              \
  X(GroupStart, ())                                                            \
  X(GroupEnd, ())

struct Api {
#define X(name, parameters) Code(*name) parameters;
  ALULA_FOR_EACH_NCCL_FUNCTION(X)
#undef X
  const char *(*GetErrorString)(Code code);
  const char *(*GetLastError)(CommunicatorHandle communicator);
  int version;
};

/// NCCL's functions, found once; NULL, and why, if there are none.
const Api *getApi(char (&why)[400]);

} // namespace alula::runtime::cuda::nccl
