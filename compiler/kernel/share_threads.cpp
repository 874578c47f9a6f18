// In a grid, thread t of T goes over the iterations t, t + T, t + 2 T, … of a
// loop: neighbours read neighbours.
//   scf.parallel (%i, %j) = (0, 0) to (8, 64) { … }
//   →  scf.for %k = %t to 512 step %T { %i = %k / 64, %j = %k % 64 … }
// Where several elements at once are better (neighbours.h), thread t has the
// first ones, thread t + 1 those behind them, and some threads one more each.
// A loop for warps is shared by them as that is by threads, and the loops in it
// by the lanes of one.
// In a single workgroup all threads compute numbers and follow loops and
// branches alike; a loop without an order is shared as above; what changes
// memory in an order is done by the first thread. All wait for each other
// before and after.

#include "compiler/kernel/share_threads.h"

#include "compiler/kernel/memory_root.h"
#include "compiler/kernel/neighbours.h"
#include "dialect/dispatch/machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace alula::kernel;

void alula::kernel::setForWorkgroups(scf::ParallelOp loop, int64_t threads) {
  Builder b(loop.getContext());
  loop->setAttr("kernel.for_workgroups",
                threads ? Attribute(b.getI64IntegerAttr(threads))
                        : Attribute(b.getUnitAttr()));
}
int64_t alula::kernel::getWorkgroupThreads(scf::ParallelOp loop) {
  if (auto threads = loop->getAttrOfType<IntegerAttr>("kernel.for_workgroups"))
    return threads.getInt();
  return dispatch::getMachine(loop).blockThreads;
}
bool alula::kernel::isForWorkgroups(scf::ParallelOp loop) {
  return loop->hasAttr("kernel.for_workgroups");
}
void alula::kernel::setForWarps(scf::ParallelOp loop) {
  loop->setAttr("kernel.for_warps", UnitAttr::get(loop.getContext()));
}
bool alula::kernel::isForWarps(scf::ParallelOp loop) {
  return loop->hasAttr("kernel.for_warps");
}

/// Whether threads share what is inside of a loop, rather than the loop.
static bool isForGroups(scf::ParallelOp loop) {
  return isForWorkgroups(loop) || isForWarps(loop);
}

scf::ParallelOp alula::kernel::findOnlyLoop(scf::ParallelOp loop) {
  if (isForGroups(loop))
    return {};
  Block *body = loop.getBody();
  Operation *last = body->getTerminator()->getPrevNode();
  auto inner = dyn_cast_or_null<scf::ParallelOp>(last);
  if (!inner || inner.getNumReductions() || isForGroups(inner))
    return {};
  auto memory = findMemory(inner);
  for (Operation &op : body->without_terminator()) {
    if (&op == inner || isMemoryEffectFree(&op))
      continue;
    auto load = dyn_cast<memref::LoadOp>(op);
    if (!load || memory.lookup(findRoot(load.getMemRef())))
      return {};
  }
  // How many there are must not depend on the iteration.
  auto isOutside = [&](Value value) {
    Operation *owner = value.getDefiningOp();
    return owner ? !loop->isAncestor(owner)
                 : !loop->isAncestor(value.getParentBlock()->getParentOp());
  };
  return llvm::all_of(inner->getOperands(), isOutside) ? inner
                                                       : scf::ParallelOp();
}

bool alula::kernel::changesShared(Operation *op) {
  return llvm::any_of(findMemory(op), [](const auto &touched) {
    return touched.second &&
           !touched.first.template getDefiningOp<memref::AllocaOp>();
  });
}

ThreadSharing::ThreadSharing(func::FuncOp function)
    : builder(function.getContext()), function(function) {}

func::FuncOp ThreadSharing::declare(StringRef name, bool hasResult) {
  auto module = function->getParentOfType<ModuleOp>();
  if (auto declared = module.lookupSymbol<func::FuncOp>(name))
    return declared;
  SmallVector<Type> results;
  if (hasResult)
    results.push_back(builder.getIndexType());
  auto declared =
      OpBuilder::atBlockEnd(module.getBody())
          .create<func::FuncOp>(function.getLoc(), name,
                                builder.getFunctionType({}, results));
  declared.setPrivate();
  return declared;
}

Value ThreadSharing::ask(StringRef name) {
  Value &number = asked[name];
  if (!number) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.front());
    number = builder
                 .create<func::CallOp>(function.getLoc(),
                                       declare(name, /*hasResult=*/true))
                 .getResult(0);
  }
  return number;
}

void ThreadSharing::wait(Location location) {
  builder.create<func::CallOp>(
      location, declare("alula_block_wait", /*hasResult=*/false));
}

