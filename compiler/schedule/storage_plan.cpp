// Gives every tensor memory.
//
// Values that must share bytes (a view and its source) are one memory from the
// start. Where a value becomes another one (a loop's entry, the end of a body
// or a branch, a result in place, the function's end), both become one memory
// if they are never needed at the same time, the innermost places first. What
// is left is moved: taken, where memories can be exchanged, or copied.

#include "compiler/schedule/storage_plan.h"

#include "compiler/schedule/arena_plan.h"
#include "compiler/schedule/steps.h"
#include "dialect/dispatch/byte_size.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace alula::schedule;
using alula::dispatch::getByteSize;
using alula::dispatch::LaunchOp;
using alula::dispatch::ViewOp;

/// Below so many bytes a copy is as cheap as an exchange, and leaves more
/// freedom where values live.
static constexpr int64_t smallestTake = 256;

std::optional<unsigned>
alula::schedule::getAliasedArgument(func::FuncOp function, unsigned result) {
  // Only who calls from outside can give memory away.
  if (!function.isPublic())
    return std::nullopt;
  FunctionType type = function.getFunctionType();
  auto isFit = [&](unsigned argument, unsigned candidate) {
    auto tensor = dyn_cast<RankedTensorType>(type.getResult(candidate));
    return tensor && type.getInput(argument) == tensor &&
           tensor.hasStaticShape();
  };
  auto getNamed = [&](unsigned argument) -> std::optional<unsigned> {
    auto named =
        function.getArgAttrOfType<IntegerAttr>(argument, "tf.aliasing_output");
    if (!named || named.getInt() < 0 ||
        named.getInt() >= type.getNumResults() ||
        !isFit(argument, static_cast<unsigned>(named.getInt())))
      return std::nullopt;
    return static_cast<unsigned>(named.getInt());
  };
  llvm::SmallDenseMap<unsigned, unsigned> taken;
  for (unsigned argument = 0; argument < type.getNumInputs(); ++argument)
    if (auto named = getNamed(argument))
      taken.try_emplace(*named, argument);
  // A donated argument goes to the first result that can use it.
  for (unsigned argument = 0; argument < type.getNumInputs(); ++argument) {
    auto donated =
        function.getArgAttrOfType<BoolAttr>(argument, "jax.buffer_donor");
    if (!donated || !donated.getValue() || getNamed(argument))
      continue;
    for (unsigned candidate = 0; candidate < type.getNumResults(); ++candidate)
      if (!taken.contains(candidate) && isFit(argument, candidate)) {
        taken[candidate] = argument;
        break;
      }
  }
  auto found = taken.find(result);
  if (found == taken.end())
    return std::nullopt;
  return found->second;
}

std::optional<unsigned> alula::schedule::getInPlaceOperand(OpResult result) {
  Operation *op = result.getOwner();
  if (auto launch = dyn_cast<LaunchOp>(op))
    return launch.getInPlaceInput(result.getResultNumber());
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op)) {
    for (auto alias : call.getOutputOperandAliases()
                          .getAsRange<stablehlo::OutputOperandAliasAttr>()) {
      ArrayRef<int64_t> output = alias.getOutputTupleIndices();
      int64_t number = output.empty() ? 0 : output.front();
      if (number == result.getResultNumber() &&
          alias.getOperandTupleIndices().empty())
        return static_cast<unsigned>(alias.getOperandIndex());
    }
    return std::nullopt;
  }
  if (auto call = dyn_cast<func::CallOp>(op))
    if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
            op, call.getCalleeAttr()))
      return getAliasedArgument(callee, result.getResultNumber());
  return std::nullopt;
}

bool alula::schedule::isInvariant(Operation *whileOp, unsigned number) {
  Block &body = cast<stablehlo::WhileOp>(whileOp).getBody().front();
  Value value = body.getTerminator()->getOperand(number);
  while (auto barrier = value.getDefiningOp<stablehlo::OptimizationBarrierOp>())
    value = barrier.getOperand()[cast<OpResult>(value).getResultNumber()];
  return value == body.getArgument(number);
}

namespace alula::schedule {

class StoragePlanner {
public:
  StoragePlanner(func::FuncOp function, StoragePlan &plan)
      : function(function), plan(plan), steps(function) {}

  void run() {
    addSignature();
    addBlock(function.front());
    addRanges();
    addReturnEdges();
    llvm::stable_sort(
        edges, [](const Edge &a, const Edge &b) { return a.depth > b.depth; });
    // Exchanges inside loops come before anything is tied to the caller's
    // memory, which can't be exchanged.
    auto *outer =
        llvm::find_if(edges, [](const Edge &edge) { return edge.depth == 0; });
    joinAndMove({edges.begin(), outer});
    joinAndMove({outer, edges.end()});
    place();
    addFrees();
    for (auto &[value, number] : plan.numbers)
      number = find(number);
    for (auto &entry : plan.moves)
      for (PlannedMove &move : entry.second) {
        move.source = find(move.source);
        move.target = find(move.target);
      }
  }

private:
  /// What is known of a memory besides its kind; lives with the first of those
  /// that were joined.
  struct Facts {
    LiveRange range;
    bool isDynamic = false;
    /// Launches and custom calls that make the memory of a dynamic value; not
    /// all, if a loop, a branch or a call makes it too.
    SmallVector<Operation *, 1> makers;
    bool hasOtherMakers = false;
  };

