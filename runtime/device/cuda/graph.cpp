#include "runtime/device/cuda/device.h"

namespace alula::runtime::cuda {
/// What the kernels of loops get.
struct LoopValues {
  uint64_t values[6];
  void *parameters[6];
  LoopValues(const Command &command, const ConditionHandle *conditions,
             const uint32_t *stop) {
    uint64_t test[] = {conditions[0],
                       conditions[1],
                       command.condition,
                       command.word,
                       command.place == LoopRecorder::Middle,
                       reinterpret_cast<uint64_t>(stop)};
    uint64_t exchange[] = {
        command.to, command.from, command.bytes, command.word, 0, 0};
    uint64_t choice[] = {conditions[0],  command.condition,       command.index,
                         command.branch, command.branchCount - 1, 0};
    memcpy(values,
           command.kind == Command::Test     ? test
           : command.kind == Command::Choice ? choice
                                             : exchange,
           sizeof values);
    for (int i = 0; i < 6; ++i)
      parameters[i] = &values[i];
  }
};

namespace {

/// Whether one graph does for both, changed where they differ.
bool isSame(const Command &a, const Command &b) {
  return a.kind == b.kind && a.function == b.function && a.owner == b.owner &&
         memcmp(a.grid, b.grid, sizeof a.grid) == 0 &&
         memcmp(a.block, b.block, sizeof a.block) == 0 &&
         a.sharedBytes == b.sharedBytes && a.valueCount == b.valueCount &&
         a.call == b.call && a.bytes == b.bytes && a.count == b.count &&
         a.pitch == b.pitch && a.elementBytes == b.elementBytes &&
         a.place == b.place && a.target == b.target && a.branch == b.branch &&
         a.branchCount == b.branchCount && a.decider == b.decider &&
         a.index == b.index;
}

uint64_t hash(const CommandList &list) {
  uint64_t mixed = 14695981039346656037u;
  auto mix = [&](uint64_t value) { mixed = (mixed ^ value) * 1099511628211u; };
  for (const Command &command : list.commands) {
    mix(command.kind);
    mix(reinterpret_cast<uintptr_t>(command.function));
    mix(command.owner);
    mix(reinterpret_cast<uintptr_t>(command.call));
    for (int axis = 0; axis < 3; ++axis)
      mix(command.grid[axis]);
    mix(command.bytes);
    mix(command.count);
    mix(command.target);
    mix(command.branch);
  }
  return mixed;
}

template <class T> bool copy(Array<T> &to, const Array<T> &from) {
  if (!to.resize(from.size()))
    return false;
  if (from.size())
    memcpy(static_cast<void *>(to.data()), from.data(),
           from.size() * sizeof(T));
  return true;
}

KernelNode describeLaunch(const Command &command, void **parameters) {
  KernelNode node = {};
  node.function = command.function;
  memcpy(node.grid, command.grid, sizeof node.grid);
  memcpy(node.block, command.block, sizeof node.block);
  node.sharedBytes = command.sharedBytes;
  node.parameters = parameters;
  return node;
}
CopyNode describeCopy(const Command &command) {
  CopyNode node = {};
  node.from.type = node.to.type = unifiedMemory;
  node.from.address = command.from;
  node.to.address = command.to;
  node.from.pitch = node.to.pitch = node.width = command.bytes;
  node.from.height = node.to.height = node.height = node.depth = 1;
  return node;
}
KernelNode describeLoopKernel(const Command &command,
                              const LoopKernels &kernels, LoopValues &values) {
  KernelNode node = {};
  bool isExchange = command.kind == Command::Exchange;
  node.function = isExchange                        ? kernels.exchange
                  : command.kind == Command::Choice ? kernels.choose
                                                    : kernels.test;
  uint64_t blocks = isExchange ? (command.bytes + 1023) / 1024 : 1;
  node.grid[0] = unsigned(blocks < 1024 ? blocks : 1024);
  node.grid[1] = node.grid[2] = node.block[1] = node.block[2] = 1;
  node.block[0] = isExchange ? 256 : 1;
  node.parameters = values.parameters;
  return node;
}
FillNode describeFill(const Command &command) {
  FillNode node = {};
  node.to = command.to;
  node.value = command.pattern;
  node.elementBytes = command.elementBytes;
  bool isDense = command.pitch == command.elementBytes;
  node.pitch = isDense ? 0 : command.pitch;
  node.width = isDense ? command.count : 1;
  node.height = isDense ? 1 : command.count;
  return node;
}
} // namespace

CudaGraphs::~CudaGraphs() {
  for (Graph *&graph : graphs)
    if (graph) {
      forget(*graph);
      destroy(graph);
    }
}

void CudaGraphs::forget(Graph &graph) {
  if (graph.exec)
    device.api->GraphExecDestroy(graph.exec);
  if (graph.graph)
    device.api->GraphDestroy(graph.graph);
  graph.exec = nullptr;
  graph.graph = nullptr;
}

CudaGraphs::Graph *CudaGraphs::find(const CommandList &list, uint64_t wanted) {
  for (Graph *graph : graphs) {
    if (!graph || graph->hash != wanted || graph->list.count() != list.count())
      continue;
    bool same = true;
    for (uint32_t i = 0; same && i < list.count(); ++i)
      same = isSame(graph->list.commands[i], list.commands[i]);
    if (same)
      return graph;
  }
  return nullptr;
}

/// In place of the one that was not used for the longest time.
bool CudaGraphs::remember(const CommandList &list, uint64_t wanted) {
  Graph **place = &graphs[0];
  for (Graph *&graph : graphs)
    if (!graph || (*place && graph->lastUse < (*place)->lastUse))
      place = &graph;
  if (!*place && !(*place = create<Graph>()))
    return false;
  Graph &graph = **place;
  forget(graph);
  graph.hash = wanted;
  graph.lastUse = ++uses;
  // What can't be kept is not found again.
  if (copy(graph.list.commands, list.commands) &&
      copy(graph.list.values, list.values))
    return true;
  graph.list.clear();
  return false;
}

/// One of the program, or of a loop with its own values.
KernelNode CudaGraphs::describeKernel(Graph &graph, const Command &command,
                                      LoopValues &values) {
  if (command.kind == Command::Launch)
    return describeLaunch(command,
                          graph.parameters.data() + command.firstValue);
  return describeLoopKernel(command, device.loops, values);
}

Result CudaGraphs::capture(Graph &graph, const Command &command,
                           GraphHandle *captured) {
  const Api &api = *device.api;
  *captured = nullptr;
  Result result = api.StreamBeginCapture(stream, captureRelaxed);
  if (result != success)
    return result;
  char reason[8];
  bool isGood =
      command.call->run(stream, graph.list.values.data() + command.firstValue,
                        command.to, reason, sizeof reason);
  result = api.StreamEndCapture(stream, captured);
  if (result == success && isGood)
    return success;
  if (*captured)
    api.GraphDestroy(*captured);
  return result == success ? unknownError : result;
}

Result CudaGraphs::addNode(Graph &graph, uint32_t number, Place &place) {
  const Api &api = *device.api;
  const Command &command = graph.list.commands[number];
  NodeHandle *node = &graph.nodes[number];
  // As in the stream, each after the one before it.
  const NodeHandle *before = place.last ? &place.last : nullptr;
  size_t count = place.last ? 1 : 0;
  Result result;
  if (command.kind == Command::Copy) {
    CopyNode copy = describeCopy(command);
    result = api.GraphAddMemcpyNode(node, place.graph, before, count, &copy,
                                    device.context);
  } else if (command.kind == Command::Fill) {
    FillNode fill = describeFill(command);
    result = api.GraphAddMemsetNode(node, place.graph, before, count, &fill,
                                    device.context);
  } else if (command.kind == Command::Call) {
    GraphHandle child;
    result = capture(graph, command, &child);
    if (result == success) {
      result =
          api.GraphAddChildGraphNode(node, place.graph, before, count, child);
      api.GraphDestroy(child);
    }
  } else {
    LoopValues values(command, &graph.conditions[2 * number], stop);
    KernelNode launch = describeKernel(graph, command, values);
    result = api.GraphAddKernelNode(node, place.graph, before, count, &launch);
  }
  place.last = *node;
  return result;
}

/// The kernel that gives CUDA the condition and, unless it is the last one, the
/// node whose graph has what comes next.
Result CudaGraphs::addTest(Graph &graph, uint32_t number,
                           Array<Place> &places) {
  const Api &api = *device.api;
  LoopRecorder::Place kind = graph.list.commands[number].place;
  Place &place = places[places.size() - 1];
  ConditionHandle *conditions = &graph.conditions[2 * number];
  ConditionHandle next = 0;
  Result result = success;
  if (kind != LoopRecorder::Last)
    result = api.GraphConditionalHandleCreate(&next, place.graph,
                                              device.context, 0, 0);
  conditions[0] = kind == LoopRecorder::First ? next : place.loop;
  conditions[1] = kind == LoopRecorder::Middle ? next : 0;
  if (result == success)
    result = addNode(graph, number, place);
  if (result != success || kind == LoopRecorder::Last)
    return result;
  return addBody(
      next, kind == LoopRecorder::First, places,
      {nullptr, nullptr, conditions[0], kind == LoopRecorder::Middle});
}

/// The kernel that gives CUDA the condition of a branch.
Result CudaGraphs::addChoice(Graph &graph, uint32_t number, Place &place) {
  ConditionHandle *conditions = &graph.conditions[2 * number];
  conditions[1] = 0;
  Result result = device.api->GraphConditionalHandleCreate(
      conditions, place.graph, device.context, 0, 0);
  return result == success ? addNode(graph, number, place) : result;
}

Result CudaGraphs::addBody(ConditionHandle condition, bool isLoop,
                           Array<Place> &places, Place body) {
  Place &place = places[places.size() - 1];
  NodeParameters parameters = {};
  parameters.type = conditionNode;
  parameters.condition = {condition, isLoop, 1, &body.graph, device.context};
  NodeHandle node;
  Result result =
      device.api->GraphAddNode(&node, place.graph, &place.last, 1, &parameters);
  if (result != success)
    return result;
  place.last = node;
  // CUDA gives the graph in an array of its own.
  body.graph = *parameters.condition.graphs;
  return places.push(body) ? success : outOfMemory;
}

bool CudaGraphs::build(Graph &graph) {
  const Api &api = *device.api;
  if (!graph.nodes.resize(graph.list.count()) ||
      !graph.conditions.resize(2 * size_t(graph.list.count())) ||
      !graph.parameters.resize(graph.list.values.size() + 1))
    return false;
  for (size_t i = 0; i < graph.list.values.size(); ++i)
    graph.parameters[i] = &graph.list.values[i];
  Result result = api.GraphCreate(&graph.graph, 0);
  Array<Place> places;
  if (!places.push({graph.graph, nullptr, 0, false}))
    result = result == success ? outOfMemory : result;
  for (uint32_t i = 0; result == success && i < graph.list.count(); ++i) {
    const Command &command = graph.list.commands[i];
    size_t depth = places.size();
    if (command.kind == Command::Test)
      result = addTest(graph, i, places);
    else if (command.kind == Command::Choice)
      result = addChoice(graph, i, places[depth - 1]);
    else if (command.kind == Command::Branch)
      result = addBody(graph.conditions[2 * size_t(command.decider)], false,
                       places, {});
    else if (command.kind != Command::End)
      result = addNode(graph, i, places[depth - 1]);
    else // Shrinking never allocates.
      (void)!places.resize(depth - (places[depth - 1].isSecond ? 2 : 1));
  }
  if (result == success)
    result = api.GraphInstantiateWithFlags(&graph.exec, graph.graph, 0);
  if (result == success)
    return true;
  forget(graph);
  return false;
}

Result CudaGraphs::setNode(Graph &graph, uint32_t number) {
  const Api &api = *device.api;
  const Command &command = graph.list.commands[number];
  NodeHandle node = graph.nodes[number];
  if (command.kind == Command::Copy) {
    CopyNode copy = describeCopy(command);
    return api.GraphExecMemcpyNodeSetParams(graph.exec, node, &copy,
                                            device.context);
  }
  if (command.kind == Command::Fill) {
    FillNode fill = describeFill(command);
    return api.GraphExecMemsetNodeSetParams(graph.exec, node, &fill,
                                            device.context);
  }
  if (command.kind == Command::Call) {
    GraphHandle child;
    Result result = capture(graph, command, &child);
    if (result == success) {
      result = api.GraphExecChildGraphNodeSetParams(graph.exec, node, child);
      api.GraphDestroy(child);
    }
    return result;
  }
  LoopValues values(command, &graph.conditions[2 * number], stop);
  KernelNode launch = describeKernel(graph, command, values);
  return api.GraphExecKernelNodeSetParams(graph.exec, node, &launch);
}

/// Launches that have begun keep what they were launched with.
bool CudaGraphs::change(Graph &graph, const CommandList &list) {
  for (uint32_t i = 0; i < list.count(); ++i) {
    Command &old = graph.list.commands[i];
    const Command &now = list.commands[i];
    uint64_t *oldValues = graph.list.values.data() + old.firstValue;
    const uint64_t *values = list.values.data() + now.firstValue;
    size_t valueBytes = now.valueCount * sizeof(uint64_t);
    if (old.to == now.to && old.from == now.from &&
        old.pattern == now.pattern && old.condition == now.condition &&
        old.word == now.word &&
        (!valueBytes || memcmp(oldValues, values, valueBytes) == 0))
      continue;
    old.to = now.to;
    old.from = now.from;
    old.pattern = now.pattern;
    old.condition = now.condition;
    old.word = now.word;
    if (valueBytes)
      memcpy(oldValues, values, valueBytes);
    if (old.kind == Command::End || old.kind == Command::Branch)
      continue;
    // A copy whose memory is of another kind than before can't be changed.
    if (setNode(graph, i) != success) {
      forget(graph);
      return false;
    }
  }
  return true;
}

bool CudaGraphs::launch(const CommandList &list, StreamHandle handle,
                        Result *result) {
  stream = handle;
  if (list.count() < leastCommands && !list.hasLoops)
    return false;
  uint64_t wanted = hash(list);
  Graph *graph = find(list, wanted);
  if (!graph) {
    // A loop has rounds enough to be worth one at once.
    if (!remember(list, wanted) || !list.hasLoops)
      return false;
    graph = find(list, wanted);
  }
  graph->lastUse = ++uses;
  if (graph->exec
          ? !change(*graph, list)
          : !copy(graph->list.commands, list.commands) ||
                !copy(graph->list.values, list.values) || !build(*graph))
    return false;
  *result = device.api->GraphLaunch(graph->exec, stream);
  return true;
}

} // namespace alula::runtime::cuda
