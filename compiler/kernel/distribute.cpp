// Spreads a kernel over workgroups: each computes its slice of the loops that
// fill the results.
//   scf.parallel (%i) = (0) to (4096)
//   →  scf.parallel (%i) = (%group * 64) to (%group * 64 + 64)
// Where sizes are unknown, the host launches as many workgroups as have
// something to do:
//   dispatch.launch @k(%x)[%n]
//   →  dispatch.launch @k(%x)[%n] workgroups(max(ceil(%n / %length), 1), 1, 1)
// Loops that fill temporaries are computed redundantly by every workgroup, if
// that is cheap. Relies on: temporaries are private to a workgroup, and results
// are only read back where a loop has written them itself.

#include "compiler/kernel/launches.h"
#include "compiler/kernel/memory_root.h"
#include "compiler/kernel/passes.h"
#include "compiler/kernel/plan/plan.h"
#include "compiler/kernel/repeat_arithmetic.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace alula::kernel {
#define GEN_PASS_DEF_DISTRIBUTE
#include "compiler/kernel/passes.h.inc"
} // namespace alula::kernel

using namespace mlir;
using alula::dispatch::EntryOp;
using alula::dispatch::LaunchOp;
using alula::kernel::findRoot;
using alula::plan::GridAttr;

namespace {
/// Redundant work may be this part of the whole.
constexpr int64_t maxRepeatedPart = 16;
/// A size that is only known at run time.
constexpr int64_t guessedSize = 1024;
constexpr int64_t manySteps = int64_t(1) << 50;

int64_t multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return llvm::MulOverflow(a, b, product) ? manySteps
                                          : std::min(product, manySteps);
}

int64_t getSize(Value lower, Value upper) {
  auto first = getConstantIntValue(lower), last = getConstantIntValue(upper);
  return first && last ? std::max<int64_t>(*last - *first, 0) : guessedSize;
}

int64_t countSteps(Operation *op) {
  // A call of the library costs what its block says.
  if (auto steps = op->getAttrOfType<IntegerAttr>("kernel.block_steps")) {
    auto loop = cast<scf::ParallelOp>(op);
    return multiply(steps.getInt(),
                    getSize(loop.getLowerBound()[0], loop.getUpperBound()[0]));
  }
  int64_t inside = 0;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        inside = std::min(manySteps, inside + countSteps(&inner));
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return multiply(inside,
                    getSize(loop.getLowerBound(), loop.getUpperBound()));
  if (auto loop = dyn_cast<scf::ParallelOp>(op)) {
    for (auto [lower, upper] :
         llvm::zip_equal(loop.getLowerBound(), loop.getUpperBound()))
      inside = multiply(inside, getSize(lower, upper));
    return inside;
  }
  if (isa<func::CallOp>(op))
    return 16;
  return inside + 1;
}

/// The memory that a top-level op reads and writes.
struct Accesses {
  llvm::SetVector<Value> read, written;

  explicit Accesses(Operation *op) {
    op->walk([&](Operation *inner) {
      if (auto load = dyn_cast<memref::LoadOp>(inner))
        read.insert(findRoot(load.getMemRef()));
      else if (auto store = dyn_cast<memref::StoreOp>(inner))
        written.insert(findRoot(store.getMemRef()));
      else if (auto pointer =
                   dyn_cast<memref::ExtractAlignedPointerAsIndexOp>(inner)) {
        // A call that gets a pointer may read and write.
        read.insert(findRoot(pointer.getSource()));
        written.insert(findRoot(pointer.getSource()));
      }
    });
  }

  /// Without temporaries and what the entry says is only read.
  llvm::SetVector<Value> getWrittenResults(EntryOp entry) const {
    llvm::SetVector<Value> results;
    for (Value buffer : written) {
      auto argument = dyn_cast<BlockArgument>(buffer);
      if (argument && argument.getArgNumber() < entry.getBindings().size() &&
          !isOnlyRead(entry.getBindings()[argument.getArgNumber()]))
        results.insert(buffer);
    }
    return results;
  }

  static bool isOnlyRead(Attribute binding) {
    return cast<alula::dispatch::AccessAttr>(binding).getValue() ==
           alula::dispatch::Access::Read;
  }
};

