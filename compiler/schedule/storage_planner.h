#pragma once

#include "compiler/schedule/steps.h"
#include "compiler/schedule/storage_plan.h"
#include "dialect/dispatch/machine.h"
#include "dialect/stablehlo/ops.h"

namespace alula::schedule {

/// Makes the plan of one function.
class StoragePlanner {
  using Block = mlir::Block;
  using Operation = mlir::Operation;
  using Type = mlir::Type;
  using Value = mlir::Value;
  template <typename T> using ArrayRef = llvm::ArrayRef<T>;
  template <typename T> using SmallVector = llvm::SmallVector<T>;

public:
  StoragePlanner(mlir::func::FuncOp function, StoragePlan &plan)
      : function(function), plan(plan), machine(dispatch::getMachine(function)),
        steps(function) {}
  void run();

private:
  /// What is known of a memory besides its kind; lives with the first of those
  /// that were joined.
  struct Facts {
    LiveRange range;
    bool isDynamic = false;
    /// Launches and custom calls that make the memory of a dynamic value; not
    /// all, if a loop, a branch or a call makes it too.
    llvm::SmallVector<Operation *, 1> makers;
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

  int addMemory(Memory memory, Type type);
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
  void joinGroups(int a, int b);
  void join(int a, int b);

  // ---- Values ----

  void setNumber(Value value, int number) { plan.numbers[value] = number; }
  void addSignature();
  int addOurs(Type type) {
    return addMemory({.kind = Memory::Kind::Arena}, type);
  }
  void addBlock(Block &block);
  void addLaunch(Operation &op);
  void addLoop(mlir::stablehlo::WhileOp loop);
  void addBranches(Operation &op);
  void addReturnEdges();
  void addEdge(Value source, int target, Operation *at) {
    edges.push_back({source, target, at, Steps::getDepth(at), std::nullopt});
  }
  void addRanges();

  // ---- Joining and moving ----

  /// What may fail comes before the first write to a global, so that a call
  /// which fails leaves them all as they were.
  void findLastFailure();
  bool isTooEarly(int global, int ours);
  bool canJoin(const Edge &edge);
  /// A dynamic result of the function is given its storage once, by the launch
  /// that computes it.
  bool canBindResult(const Edge &edge, int memory);
  void joinAndMove(ArrayRef<Edge> some);
  bool canExchange(int a, int b);
  void move(Operation *at, ArrayRef<const Edge *> meeting);

  // ---- Places ----

  void place();
  void addFrees();
  /// The last op of the innermost block around all of them.
  Operation *findLast(ArrayRef<Operation *> ops);

  struct Carried {
    mlir::stablehlo::WhileOp loop;
    unsigned number;
    int memory;
  };

  mlir::func::FuncOp function;
  StoragePlan &plan;
  const dispatch::MachineFacts machine;
  Steps steps;
  SmallVector<Facts> facts;
  Sets joined, groups;
  /// Of the memory that a group is known by.
  SmallVector<LiveRange> groupRanges;
  SmallVector<int> results;
  SmallVector<Edge> edges;
  SmallVector<Carried> carried;
  llvm::DenseSet<int> isExchanged;
  int64_t lastFailure = -1;
  llvm::DenseMap<int, SmallVector<Operation *>> touched;
};

StoragePlan planStorage(mlir::func::FuncOp function);

} // namespace alula::schedule
