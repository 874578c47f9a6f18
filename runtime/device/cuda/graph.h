// Commands of a stream that wait to be given to it together, as a graph if the
// same commands have come before.

#pragma once

#include "runtime/device/cuda/api.h"
#include "runtime/device/device.h"

namespace alula::runtime::cuda {

struct CudaDevice;
struct CudaCall;

/// A launch, a copy, a fill or a call of a library; or what a loop has besides:
/// its condition is asked for, its end, memory that changes places if the
/// number of rounds was odd. Of a choice: whether a branch is the one that runs
/// is decided, for all of them first; a branch begins, and has an end as a
/// loop.
struct Command {
  enum Kind : uint32_t {
    Launch,
    Copy,
    Fill,
    Call,
    Test,
    End,
    Exchange,
    Choice,
    Branch
  } kind;
  // ---- What a graph of it has for good ----
  /// Of a launch. The owner is never that of other kernels, as the address of a
  /// function may be.
  FunctionHandle function;
  uint64_t owner;
  unsigned grid[3], block[3], sharedBytes;
  uint32_t valueCount;
  /// Of a call, which writes to `to` besides.
  const CudaCall *call;
  /// Of a copy, or of a fill of `count` elements that lie `pitch` apart.
  uint64_t bytes, count, pitch;
  uint32_t elementBytes;
  /// Of a test, and what comes next if there is no other round, or, of the
  /// last one, if there is.
  LoopRecorder::Place place;
  uint32_t target;
  /// Of a choice and a branch: its number, how many there are, the kind of the
  /// index, the command that decides the branch. A branch that does not run
  /// goes on at `target`.
  uint32_t branch, branchCount, decider;
  LoopRecorder::Index index;
  // ---- What may differ from one time to the next ----
  uint32_t firstValue;
  /// Of a test: the condition, and the word that is 1 after an odd round. Of a
  /// choice: the index, and the word that says the branch to the host.
  DeviceAddress to, from;
  DeviceAddress condition, word;
  uint32_t pattern;
  /// For error messages; they live as long as the kernels.
  const char *functionName, *kernelName;
};

/// Commands in their order, and the parameters of their launches.
struct CommandList {
  Array<Command> commands;
  Array<uint64_t> values;
  /// Words of its loops and choices.
  uint32_t wordCount = 0;
  bool hasLoops = false;

  uint32_t count() const { return uint32_t(commands.size()); }
  void clear() {
    // Shrinking never allocates.
    (void)!commands.resize(0);
    (void)!values.resize(0);
    wordCount = 0;
    hasLoops = false;
  }
};

/// Kernels of loops and choices: one tells CUDA whether there is another round,
/// one exchanges memory, one tells CUDA whether a branch runs.
struct LoopKernels {
  ModuleHandle module;
  FunctionHandle test, exchange, choose;
  /// Whether it was tried to load them.
  bool isTried;
};
struct LoopValues;
/// Whether the device has graphs with conditions, its context being current.
bool findLoopKernels(CudaDevice &device);

/// The graphs of one stream. What comes for the second time becomes one, which
/// later ones change where they differ.
class CudaGraphs {
public:
  explicit CudaGraphs(CudaDevice &device) : device(device) {}
  /// A word of the host's memory that ends all loops if it is not 0.
  void setStop(const uint32_t *word) { stop = word; }
  CudaGraphs(const CudaGraphs &) = delete;
  CudaGraphs &operator=(const CudaGraphs &) = delete;
  ~CudaGraphs();

  /// Shorter lists are not worth a graph.
  static constexpr uint32_t leastCommands = 4;

  /// Launches the graph of these commands, the context being current; false if
  /// there is none, and they have to be given to the stream one by one.
  bool launch(const CommandList &list, StreamHandle handle, Result *result);

private:
  static constexpr uint32_t mostGraphs = 8;
  struct Graph {
    uint64_t hash;
    uint64_t lastUse;
    CommandList list;
    Array<NodeHandle> nodes;
    /// Of tests and choices: the conditions that they decide.
    Array<ConditionHandle> conditions;
    Array<void *> parameters;
    GraphHandle graph;
    GraphExecHandle exec;
  };

  Graph *find(const CommandList &list, uint64_t hash);
  bool remember(const CommandList &list, uint64_t hash);
  bool build(Graph &graph);
  /// Where nodes are added: a graph of its own for each loop and branch.
  struct Place {
    GraphHandle graph;
    NodeHandle last;
    ConditionHandle loop;
    /// Runs for a second round of each pair.
    bool isSecond;
  };
  KernelNode describeKernel(Graph &graph, const Command &command,
                            LoopValues &values);
  Result addNode(Graph &graph, uint32_t number, Place &place);
  /// What a call gives the stream, as a graph.
  Result capture(Graph &graph, const Command &command, GraphHandle *captured);
  Result addTest(Graph &graph, uint32_t number, Array<Place> &places);
  Result addChoice(Graph &graph, uint32_t number, Place &place);
  /// A graph that runs as long as, or if, the condition holds.
  Result addBody(ConditionHandle condition, bool isLoop, Array<Place> &places,
                 Place body);
  bool change(Graph &graph, const CommandList &list);
  Result setNode(Graph &graph, uint32_t number);
  void forget(Graph &graph);

  CudaDevice &device;
  /// The one whose graphs these are.
  StreamHandle stream = nullptr;
  const uint32_t *stop = nullptr;
  Graph *graphs[mostGraphs] = {};
  uint64_t uses = 0;
};

} // namespace alula::runtime::cuda