class Distributor {
public:
  Distributor(func::FuncOp function, EntryOp entry, GridAttr grid)
      : function(function), entry(entry), grid(grid),
        machine(alula::dispatch::getMachine(entry)) {}

  int64_t countAllSteps() {
    int64_t steps = 0;
    for (Operation &op : function.front())
      steps = std::min(manySteps, steps + countSteps(&op));
    return steps;
  }

  /// The number of workgroups.
  int64_t run() {
    if (sharesTemporaries() || !choose())
      return 1;
    int64_t steps = 0, most = 1;
    for (scf::ParallelOp loop : loops) {
      steps = std::min(manySteps, steps + countSteps(loop));
      most = std::max(most, countSlices(loop));
    }
    if (steps / maxRepeatedPart < repeated)
      return 1;
    // The host launches as many as are worth it.
    int64_t count =
        llvm::all_of(loops, [&](scf::ParallelOp loop) { return isOpen(loop); })
            ? grid.getMost()
            : std::min({steps / grid.getSteps(), most, grid.getMost()});
    if (count < 2)
      return 1;
    // A few are the same for each of two, four or eight cores, unless each is
    // one slice that can't be divided: then the fewer together, the worse.
    if (count < machine.cores && count < most)
      count = int64_t(llvm::bit_floor(uint64_t(count)));
    sliceAll(count);
    return count;
  }

  /// Shares the kernel among just so many workgroups.
  LogicalResult runExact(int64_t count) {
    bool asksForItsGroup = function->hasAttr("kernel.workgroup");
    if (count == 1 && !asksForItsGroup)
      return success();
    if (sharesTemporaries() || (!asksForItsGroup && !choose()))
      return entry.emitError()
             << "'dispatch.entry': a kernel that can't be shared must have a "
                "grid of 1: @"
             << entry.getSymName() << " has " << count;
    if (!asksForItsGroup)
      sliceAll(count);
    return success();
  }

  /// Tells the host how many of the workgroups have something to do, where that
  /// follows from what it passes.
  void assignGrid(LaunchOp launch) {
    if (open.empty() || open.size() != loops.size() ||
        !launch.getWorkgroups().empty())
      return;
    OpBuilder builder(launch);
    Location location = launch.getLoc();
    IRMapping mapping;
    mapping.map(function.getArguments().slice(entry.getBindings().size(),
                                              launch.getConstants().size()),
                launch.getConstants());
    Value one = builder.create<arith::ConstantIndexOp>(location, 1), most = one;
    for (auto [size, length] : open) {
      if (!alula::kernel::repeatArithmetic(size, builder, mapping) ||
          !alula::kernel::repeatArithmetic(length, builder, mapping))
        return;
      most = builder.create<arith::MaxSIOp>(
          location, most,
          builder.create<arith::CeilDivSIOp>(location, mapping.lookup(size),
                                             mapping.lookup(length)));
    }
    launch.getWorkgroupsMutable().assign({most, one, one});
  }

private:
  /// Whether the host alone knows how long a loop is.
  bool isOpen(scf::ParallelOp loop) const {
    unsigned dim = chooseDim(loop);
    Value lower = loop.getLowerBound()[dim], upper = loop.getUpperBound()[dim];
    return !(getConstantIntValue(lower) && getConstantIntValue(upper)) &&
           isHostArithmetic(lower) && isHostArithmetic(upper);
  }

