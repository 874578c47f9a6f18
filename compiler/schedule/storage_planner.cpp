// Gives every tensor memory.
//
// Buffer assignment with coalescing. Values that alias (a view and its source)
// are one memory from the start. Where a value becomes another one (a loop's
// entry, the end of a body or a branch, a result in place, the function's end),
// both become one memory if their live ranges do not overlap, the innermost
// loops first. What is left is moved: taken, where memories can be exchanged,
// or copied.

#include "compiler/schedule/storage_planner.h"

#include "compiler/schedule/given_memory.h"
#include "dialect/dispatch/byte_size.h"
#include "dialect/dispatch/collectives.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace alula::schedule;
using alula::dispatch::CollectiveDoneOp;
using alula::dispatch::CollectiveStartOp;
using alula::dispatch::getByteSize;
using alula::dispatch::LaunchOp;
using alula::dispatch::ViewOp;

void StoragePlanner::run() {
  findLastFailure();
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

void StoragePlanner::findLastFailure() {
  auto makesMemory = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  };
  function.walk([&](Operation *op) {
    if (isa<stablehlo::CustomCallOp, func::CallOp, CollectiveStartOp,
            CollectiveDoneOp, alula::dispatch::AssertOp, cf::AssertOp>(op) ||
        llvm::any_of(op->getResultTypes(), makesMemory))
      lastFailure = std::max(lastFailure, steps.getBegin(op) + 1);
  });
}

// ---- Memories ----

int StoragePlanner::addMemory(Memory memory, Type type) {
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

void StoragePlanner::joinGroups(int a, int b) {
  a = groups.find(a);
  b = groups.find(b);
  if (a == b)
    return;
  groups.parents[b] = a;
  groupRanges[a].add(groupRanges[b]);
}

void StoragePlanner::join(int a, int b) {
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

void StoragePlanner::addSignature() {
  FunctionType type = function.getFunctionType();
  for (BlockArgument argument : function.getArguments()) {
    if (!isa<RankedTensorType>(argument.getType()))
      continue;
    Memory memory = {.kind = Memory::Kind::Argument,
                     .number = argument.getArgNumber()};
    if (auto global = getGlobalOfArgument(function, argument.getArgNumber())) {
      memory.kind = Memory::Kind::Global;
      memory.constant = global;
    }
    memory.isWritable = false;
    setNumber(argument, addMemory(memory, argument.getType()));
  }
  auto aliases = getAliasedArguments(function);
  for (auto [number, result] : llvm::enumerate(type.getResults())) {
    auto resultNumber = static_cast<unsigned>(number);
    if (!isa<RankedTensorType>(result)) {
      results.push_back(-1);
      continue;
    }
    if (auto argument = aliases[number]) {
      int memory = plan.numbers[function.getArgument(*argument)];
      getMemory(memory).isWritable = true;
      results.push_back(memory);
      continue;
    }
    results.push_back(addMemory(
        {.kind = Memory::Kind::Result, .number = resultNumber}, result));
  }
}

void StoragePlanner::addBlock(Block &block) {
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
    } else if (auto done = dyn_cast<CollectiveDoneOp>(op)) {
      setNumber(done, plan.numbers.at(done.getStarted()));
    } else if (isa<stablehlo::OptimizationBarrierOp>(op)) {
      for (auto [from, to] : llvm::zip_equal(op.getOperands(), op.getResults()))
        if (isa<RankedTensorType>(to.getType()))
          setNumber(to, plan.numbers.at(from));
    } else if (isa<LaunchOp, func::CallOp, stablehlo::CustomCallOp,
                   CollectiveStartOp>(op)) {
      addLaunch(op);
    }
  }
}

void StoragePlanner::addLaunch(Operation &op) {
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

void StoragePlanner::addLoop(stablehlo::WhileOp loop) {
  Block &condition = loop.getCond().front(), &body = loop.getBody().front();
  for (OpResult result : loop.getResults()) {
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    unsigned i = result.getResultNumber();
    Value init = loop.getOperand()[i];
    bool invariant = isInvariant(loop, i);
    int number = invariant ? plan.numbers.at(init) : addOurs(result.getType());
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

void StoragePlanner::addBranches(Operation &op) {
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

void StoragePlanner::addReturnEdges() {
  Operation *end = function.front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands()))
    if (results[i] >= 0) {
      int64_t step = steps.getBegin(end) + 1;
      addRange(results[i], LiveRange(step, step));
      addEdge(value, results[i], end);
      edges.back().result = static_cast<unsigned>(i);
    }
}

void StoragePlanner::addRanges() {
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

StoragePlan alula::schedule::planStorage(func::FuncOp function) {
  StoragePlan plan;
  StoragePlanner(function, plan).run();
  return plan;
}