/// Divisions of narrow numbers are several times as fast.
SmallVector<Value> ThreadSharing::delinearize(Value number,
                                              ArrayRef<Value> sizes,
                                              bool isNarrow,
                                              Location location) {
  Type narrow = builder.getI32Type();
  if (isNarrow && sizes.size() > 1)
    number = builder.create<arith::IndexCastUIOp>(location, narrow, number);
  SmallVector<Value> places(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    Value place = number;
    if (i > 0) {
      Value size = sizes[i];
      if (isNarrow)
        size = builder.create<arith::ConstantIntOp>(
            location, *getConstantIntValue(size), narrow);
      place = builder.create<arith::RemUIOp>(location, number, size);
      number = builder.create<arith::DivUIOp>(location, number, size);
    }
    if (isNarrow && sizes.size() > 1)
      place = builder.create<arith::IndexCastUIOp>(
          location, builder.getIndexType(), place);
    places[i] = place;
  }
  return places;
}

void ThreadSharing::shareLoop(scf::ParallelOp loop, Value thread,
                              Value threads) {
  Location location = loop.getLoc();
  SmallVector<scf::ParallelOp> loops{loop};
  while (scf::ParallelOp inner = findOnlyLoop(loops.back()))
    loops.push_back(inner);
  builder.setInsertionPoint(loop);
  auto constant = [&](int64_t value) -> Value {
    return builder.create<arith::ConstantIndexOp>(location, value);
  };
  SmallVector<Value> sizes, variables;
  Value count = constant(1);
  int64_t known = 1;
  for (scf::ParallelOp each : loops)
    for (auto [lower, upper, step] : llvm::zip_equal(
             each.getLowerBound(), each.getUpperBound(), each.getStep())) {
      Value size = builder.createOrFold<arith::SubIOp>(location, upper, lower);
      if (getConstantIntValue(step) != 1)
        size = builder.createOrFold<arith::CeilDivUIOp>(location, size, step);
      sizes.push_back(size);
      count = builder.createOrFold<arith::MulIOp>(location, count, size);
      auto is = getConstantIntValue(size);
      if (known && (!is || llvm::MulOverflow(known, *is, known)))
        known = 0;
    }
  int64_t together = getTogether(loop);
  int64_t rest = together > 1 && sizes.size() == 1 ? known % together : 0;
  // Of the elements from `first` on, `each` at once.
  auto emit = [&](Value first, Value number, int64_t each) {
    // Each thread has as many: their number is one that can be unrolled.
    auto inAll = getConstantIntValue(number),
         atOnce = getConstantIntValue(threads);
    bool isEven = inAll && atOnce && *inAll % *atOnce == 0;
    auto all =
        isEven ? builder.create<scf::ForOp>(location, constant(0),
                                            constant(*inAll / *atOnce),
                                            constant(1))
               : builder.create<scf::ForOp>(location, thread, number, threads);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(all.getBody());
    Value element = all.getInductionVar();
    if (isEven)
      element = builder.create<arith::AddIOp>(
          location, builder.create<arith::MulIOp>(location, element, threads),
          thread);
    SmallVector<Value> places =
        delinearize(element, sizes, known && known <= INT32_MAX, location);
    if (each > 1)
      places.back() = builder.create<arith::MulIOp>(location, places.back(),
                                                    constant(each));
    if (first)
      places.back() =
          builder.create<arith::AddIOp>(location, places.back(), first);
    IRMapping mapping;
    size_t next = 0;
    for (scf::ParallelOp at : loops) {
      for (auto [variable, lower, step] : llvm::zip_equal(
               at.getInductionVars(), at.getLowerBound(), at.getStep())) {
        Value place = places[next++];
        if (getConstantIntValue(step) != 1)
          place = builder.create<arith::MulIOp>(location, place, step);
        if (getConstantIntValue(lower) != 0)
          place = builder.create<arith::AddIOp>(location, place, lower);
        mapping.map(variable, place);
      }
      if (each > 1) {
        copyTogether(builder, at, mapping, each);
        continue;
      }
      bool isLast = at == loops.back();
      for (Operation &op : at.getBody()->without_terminator())
        if (isLast ||
            &op != loops[1 + static_cast<size_t>(llvm::find(loops, at) -
                                                 loops.begin())])
          builder.clone(op, mapping);
    }
  };
  if (together > 1) {
    sizes.back() = constant(*getConstantIntValue(sizes.back()) / together);
    count = known ? constant(known / together)
                  : builder.createOrFold<arith::DivUIOp>(location, count,
                                                         constant(together));
  }
  emit(Value(), count, together);
  if (rest)
    emit(constant(known - rest), constant(rest), 1);
  loop.erase();
}

void ThreadSharing::shareWorkgroups(scf::ParallelOp loop, Value number,
                                    Value count) {
  Value thread = ask("alula_block_thread");
  builder.setInsertionPoint(loop);
  shareGroups(loop, number, count, thread,
              builder.create<arith::ConstantIndexOp>(
                  loop.getLoc(), getWorkgroupThreads(loop)));
}