  /// Sets of memories, each known by one of them.
  struct Sets {
    SmallVector<int> parents;

    int find(int number) {
      while (parents[number] != number)
        number = parents[number] = parents[parents[number]];
      return number;
    }
  };

  /// A value that becomes another one.
  struct Edge {
    Value source;
    int target;
    Operation *at;
    unsigned depth;
    std::optional<unsigned> result;
  };

  // ---- Memories ----

  int addMemory(Memory memory, Type type) {
    auto number = static_cast<int>(plan.memories.size());
    auto tensor = cast<RankedTensorType>(type);
    memory.bytes = getByteSize(tensor).value_or(0);
    plan.memories.push_back(memory);
    facts.emplace_back();
    facts.back().isDynamic = !tensor.hasStaticShape();
    joined.parents.push_back(number);
    groups.parents.push_back(number);
    groupRanges.emplace_back();
    return number;
  }

  int find(int number) { return joined.find(number); }
  Memory &getMemory(int number) { return plan.memories[find(number)]; }
  bool isOurs(int number) {
    return getMemory(number).kind == Memory::Kind::Arena;
  }

  void addRange(int number, const LiveRange &range) {
    facts[find(number)].range.add(range);
    groupRanges[groups.find(number)].add(range);
  }

  /// Memories of one group exchange their bytes: they live and die together.
  void joinGroups(int a, int b) {
    a = groups.find(a);
    b = groups.find(b);
    if (a == b)
      return;
    groups.parents[b] = a;
    groupRanges[a].add(groupRanges[b]);
  }

  void join(int a, int b) {
    a = find(a);
    b = find(b);
    if (isOurs(a) && !isOurs(b))
      std::swap(a, b);
    joinGroups(a, b);
    joined.parents[b] = a;
    if (isExchanged.contains(b))
      isExchanged.insert(a);
    facts[a].range.add(facts[b].range);
    facts[a].makers.append(facts[b].makers);
    facts[a].hasOtherMakers |= facts[b].hasOtherMakers;
  }

  // ---- Values ----

  void setNumber(Value value, int number) { plan.numbers[value] = number; }

  void addSignature() {
    FunctionType type = function.getFunctionType();
    for (BlockArgument argument : function.getArguments()) {
      if (!isa<RankedTensorType>(argument.getType()))
        continue;
      Memory memory = {.kind = Memory::Kind::Argument,
                       .number = argument.getArgNumber()};
      memory.isWritable = false;
      setNumber(argument, addMemory(memory, argument.getType()));
    }
    for (auto [number, result] : llvm::enumerate(type.getResults())) {
      auto resultNumber = static_cast<unsigned>(number);
      if (!isa<RankedTensorType>(result)) {
        results.push_back(-1);
        continue;
      }
      if (auto argument = getAliasedArgument(function, resultNumber)) {
        int memory = plan.numbers[function.getArgument(*argument)];
        getMemory(memory).isWritable = true;
        results.push_back(memory);
        continue;
      }
      results.push_back(addMemory(
          {.kind = Memory::Kind::Result, .number = resultNumber}, result));
    }
  }

  int addOurs(Type type) {
    return addMemory({.kind = Memory::Kind::Arena}, type);
  }

