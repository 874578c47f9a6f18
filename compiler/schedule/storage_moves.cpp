// What is joined, what is moved, and where it all lies.

#include "compiler/schedule/storage_planner.h"

#include "compiler/schedule/arena_plan.h"

using namespace mlir;
using namespace alula::schedule;

// ---- Joining and moving ----

bool StoragePlanner::isTooEarly(int global, int ours) {
  ArrayRef<LiveRange::Interval> times = facts[ours].range.getIntervals();
  return getMemory(global).kind == Memory::Kind::Global && !times.empty() &&
         times.front().first <= lastFailure;
}

bool StoragePlanner::canJoin(const Edge &edge) {
  int a = find(plan.numbers.at(edge.source)), b = find(edge.target);
  if (!isOurs(a) && !isOurs(b))
    return false;
  if (!getMemory(a).isWritable || !getMemory(b).isWritable)
    return false;
  if (facts[a].isDynamic != facts[b].isDynamic ||
      (!facts[a].isDynamic && getMemory(a).bytes != getMemory(b).bytes))
    return false;
  int groupA = groups.find(a), groupB = groups.find(b);
  if (groupA == groupB || groupRanges[groupA].overlaps(groupRanges[groupB]))
    return false;
  if (isOurs(a) && isOurs(b))
    return true;
  if (isExchanged.contains(a) || isExchanged.contains(b))
    return false;
  if (isTooEarly(a, b) || isTooEarly(b, a))
    return false;
  return !facts[a].isDynamic || canBindResult(edge, a);
}

bool StoragePlanner::canBindResult(const Edge &edge, int memory) {
  Operation *maker = edge.source.getDefiningOp();
  const Facts &known = facts[memory];
  return edge.result && !known.hasOtherMakers && known.makers.size() == 1 &&
         known.makers.front() == maker &&
         maker->getBlock() == &function.front() &&
         edge.source.getType() ==
             function.getFunctionType().getResult(*edge.result);
}

void StoragePlanner::joinAndMove(ArrayRef<Edge> some) {
  llvm::MapVector<Operation *, SmallVector<const Edge *>> points;
  for (const Edge &edge : some) {
    if (find(plan.numbers.at(edge.source)) != find(edge.target) &&
        canJoin(edge))
      join(plan.numbers.at(edge.source), edge.target);
    points[edge.at].push_back(&edge);
  }
  for (auto &[at, meeting] : points)
    move(at, meeting);
}

bool StoragePlanner::canExchange(int a, int b) {
  return isOurs(a) && isOurs(b) && find(a) != find(b) &&
         facts[find(a)].isDynamic == facts[find(b)].isDynamic &&
         getMemory(a).bytes == getMemory(b).bytes;
}

void StoragePlanner::move(Operation *at, ArrayRef<const Edge *> meeting) {
  int64_t step = steps.getBegin(at);
  // Below so many bytes a copy is as cheap as an exchange, and leaves more
  // freedom where values live.
  int64_t smallestTake = 4 * machine.lineBytes;
  SmallVector<ParallelCopy> copies;
  for (const Edge *edge : meeting) {
    int source = find(plan.numbers.at(edge->source));
    int target = find(edge->target);
    bool isLarge =
        facts[source].isDynamic || getMemory(source).bytes >= smallestTake;
    copies.push_back({source, target,
                      isLarge && canExchange(source, target) &&
                          !facts[source].range.contains(step + 1)});
  }
  auto makeTemporary = [&](unsigned copy) {
    int number = addOurs(meeting[copy]->source.getType());
    addRange(number, LiveRange(step, step + 1));
    touched[number].push_back(at);
    return number;
  };
  SmallVector<Move> ordered = orderCopies(
      copies, [&](int a, int b) { return canExchange(a, b); }, makeTemporary);
  // Sources and targets are live until the whole parallel copy is done.
  for (const ParallelCopy &copy : copies)
    if (copy.source != copy.target) {
      addRange(copy.source, LiveRange(step, step + 1));
      addRange(copy.target, LiveRange(step, step + 1));
    }
  for (const Move &made : ordered) {
    if (made.kind != Move::Kind::Copy && !facts[made.source].isDynamic) {
      joinGroups(made.source, made.target);
      isExchanged.insert(made.source);
      isExchanged.insert(made.target);
    }
    plan.moves[at].push_back(
        {made.kind, made.source, made.target, meeting[made.copy]->source});
  }
}

// ---- Places ----

void StoragePlanner::place() {
  SmallVector<int> placed;
  SmallVector<Lifetime> lifetimes;
  for (int number = 0; number < static_cast<int>(plan.memories.size());
       ++number) {
    if (find(number) != number || !isOurs(number))
      continue;
    if (facts[number].isDynamic) {
      plan.memories[number].kind = Memory::Kind::Local;
      continue;
    }
    placed.push_back(number);
    lifetimes.push_back(
        {plan.memories[number].bytes, groupRanges[groups.find(number)]});
  }
  ArenaPlan arena =
      planArena(lifetimes, static_cast<uint64_t>(machine.alignment));
  for (auto [number, offset] : llvm::zip_equal(placed, arena.offsets))
    plan.memories[number].number = offset;
  plan.arenaBytes = arena.bytes;
}

void StoragePlanner::addFrees() {
  for (auto &[value, number] : plan.numbers) {
    SmallVector<Operation *> &ops = touched[find(number)];
    if (auto argument = dyn_cast<BlockArgument>(value))
      ops.push_back(argument.getOwner()->getParentOp());
    else
      ops.push_back(value.getDefiningOp());
    llvm::append_range(ops, value.getUsers());
  }
  for (const Edge &edge : edges)
    touched[find(edge.target)].push_back(edge.at);
  for (int number = 0; number < static_cast<int>(plan.memories.size());
       ++number)
    if (find(number) == number &&
        plan.memories[number].kind == Memory::Kind::Local)
      if (Operation *last = findLast(touched[number]);
          last != function.front().getTerminator())
        plan.frees[last].push_back(number);
}

Operation *StoragePlanner::findLast(ArrayRef<Operation *> ops) {
  Block *home = ops.front()->getBlock();
  for (Operation *op : ops)
    while (!home->findAncestorOpInBlock(*op))
      home = home->getParentOp()->getBlock();
  Operation *last = nullptr;
  for (Operation *op : ops) {
    Operation *ancestor = home->findAncestorOpInBlock(*op);
    if (!last || steps.getBegin(last) < steps.getBegin(ancestor))
      last = ancestor;
  }
  return last;
}