void ThreadSharing::shareGroups(scf::ParallelOp loop, Value number, Value count,
                                Value thread, Value threads) {
  Location location = loop.getLoc();
  builder.setInsertionPoint(loop);
  auto all = builder.create<scf::ForOp>(location, number,
                                        loop.getUpperBound().front(), count);
  builder.setInsertionPointToStart(all.getBody());
  IRMapping mapping;
  mapping.map(loop.getInductionVars().front(), all.getInductionVar());
  for (Operation &op : loop.getBody()->without_terminator())
    builder.clone(op, mapping);
  loop.erase();
  SmallVector<scf::ParallelOp> inner;
  all.walk<WalkOrder::PreOrder>([&](scf::ParallelOp each) {
    inner.push_back(each);
    return WalkResult::skip();
  });
  for (scf::ParallelOp each : inner)
    shareLoop(each, thread, threads);
}

void ThreadSharing::shareWarps(scf::ParallelOp loop, Value thread,
                               Value threads) {
  Location location = loop.getLoc();
  builder.setInsertionPoint(loop);
  Value lanes = builder.create<arith::ConstantIndexOp>(
      location, dispatch::getMachine(function).lanes);
  Value number = builder.create<arith::DivUIOp>(location, thread, lanes);
  Value count = builder.create<arith::DivUIOp>(location, threads, lanes);
  Value lane = builder.create<arith::RemUIOp>(location, thread, lanes);
  shareGroups(loop, number, count, lane, lanes);
}

/// What has an order, together, just before an op.
void ThreadSharing::doByFirst(ArrayRef<Operation *> ops, Operation *before) {
  if (ops.empty())
    return;
  Location location = ops.front()->getLoc();
  builder.setInsertionPoint(before);
  wait(location);
  Value zero = builder.create<arith::ConstantIndexOp>(location, 0);
  Value isFirst = builder.create<arith::CmpIOp>(
      location, arith::CmpIPredicate::eq, ask("alula_block_thread"), zero);
  auto branch = builder.create<scf::IfOp>(location, isFirst);
  wait(location);
  for (Operation *op : ops)
    op->moveBefore(branch.thenBlock()->getTerminator());
}

LogicalResult ThreadSharing::shareOp(Operation *op) {
  if (auto loop = dyn_cast<scf::ParallelOp>(op)) {
    if (loop.getNumReductions())
      return op->emitError()
             << "'scf.parallel': no native code: for reductions";
    builder.setInsertionPoint(op);
    wait(op->getLoc());
    builder.setInsertionPointAfter(op);
    wait(op->getLoc());
    if (isForWorkgroups(loop)) {
      builder.setInsertionPoint(op);
      shareWorkgroups(loop,
                      builder.create<arith::ConstantIndexOp>(op->getLoc(), 0),
                      builder.create<arith::ConstantIndexOp>(op->getLoc(), 1));
      return success();
    }
    Value thread = ask("alula_block_thread"),
          threads = ask("alula_block_threads");
    if (isForWarps(loop))
      shareWarps(loop, thread, threads);
    else
      shareLoop(loop, thread, threads);
    return success();
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(shareBlock(block)))
        return failure();
  return success();
}

LogicalResult ThreadSharing::shareBlock(Block &block) {
  auto hasThreadLoop = [](Operation *op) {
    return op->walk([](scf::ParallelOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  };
  SmallVector<Operation *> ordered;
  SmallVector<Operation *> ops = llvm::map_to_vector(
      block.without_terminator(), [](Operation &op) { return &op; });
  ops.push_back(block.getTerminator());
  for (Operation *op : ops) {
    bool isTerminator = op->hasTrait<mlir::OpTrait::IsTerminator>();
    if (!isTerminator && isMemoryEffectFree(op))
      continue;
    bool changes = !isTerminator && changesShared(op);
    if (changes && !op->getNumResults() && !hasThreadLoop(op)) {
      ordered.push_back(op);
      continue;
    }
    doByFirst(ordered, op);
    ordered.clear();
    if (!changes)
      continue;
    if (!op->getNumRegions())
      return op->emitError() << "'" << op->getName().getStringRef()
                             << "': no native code: for a result besides "
                                "memory, where threads share both";
    if (failed(shareOp(op)))
      return failure();
  }
  return success();
}

LogicalResult ThreadSharing::run(bool isGrid) {
  if (!isGrid)
    return shareBlock(function.front());
  for (auto loop : llvm::to_vector(function.front().getOps<scf::ParallelOp>()))
    if (isForWorkgroups(loop))
      shareWorkgroups(loop, ask("alula_block"), ask("alula_blocks"));
    else if (isForWarps(loop))
      shareWarps(loop, getGridThread(), getGridThreads());
    else
      shareLoop(loop, getGridThread(), getGridThreads());
  return success();
}