  void addBlock(Block &block) {
    for (Operation &op : block) {
      if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
        addLoop(loop);
      } else if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op)) {
        addBranches(op);
      } else if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
        Memory memory = {.kind = Memory::Kind::Constant};
        memory.constant = constant.getValue();
        memory.isWritable = false;
        setNumber(constant, addMemory(memory, constant.getType()));
      } else if (auto view = dyn_cast<ViewOp>(op)) {
        setNumber(view, plan.numbers.at(view.getSource()));
      } else if (isa<stablehlo::OptimizationBarrierOp>(op)) {
        for (auto [from, to] :
             llvm::zip_equal(op.getOperands(), op.getResults()))
          if (isa<RankedTensorType>(to.getType()))
            setNumber(to, plan.numbers.at(from));
      } else if (isa<LaunchOp, func::CallOp, stablehlo::CustomCallOp>(op)) {
        addLaunch(op);
      }
    }
  }

  void addLaunch(Operation &op) {
    for (OpResult result : op.getResults()) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      int number = addOurs(result.getType());
      setNumber(result, number);
      if (auto operand = getInPlaceOperand(result)) {
        facts[number].hasOtherMakers = true;
        addEdge(op.getOperand(*operand), number, &op);
      } else if (!isa<func::CallOp>(op)) {
        facts[number].makers.push_back(&op);
      } else {
        facts[number].hasOtherMakers = true;
      }
    }
  }

  void addLoop(stablehlo::WhileOp loop) {
    Block &condition = loop.getCond().front(), &body = loop.getBody().front();
    for (OpResult result : loop.getResults()) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      unsigned i = result.getResultNumber();
      Value init = loop.getOperand()[i];
      bool invariant = isInvariant(loop, i);
      int number =
          invariant ? plan.numbers.at(init) : addOurs(result.getType());
      for (Value value : {Value(result), Value(condition.getArgument(i)),
                          Value(body.getArgument(i))})
        setNumber(value, number);
      carried.push_back({loop, i, number});
      if (invariant)
        continue;
      facts[number].hasOtherMakers = true;
      addEdge(init, number, loop);
    }
    addBlock(condition);
    addBlock(body);
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
      if (auto number = plan.numbers.find(loop.getResult(i));
          number != plan.numbers.end() &&
          !isInvariant(loop, static_cast<unsigned>(i)))
        addEdge(value, number->second, body.getTerminator());
  }

  void addBranches(Operation &op) {
    for (OpResult result : op.getResults())
      if (isa<RankedTensorType>(result.getType())) {
        int number = addOurs(result.getType());
        facts[number].hasOtherMakers = true;
        setNumber(result, number);
      }
    for (Region &region : op.getRegions()) {
      addBlock(region.front());
      Operation *end = region.front().getTerminator();
      for (auto [value, result] :
           llvm::zip_equal(end->getOperands(), op.getResults()))
        if (isa<RankedTensorType>(result.getType()))
          addEdge(value, plan.numbers.at(result), end);
    }
  }

  void addReturnEdges() {
    Operation *end = function.front().getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands()))
      if (results[i] >= 0) {
        int64_t step = steps.getBegin(end) + 1;
        addRange(results[i], LiveRange(step, step));
        addEdge(value, results[i], end);
        edges.back().result = static_cast<unsigned>(i);
      }
  }

  void addEdge(Value source, int target, Operation *at) {
    edges.push_back({source, target, at, Steps::getDepth(at), std::nullopt});
  }

  void addRanges() {
    DenseSet<Value> isCarried;
    for (auto &[loop, i, number] : carried) {
      addRange(number, steps.getCarriedRange(loop, i));
      isCarried.insert(loop.getResult(i));
      isCarried.insert(loop.getCond().getArgument(i));
      isCarried.insert(loop.getBody().getArgument(i));
    }
    for (auto &[value, number] : plan.numbers)
      if (!isCarried.contains(value))
        addRange(number, steps.getRange(value));
  }

  // ---- Joining and moving ----

  bool canJoin(const Edge &edge) {
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
    return !facts[a].isDynamic || canBindResult(edge, a);
  }

  /// A dynamic result of the function is given its storage once, by the launch
  /// that computes it.
  bool canBindResult(const Edge &edge, int memory) {
    Operation *maker = edge.source.getDefiningOp();
    const Facts &known = facts[memory];
    return edge.result && !known.hasOtherMakers && known.makers.size() == 1 &&
           known.makers.front() == maker &&
           maker->getBlock() == &function.front() &&
           edge.source.getType() ==
               function.getFunctionType().getResult(*edge.result);
  }

  void joinAndMove(ArrayRef<Edge> some) {
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

  bool canExchange(int a, int b) {
    return isOurs(a) && isOurs(b) && find(a) != find(b) &&
           facts[find(a)].isDynamic == facts[find(b)].isDynamic &&
           getMemory(a).bytes == getMemory(b).bytes;
  }

  void move(Operation *at, ArrayRef<const Edge *> meeting) {
    int64_t step = steps.getBegin(at);
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
    // What takes part is there as long as anything is on its way.
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

  void place() {
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
    ArenaPlan arena = planArena(lifetimes);
    for (auto [number, offset] : llvm::zip_equal(placed, arena.offsets))
      plan.memories[number].number = offset;
    plan.arenaBytes = arena.bytes;
  }

  void addFrees() {
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

  /// The last op of the innermost block around all of them.
  Operation *findLast(ArrayRef<Operation *> ops) {
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

  struct Carried {
    stablehlo::WhileOp loop;
    unsigned number;
    int memory;
  };

  func::FuncOp function;
  StoragePlan &plan;
  Steps steps;
  SmallVector<Facts> facts;
  Sets joined, groups;
  /// Of the memory that a group is known by.
  SmallVector<LiveRange> groupRanges;
  SmallVector<int> results;
  SmallVector<Edge> edges;
  SmallVector<Carried> carried;
  DenseSet<int> isExchanged;
  DenseMap<int, SmallVector<Operation *>> touched;
};

} // namespace alula::schedule

StoragePlan::StoragePlan(func::FuncOp function) {
  StoragePlanner(function, *this).run();
}

int StoragePlan::getMemoryNumber(Value value) const {
  return numbers.at(value);
}

ArrayRef<PlannedMove> StoragePlan::getMoves(Operation *op) const {
  auto found = moves.find(op);
  return found == moves.end() ? ArrayRef<PlannedMove>() : found->second;
}

ArrayRef<int> StoragePlan::getFrees(Operation *op) const {
  auto found = frees.find(op);
  return found == frees.end() ? ArrayRef<int>() : found->second;
}
