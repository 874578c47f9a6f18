// Collectives over the simulated grid, and a process's place in it.
#include "reference/fold.h"
#include "reference/op_table.h"
#include "reference/process_group.h"

#include "dialect/stablehlo/ops.h"

#include <cstring>

using namespace mlir;

namespace alula::reference {
namespace {

int64_t getChannel(const OpCall &call) {
  auto handle =
      call.op->getAttrOfType<stablehlo::ChannelHandleAttr>("channel_handle");
  return handle ? handle.getHandle() : 0;
}

/// Of ops with use_global_device_ids.
GroupStrategy getGlobalStrategy(const OpCall &call) {
  if (call.getFlag("use_global_device_ids"))
    return GroupStrategy::FlattenedIds;
  return getChannel(call) > 0 ? GroupStrategy::CrossReplicaAndPartition
                              : GroupStrategy::CrossReplica;
}

GroupStrategy getPlainStrategy(const OpCall &call) {
  return getChannel(call) > 0 ? GroupStrategy::CrossPartition
                              : GroupStrategy::CrossReplica;
}

/// What the members of a process's group brought, in the order of the group.
struct Gathered {
  ProcessGroup group;
  std::vector<std::vector<Value>> values;
  size_t self = 0;
};

/// Nothing if this process is in no group.
FailureOr<std::optional<Gathered>> gather(OpCall &call,
                                          GroupStrategy strategy) {
  Process *process = call.evaluator.process;
  FailureOr<std::vector<ProcessGroup>> groups =
      getProcessGroups(call, strategy);
  if (failed(groups))
    return failure();
  for (const ProcessGroup &group : *groups) {
    auto it = llvm::find(group, process->id);
    if (it == group.end())
      continue;
    ProcessGroup sorted = group;
    llvm::sort(sorted);
    if (std::unique(sorted.begin(), sorted.end()) != sorted.end())
      return call.error() << "a process is twice in one group";
    FailureOr<Contributions> brought =
        process->meet(call.op, getChannel(call), group, call.operands);
    if (failed(brought))
      return failure();
    Gathered gathered;
    gathered.group = group;
    gathered.self = size_t(it - group.begin());
    for (ProcessId id : group) {
      gathered.values.push_back((*brought)[id]);
      if (gathered.values.back().size() != call.operands.size())
        return call.error() << "members of a group brought different numbers "
                               "of operands";
    }
    return std::optional<Gathered>(std::move(gathered));
  }
  return std::optional<Gathered>();
}

FailureOr<Gathered> gatherMember(OpCall &call, GroupStrategy strategy) {
  FailureOr<std::optional<Gathered>> gathered = gather(call, strategy);
  if (failed(gathered))
    return failure();
  if (!*gathered)
    return call.error() << "this process is in no process group";
  return std::move(**gathered);
}

FailureOr<Tensor> concatenate(OpCall &call, llvm::ArrayRef<Tensor> parts,
                              int64_t dimension) {
  Dims dims(parts[0].getDims());
  if (dimension < 0 || dimension >= int64_t(dims.size()))
    return call.error() << "dimension " << dimension
                        << " must be below the rank " << dims.size();
  dims[size_t(dimension)] = 0;
  for (const Tensor &part : parts) {
    if (part.getRank() != int64_t(dims.size()) ||
        part.getKind() != parts[0].getKind())
      return call.error() << "members of a group brought different types";
    dims[size_t(dimension)] += part.getDim(size_t(dimension));
  }
  FailureOr<Tensor> result = call.newTensor(parts[0].getElementType(), dims);
  if (failed(result))
    return failure();
  Dims to = getStrides(dims);
  int64_t start = 0;
  for (const Tensor &part : parts) {
    for (size_t d = 0; d < dims.size(); ++d)
      if (int64_t(d) != dimension && part.getDim(d) != dims[d])
        return call.error() << "members of a group brought different shapes";
    if (part.getSize() != 0)
      copyBox(part.getElementBytes(), part.getDims(), part.getData(),
              getStrides(part.getDims()),
              result->mutableAt(start * to[size_t(dimension)]), to);
    start += part.getDim(size_t(dimension));
  }
  return result;
}

/// Part `index` of `count` equal ones.
FailureOr<Tensor> split(OpCall &call, const Tensor &tensor, int64_t dimension,
                        int64_t count, int64_t index) {
  if (dimension < 0 || dimension >= tensor.getRank() || count < 1 ||
      tensor.getDim(size_t(dimension)) % count != 0 || index >= count)
    return call.error() << "cannot split " << printDims(tensor.getDims())
                        << " into " << count << " parts along dimension "
                        << dimension;
  Dims dims(tensor.getDims()), from = getStrides(tensor.getDims());
  dims[size_t(dimension)] /= count;
  FailureOr<Tensor> result = call.newTensor(tensor.getElementType(), dims);
  if (failed(result))
    return failure();
  if (result->getSize() != 0)
    copyBox(tensor.getElementBytes(), dims,
            tensor.at(index * dims[size_t(dimension)] *
                      from[size_t(dimension)]),
            from, result->getMutableData(), getStrides(dims));
  return result;
}

FailureOr<Tensor> makeZeros(OpCall &call, const Tensor &like) {
  FailureOr<Tensor> zeros =
      call.newTensor(like.getElementType(), like.getDims());
  if (failed(zeros) || !isQuantized(like.getElementType()))
    return zeros;
  FailureOr<Tensor> real = call.newTensor(
      getExpressedType(like.getElementType()), like.getDims());
  return failed(real) ? real : quantize(call, *real, like.getElementType());
}

/// computation(...(first, second)..., last), element by element.
FailureOr<Tensor> reduceMembers(OpCall &call, const Gathered &gathered,
                                size_t operand) {
  const Tensor &first = gathered.values[0][operand].getTensor();
  FailureOr<Tensor> zero = call.newTensor(first.getElementType(), {});
  if (failed(zero))
    return failure();
  FailureOr<Fold> fold =
      Fold::prepare(call, call.op->getRegion(0), {*zero});
  if (failed(fold))
    return failure();
  FailureOr<Tensor> result =
      call.newTensor(fold->getResultType(0), first.getDims());
  if (failed(result) ||
      failed(call.charge(first.getSize(), int64_t(gathered.group.size()))))
    return failure();
  for (const auto &values : gathered.values)
    if (values[operand].getTensor().getDims() != first.getDims() ||
        values[operand].getTensor().getKind() != first.getKind())
      return call.error() << "members of a group brought different types";
  for (int64_t at = 0; at < first.getSize(); at += laneCount) {
    size_t n = size_t(std::min<int64_t>(laneCount, first.getSize() - at));
    load(first.getKind(), first.at(at), fold->getAccumulator(0), n);
    for (size_t k = 1; k < gathered.values.size(); ++k) {
      const Tensor &next = gathered.values[k][operand].getTensor();
      load(next.getKind(), next.at(at), fold->getNext(0), n);
      if (failed(fold->step(n)))
        return failure();
    }
    store(result->getKind(), fold->getAccumulator(0), result->mutableAt(at),
          n);
  }
  return result;
}

LogicalResult evalAllGather(OpCall &call) {
  FailureOr<Gathered> gathered =
      gatherMember(call, getGlobalStrategy(call));
  if (failed(gathered))
    return failure();
  for (size_t k = 0; k < call.operands.size(); ++k) {
    std::vector<Tensor> parts;
    for (const auto &values : gathered->values)
      parts.push_back(values[k].getTensor());
    FailureOr<Tensor> result =
        concatenate(call, parts, call.getInt("all_gather_dim"));
    if (failed(result))
      return failure();
    call.results.emplace_back(std::move(*result));
  }
  return success();
}

LogicalResult evalAllReduce(OpCall &call) {
  FailureOr<Gathered> gathered =
      gatherMember(call, getGlobalStrategy(call));
  if (failed(gathered))
    return failure();
  for (size_t k = 0; k < call.operands.size(); ++k) {
    FailureOr<Tensor> result = reduceMembers(call, *gathered, k);
    if (failed(result))
      return failure();
    call.results.emplace_back(std::move(*result));
  }
  return success();
}

LogicalResult evalReduceScatter(OpCall &call) {
  FailureOr<Gathered> gathered =
      gatherMember(call, getGlobalStrategy(call));
  if (failed(gathered))
    return failure();
  FailureOr<Tensor> whole = reduceMembers(call, *gathered, 0);
  if (failed(whole))
    return failure();
  FailureOr<Tensor> part =
      split(call, *whole, call.getInt("scatter_dimension"),
            int64_t(gathered->group.size()), int64_t(gathered->self));
  return failed(part) ? failure() : call.give(*part);
}

LogicalResult evalAllToAll(OpCall &call) {
  FailureOr<Gathered> gathered = gatherMember(call, getPlainStrategy(call));
  if (failed(gathered))
    return failure();
  int64_t count = call.getInt("split_count");
  if (count != int64_t(gathered->group.size()))
    return call.error() << "split_count must be the size "
                        << gathered->group.size()
                        << " of the process group, it is " << count;
  for (size_t k = 0; k < call.operands.size(); ++k) {
    std::vector<Tensor> parts;
    for (const auto &values : gathered->values) {
      FailureOr<Tensor> part =
          split(call, values[k].getTensor(), call.getInt("split_dimension"),
                count, int64_t(gathered->self));
      if (failed(part))
        return failure();
      parts.push_back(std::move(*part));
    }
    FailureOr<Tensor> result =
        concatenate(call, parts, call.getInt("concat_dimension"));
    if (failed(result))
      return failure();
    call.results.emplace_back(std::move(*result));
  }
  return success();
}

/// The member that result k comes from or goes to.
FailureOr<size_t> getRoot(OpCall &call, const Gathered &gathered, size_t k) {
  if (!call.getFlag("has_dynamic_root"))
    return size_t(0);
  const Tensor &roots = call.operands.back().getTensor();
  int64_t root = int64_t(k) < roots.getSize() ? roots.getInteger(int64_t(k))
                                              : -1;
  if (root < 0 || root >= int64_t(gathered.group.size()))
    return call.error() << "root " << root << " must be below the size "
                        << gathered.group.size() << " of the process group";
  return size_t(root);
}

size_t getDataCount(const OpCall &call) {
  return call.operands.size() - (call.getFlag("has_dynamic_root") ? 1 : 0);
}

LogicalResult giveZeros(OpCall &call, size_t k) {
  FailureOr<Tensor> zeros = makeZeros(call, call.tensor(k));
  if (failed(zeros))
    return failure();
  call.results.emplace_back(std::move(*zeros));
  return success();
}

LogicalResult evalCollectiveBroadcast(OpCall &call) {
  FailureOr<std::optional<Gathered>> gathered =
      gather(call, getPlainStrategy(call));
  if (failed(gathered))
    return failure();
  for (size_t k = 0; k < getDataCount(call); ++k) {
    if (!*gathered) {
      if (failed(giveZeros(call, k)))
        return failure();
      continue;
    }
    FailureOr<size_t> root = getRoot(call, **gathered, k);
    if (failed(root))
      return failure();
    call.results.push_back((*gathered)->values[*root][k]);
  }
  return success();
}

LogicalResult evalCollectiveReduce(OpCall &call) {
  GroupStrategy strategy = call.getFlag("use_global_device_ids")
                               ? GroupStrategy::FlattenedIds
                               : getPlainStrategy(call);
  FailureOr<std::optional<Gathered>> gathered = gather(call, strategy);
  if (failed(gathered))
    return failure();
  for (size_t k = 0; k < getDataCount(call); ++k) {
    bool isRoot = false;
    if (*gathered) {
      FailureOr<size_t> root = getRoot(call, **gathered, k);
      if (failed(root))
        return failure();
      isRoot = *root == (*gathered)->self;
    }
    if (!isRoot) {
      if (failed(giveZeros(call, k)))
        return failure();
      continue;
    }
    FailureOr<Tensor> result = reduceMembers(call, **gathered, k);
    if (failed(result))
      return failure();
    call.results.emplace_back(std::move(*result));
  }
  return success();
}

LogicalResult evalCollectivePermute(OpCall &call) {
  Process *process = call.evaluator.process;
  FailureOr<std::vector<ProcessGroup>> pairs =
      getProcessPairs(call, getPlainStrategy(call));
  if (failed(pairs))
    return failure();
  // A process may be a source and a target; it sends before it waits.
  std::optional<Tensor> received;
  for (const ProcessGroup &pair : *pairs) {
    if (pair[0] != process->id && pair[1] != process->id)
      continue;
    ProcessGroup members = {pair[0]};
    if (pair[1] != pair[0])
      members.push_back(pair[1]);
    FailureOr<Contributions> brought =
        process->meet(call.op, getChannel(call), members, call.operands);
    if (failed(brought))
      return failure();
    if (pair[1] == process->id)
      received = (*brought)[pair[0]][0].getTensor();
  }
  if (received)
    return call.give(*received);
  return giveZeros(call, 0);
}

LogicalResult evalCrossReplicaSum(OpCall &call) {
  FailureOr<Gathered> gathered =
      gatherMember(call, GroupStrategy::CrossReplica);
  if (failed(gathered))
    return failure();
  const Tensor &own = call.tensor(0);
  FailureOr<Tensor> result =
      call.newTensor(own.getElementType(), own.getDims());
  LaneFunction add = findLaneFunction("add", own.getKind());
  if (failed(result) || !add)
    return failure();
  size_t n = size_t(own.getSize());
  std::vector<Cell> sum(n), next(n);
  load(own.getKind(), gathered->values[0][0].getTensor().getData(),
       sum.data(), n);
  for (size_t k = 1; k < gathered->values.size(); ++k) {
    const Tensor &other = gathered->values[k][0].getTensor();
    if (other.getSize() != own.getSize() || other.getKind() != own.getKind())
      return call.error() << "members of a group brought different types";
    load(own.getKind(), other.getData(), next.data(), n);
    const Cell *operands[] = {sum.data(), next.data()};
    add(operands, sum.data(), n, {own.getKind(), own.getKind()});
  }
  store(own.getKind(), sum.data(), result->getMutableData(), n);
  return call.give(*result);
}

LogicalResult giveNumber(OpCall &call, uint64_t number) {
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), {});
  if (failed(result))
    return failure();
  Cell cell{};
  cell.u = number;
  result->setCell(0, cell);
  return call.give(*result);
}

LogicalResult evalReplicaId(OpCall &call) {
  return giveNumber(call, call.evaluator.process->id.replica);
}

LogicalResult evalPartitionId(OpCall &call) {
  return giveNumber(call, call.evaluator.process->id.partition);
}

} // namespace

void addCollectiveOps(OpTable &table) {
  auto add = [&](llvm::StringRef name, Handler handler) {
    table.add(("stablehlo." + name).str(), handler, Quantized::Stored,
              /*pure=*/false);
  };
  add("all_gather", evalAllGather);
  add("all_reduce", evalAllReduce);
  add("reduce_scatter", evalReduceScatter);
  add("all_to_all", evalAllToAll);
  add("collective_broadcast", evalCollectiveBroadcast);
  add("collective_reduce", evalCollectiveReduce);
  add("collective_permute", evalCollectivePermute);
  add("cross-replica-sum", evalCrossReplicaSum);
  add("replica_id", evalReplicaId);
  add("partition_id", evalPartitionId);
}

} // namespace alula::reference
