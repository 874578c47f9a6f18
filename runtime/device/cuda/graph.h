// Commands of a stream that wait to be given to it together, as a graph if the
// same commands have come before.

#pragma once

#include "runtime/device/cuda/api.h"
#include "runtime/device/device.h"

namespace alula::runtime::cuda {

struct CudaDevice;

/// A launch, a copy or a fill.
struct Command {
  enum Kind : uint32_t { Launch, Copy, Fill } kind;
  // ---- What a graph of it has for good ----
  /// Of a launch. The owner is never that of other kernels, as the address of a
  /// function may be.
  FunctionHandle function;
  uint64_t owner;
  unsigned grid[3], block[3], sharedBytes;
  uint32_t valueCount;
  /// Of a copy, or of a fill of `count` elements that lie `pitch` apart.
  uint64_t bytes, count, pitch;
  uint32_t elementBytes;
  // ---- What may differ from one time to the next ----
  uint32_t firstValue;
  DeviceAddress to, from;
  uint32_t pattern;
  /// For error messages; they live as long as the kernels.
  const char *functionName, *kernelName;
};

/// Commands in their order, and the parameters of their launches.
struct CommandList {
  Array<Command> commands;
  Array<uint64_t> values;

  uint32_t count() const { return uint32_t(commands.size()); }
  void clear() {
    // Shrinking never allocates.
    (void)!commands.resize(0);
    (void)!values.resize(0);
  }
};

/// The graphs of one stream. What comes for the second time becomes one, which
/// later ones change where they differ.
class CudaGraphs {
public:
  explicit CudaGraphs(CudaDevice &device) : device(device) {}
  CudaGraphs(const CudaGraphs &) = delete;
  CudaGraphs &operator=(const CudaGraphs &) = delete;
  ~CudaGraphs();

  /// Shorter lists are not worth a graph.
  static constexpr uint32_t leastCommands = 4;

  /// Launches the graph of these commands, the context being current; false if
  /// there is none, and they have to be given to the stream one by one.
  bool launch(const CommandList &list, StreamHandle stream, Result *result);

private:
  static constexpr uint32_t mostGraphs = 8;
  struct Graph {
    uint64_t hash;
    uint64_t lastUse;
    CommandList list;
    Array<NodeHandle> nodes;
    Array<void *> parameters;
    GraphHandle graph;
    GraphExecHandle exec;
  };

  Graph *find(const CommandList &list, uint64_t hash);
  bool remember(const CommandList &list, uint64_t hash);
  bool build(Graph &graph);
  Result addNode(Graph &graph, uint32_t number);
  bool change(Graph &graph, const CommandList &list);
  Result setNode(Graph &graph, uint32_t number);
  void forget(Graph &graph);

  CudaDevice &device;
  Graph *graphs[mostGraphs] = {};
  uint64_t uses = 0;
};

} // namespace alula::runtime::cuda