  /// Whether the host has commands for what a size is computed by.
  static bool isHostArithmetic(Value value) {
    Operation *op = value.getDefiningOp();
    return !op || (value.getType().isIndex() &&
                   isa<arith::ConstantOp, arith::AddIOp, arith::SubIOp,
                       arith::MulIOp, arith::DivUIOp, arith::DivSIOp,
                       arith::CeilDivUIOp, arith::CeilDivSIOp, arith::MinSIOp,
                       arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op) &&
                   llvm::all_of(op->getOperands(), isHostArithmetic));
  }

  /// Temporaries whose size only the host knows are one for all workgroups, but
  /// for small ones.
  bool sharesTemporaries() {
    return function
        .walk([](memref::AllocOp alloc) {
          return alloc.getType().hasStaticShape() ||
                         alloc->hasAttr(alula::kernel::privateName)
                     ? WalkResult::advance()
                     : WalkResult::interrupt();
        })
        .wasInterrupted();
  }

  void sliceAll(int64_t count) {
    OpBuilder builder(function.getContext());
    Value group =
        function.front().addArgument(builder.getIndexType(), function.getLoc());
    function.setType(
        builder.getFunctionType(function.front().getArgumentTypes(), {}));
    function->setAttr("kernel.workgroup", builder.getUnitAttr());
    for (scf::ParallelOp loop : loops)
      slice(loop, group, count);
  }

  /// Finds the loops to distribute; false if some op stands in the way.
  bool choose() {
    // The loops must be independent: there is no barrier between workgroups.
    llvm::SetVector<Value> read, written, writtenAsWhole;
    for (Operation &op : function.front()) {
      Accesses accesses(&op);
      auto isIn = [](const llvm::SetVector<Value> &buffers) {
        return [&](Value buffer) { return buffers.contains(buffer); };
      };
      llvm::SetVector<Value> results = accesses.getWrittenResults(entry);
      bool isPiece = op.hasAttr(alula::kernel::pieceName);
      if (llvm::any_of(accesses.read, isIn(written)) ||
          llvm::any_of(results, isIn(isPiece ? writtenAsWhole : written)) ||
          llvm::any_of(results, isIn(read)))
        return false;
      read.insert(accesses.read.begin(), accesses.read.end());
      if (results.empty()) {
        repeated = std::min(manySteps, repeated + countSteps(&op));
        continue;
      }
      auto loop = dyn_cast<scf::ParallelOp>(op);
      if (!loop || loop.getNumReductions())
        return false;
      written.insert(results.begin(), results.end());
      if (!isPiece)
        writtenAsWhole.insert(results.begin(), results.end());
      loops.push_back(loop);
    }
    return !loops.empty();
  }

  /// A dimension to slice: the first that together with those before it has
  /// slices enough, else the largest.
  unsigned chooseDim(scf::ParallelOp loop) const {
    auto dims = llvm::to_vector(
        llvm::zip_equal(loop.getLowerBound(), loop.getUpperBound()));
    unsigned largest = 0;
    int64_t largestSize = 0;
    for (auto [i, bounds] : llvm::enumerate(dims)) {
      int64_t size = getSize(std::get<0>(bounds), std::get<1>(bounds));
      if (size >= mostSlices() && i + 1 < dims.size())
        return static_cast<unsigned>(i);
      if (i + 1 == dims.size())
        size /= getInnermostUnit();
      if (size > largestSize) {
        largest = static_cast<unsigned>(i);
        largestSize = size;
      }
    }
    return largest;
  }

  int64_t mostSlices() const {
    return grid.getMost() ? grid.getMost() : grid.getWorkgroups();
  }

  int64_t countSlices(scf::ParallelOp loop) const {
    unsigned dim = chooseDim(loop);
    int64_t size =
        getSize(loop.getLowerBound()[dim], loop.getUpperBound()[dim]);
    return llvm::divideCeil(size, getUnit(loop, dim));
  }

  /// Slices of the innermost dimension begin where cache lines and vectors do,
  /// whatever the element type.
  int64_t getInnermostUnit() const { return machine.lineBytes; }

  /// Innermost loops go over neighbours in memory.
  int64_t getUnit(scf::ParallelOp loop, unsigned dim) const {
    bool isInnermost = dim + 1 == loop.getNumLoops() &&
                       loop.getBody()->getOps<scf::ParallelOp>().empty() &&
                       loop.getBody()->getOps<scf::ForOp>().empty() &&
                       !loop->hasAttr("kernel.block_steps");
    return isInnermost ? getInnermostUnit() : 1;
  }

  /// The least slice that is worth a workgroup: sizes that are unknown may be
  /// small.
  int64_t getLeastLength(scf::ParallelOp loop, unsigned dim) const {
    int64_t unit = getUnit(loop, dim), steps = grid.getSteps();
    int64_t each = std::max<int64_t>(countSteps(loop) / guessedSize, 1);
    return static_cast<int64_t>(
        llvm::alignTo(llvm::divideCeil(std::max<int64_t>(steps, 1), each),
                      static_cast<uint64_t>(unit)));
  }

  void slice(scf::ParallelOp loop, Value group, int64_t count) {
    unsigned dim = chooseDim(loop);
    bool hasOpenSize = !grid.getWorkgroups() && isOpen(loop);
    OpBuilder builder(loop);
    Location location = loop.getLoc();
    auto index = [&](int64_t value) -> Value {
      return builder.create<arith::ConstantIndexOp>(location, value);
    };
    Value lower = loop.getLowerBound()[dim], upper = loop.getUpperBound()[dim];
    int64_t unit = getUnit(loop, dim);
    // Whole units for each, the last one takes what is left.
    Value size = builder.createOrFold<arith::SubIOp>(location, upper, lower);
    Value slices = builder.createOrFold<arith::CeilDivUIOp>(
        location, size, index(count * unit));
    Value length =
        builder.createOrFold<arith::MulIOp>(location, slices, index(unit));
    if (hasOpenSize) {
      length = builder.create<arith::MaxSIOp>(location, length,
                                              index(getLeastLength(loop, dim)));
      open.push_back({size, length});
    }
    Value first = builder.createOrFold<arith::AddIOp>(
        location, lower,
        builder.create<arith::MulIOp>(location, group, length));
    Value begin = builder.create<arith::MinUIOp>(location, first, upper);
    Value end = builder.create<arith::MinUIOp>(
        location, builder.create<arith::AddIOp>(location, first, length),
        upper);
    loop.getLowerBoundMutable()[dim].set(begin);
    loop.getUpperBoundMutable()[dim].set(end);
  }

  func::FuncOp function;
  EntryOp entry;
  GridAttr grid;
  const alula::dispatch::MachineFacts machine;
  SmallVector<scf::ParallelOp> loops;
  /// Sizes that only the host knows, and the lengths of their slices.
  SmallVector<std::pair<Value, Value>> open;
  int64_t repeated = 0;
};

struct Distribute : public alula::kernel::impl::DistributeBase<Distribute> {
  void runOnOperation() override {
    alula::kernel::Launches launches(getOperation());
    for (auto executable :
         getOperation().getOps<alula::dispatch::ExecutableOp>())
      if (failed(distribute(executable, launches)))
        return signalPassFailure();
  }

private:
  static LogicalResult distribute(alula::dispatch::ExecutableOp executable,
                                  const alula::kernel::Launches &launches) {
    // Threads share loops already.
    if (alula::dispatch::getMachine(executable).blockThreads > 1)
      return success();
    for (auto entry : executable.getBody().getOps<EntryOp>()) {
      auto function = executable.getInnerModule().lookupSymbol<func::FuncOp>(
          entry.getSymName());
      if (!function)
        continue;
      auto grid = function->getAttrOfType<GridAttr>(alula::plan::gridName);
      if (!grid || entry.getPinned())
        grid = alula::kernel::getUsualGrid(entry);
      Distributor distributor(function, entry, grid);
      int64_t steps = distributor.countAllSteps();
      int64_t exact = entry.getPinned() ? entry.getWorkgroups().front()
                                        : grid.getWorkgroups();
      if (!exact)
        entry.setWorkgroups({distributor.run(), 1, 1});
      else if (failed(distributor.runExact(exact)))
        return failure();
      else if (!entry.getPinned())
        entry.setWorkgroups({exact, 1, 1});
      if (entry.getPinned())
        continue;
      for (LaunchOp launch : launches.of(entry))
        distributor.assignGrid(launch);
      if (entry.getWorkgroups().front() <
              alula::dispatch::getMachine(entry).cores &&
          steps >= grid.getSteps())
        entry->setAttr(alula::dispatch::narrowName,
                       UnitAttr::get(entry.getContext()));
    }
    // The plan has been followed.
    if (ModuleOp module = executable.getInnerModule())
      for (auto function : module.getOps<func::FuncOp>())
        function->removeAttr(alula::plan::gridName);
    return success();
  }
};
} // namespace
