// What a loop over elements loads across the order of its own last dimension:
// neighbouring threads would read elements that lie far apart.
//   scf.parallel (%i, %j) { %a = load x[%j, %i]  … store y[%i, %j] }
//   →  scf.parallel (%tile) of workgroups {
//        scf.parallel (%j, %i) { alula_tile_put(…, load x[%j, %i]) }
//        alula_block_wait
//        scf.parallel (%i, %j) { %a = alula_tile_get(…)  … store y[%i, %j] }
//      }
// Lines of a tile are a word longer than they are, so that its columns are in
// different banks. Neighbours are loaded and stored together where both arrays
// lie so (neighbours.h). Relies on: what is loaded so, nobody writes meanwhile.

#include "compiler/kernel/transposed_tiles.h"

#include "compiler/kernel/memory_root.h"
#include "compiler/kernel/neighbours.h"
#include "compiler/kernel/repeat_arithmetic.h"
#include "compiler/kernel/share_threads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
/// Elements of a side of a tile; the smaller one where there are few.
constexpr int64_t tileSizes[] = {64, 32};
constexpr int64_t wordBytes = 4;
/// Kilobytes of memory that the library has functions for.
constexpr int64_t memorySizes[] = {5, 9, 17, 48};

/// An access whose last index is a variable of the loop, perhaps behind
/// something else.
struct LineAccess {
  Operation *op;
  TypedValue<MemRefType> memory;
  SmallVector<Value> indices;

  int64_t getBytes() const {
    return getElementBytes(memory.getType().getElementType());
  }
};

class TransposedTiles {
public:
  TransposedTiles(scf::ParallelOp loop,
                  const alula::dispatch::MachineFacts &machine,
                  llvm::function_ref<bool(Value)> isPrivate)
      : loop(loop), machine(machine), isPrivate(isPrivate), builder(loop),
        location(loop.getLoc()) {}

  bool run() {
    sizes = getConstantSizes(loop);
    if (sizes.size() < 2 || machine.vectorBytes <= 0 || loop.getNumReductions())
      return false;
    last = sizes.size() - 1;
    for (Operation &op : loop.getBody()->without_terminator())
      if (!mayInterleave(&op, isPrivate))
        return false;
    written = findMemory(loop);
    for (Operation &op : loop.getBody()->without_terminator())
      if (auto load = dyn_cast<memref::LoadOp>(op))
        addLoad(load);
    if (loads.empty() || !chooseTile())
      return false;
    emit();
    return true;
  }

private:
  // ---- What lies across ----

  /// The variables of the loop that a number is computed from; nothing if it
  /// needs more than arithmetic.
  std::optional<llvm::SmallBitVector> findVariables(Value value) {
    llvm::SmallBitVector found(static_cast<unsigned>(sizes.size()));
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == loop.getBody()) {
      found.set(argument.getArgNumber());
      return found;
    }
    Operation *op = value.getDefiningOp();
    if (!op || !loop->isAncestor(op))
      return found;
    if (op->getBlock() != loop.getBody() || op->getNumRegions() ||
        !isMemoryEffectFree(op))
      return std::nullopt;
    for (Value operand : op->getOperands()) {
      auto more = findVariables(operand);
      if (!more)
        return std::nullopt;
      found |= *more;
    }
    return found;
  }

  /// The variable that an index is, or is behind something that does not depend
  /// on it.
  std::optional<size_t> findNear(Value index) {
    auto getVariable = [&](Value value) -> std::optional<size_t> {
      auto argument = dyn_cast<BlockArgument>(value);
      if (argument && argument.getOwner() == loop.getBody())
        return argument.getArgNumber();
      return std::nullopt;
    };
    if (auto variable = getVariable(index))
      return variable;
    auto add = index.getDefiningOp<arith::AddIOp>();
    if (!add)
      return std::nullopt;
    for (auto [near, far] : {std::pair(add.getLhs(), add.getRhs()),
                             std::pair(add.getRhs(), add.getLhs())})
      if (auto variable = getVariable(near)) {
        auto others = findVariables(far);
        if (others && !others->test(static_cast<unsigned>(*variable)))
          return variable;
      }
    return std::nullopt;
  }

  void addLoad(memref::LoadOp load) {
    MemRefType type = load.getMemRefType();
    if (load.getIndices().empty() || !type.getElementType().isIntOrFloat() ||
        type.getElementTypeBitWidth() % 8 != 0 ||
        loop->isAncestor(load.getMemRef().getParentBlock()->getParentOp()) ||
        written.lookup(findRoot(load.getMemRef())) ||
        getStridesAndOffset(type).first.back() != 1)
      return;
    auto near = findNear(load.getIndices().back());
    if (!near || *near == last || (!loads.empty() && *near != across))
      return;
    // Not what is the same for all neighbours.
    bool isAcross = false;
    for (auto [dim, index] : llvm::enumerate(load.getIndices())) {
      auto variables = findVariables(index);
      bool isLast = dim + 1 == load.getIndices().size();
      if (!variables ||
          (!isLast && variables->test(static_cast<unsigned>(*near))))
        return;
      isAcross |= variables->test(static_cast<unsigned>(last));
    }
    if (!isAcross)
      return;
    across = *near;
    loads.push_back({load, load.getMemref(), load.getIndices()});
  }

  // ---- Tiles ----

  int64_t getLine(const LineAccess &access) const {
    return size + std::max<int64_t>(wordBytes / access.getBytes(), 1);
  }
  /// Of the first loads.
  int64_t getTileBytes(size_t count) const {
    int64_t bytes = 0;
    for (const LineAccess &load : ArrayRef(loads).take_front(count))
      bytes += static_cast<int64_t>(llvm::alignTo(
          static_cast<uint64_t>(size * getLine(load) * load.getBytes()),
          static_cast<uint64_t>(machine.vectorBytes)));
    return bytes;
  }

  bool chooseTile() {
    for (int64_t each : tileSizes) {
      size = each;
      tiles = 1;
      for (auto [dim, count] : llvm::enumerate(sizes)) {
        bool isTiled = dim == across || dim == last;
        int64_t some = isTiled ? llvm::divideCeil(count, size) : count;
        if (llvm::MulOverflow(tiles, some, tiles))
          return false;
      }
      // Half of a tile on each side is worth one.
      if (2 * sizes[across] < size || 2 * sizes[last] < size)
        continue;
      // Few elements are better one for each thread.
      int64_t wanted = each == tileSizes[0] ? machine.cores : machine.cores / 4;
      if (tiles < 2 || tiles < wanted)
        continue;
      size_t fitting = loads.size();
      while (fitting > 0 &&
             getTileBytes(fitting) >
                 std::min(machine.sharedBytes, memorySizes[3] << 10))
        --fitting;
      if (!fitting)
        continue;
      // The others are read as they lie.
      loads.truncate(fitting);
      return true;
    }
    return false;
  }

  /// Whether a number is a multiple, whatever variables are.
  static bool isMultiple(Value value, int64_t of) {
    if (auto constant = getConstantIntValue(value))
      return *constant % of == 0;
    if (auto multiply = value.getDefiningOp<arith::MulIOp>())
      return isMultiple(multiply.getLhs(), of) ||
             isMultiple(multiply.getRhs(), of);
    if (auto add = value.getDefiningOp<arith::AddIOp>())
      return isMultiple(add.getLhs(), of) && isMultiple(add.getRhs(), of);
    return of == 1;
  }

  /// Whether places of `count` neighbours along variable `dim` begin at a
  /// multiple of them.
  bool isAligned(const LineAccess &access, size_t dim, int64_t count) {
    auto [strides, offset] = getStridesAndOffset(access.memory.getType());
    if (ShapedType::isDynamic(offset) || offset % count != 0)
      return false;
    for (int64_t stride : ArrayRef(strides).drop_back())
      if (ShapedType::isDynamic(stride) || stride % count != 0)
        return false;
    Value index = access.indices.back(),
          variable = loop.getInductionVars()[dim];
    if (index == variable)
      return true;
    auto add = index.getDefiningOp<arith::AddIOp>();
    return add &&
           ((add.getLhs() == variable && isMultiple(add.getRhs(), count)) ||
            (add.getRhs() == variable && isMultiple(add.getLhs(), count)));
  }

  /// Neighbours along the dimension that a thread loads at once.
  int64_t countLoaded() {
    int64_t narrowest = machine.vectorBytes;
    for (const LineAccess &load : loads)
      narrowest = std::min(narrowest, load.getBytes());
    int64_t count = machine.vectorBytes / narrowest;
    while (count > 1 && (sizes[across] % count ||
                         llvm::any_of(loads, [&](const LineAccess &load) {
                           return !isAligned(load, across, count);
                         })))
      count /= 2;
    return count;
  }

  /// Those that it computes and stores at once.
  int64_t countStored() {
    constexpr int64_t mostOps = 256, opsOfCall = 16;
    int64_t narrowest = 0, ops = 0;
    SmallVector<LineAccess> stores;
    loop.getBody()->walk([&](Operation *op) {
      ops += isa<func::CallOp>(op) ? opsOfCall : 1;
      auto store = dyn_cast<memref::StoreOp>(op);
      if (!store || store.getIndices().empty())
        return;
      stores.push_back({store, store.getMemref(), store.getIndices()});
      int64_t bytes = stores.back().getBytes();
      narrowest = narrowest ? std::min(narrowest, bytes) : bytes;
    });
    int64_t count = narrowest ? machine.vectorBytes / narrowest : 1;
    while (count > 1 && (sizes[last] % count || count * ops > mostOps ||
                         llvm::any_of(stores, [&](const LineAccess &store) {
                           return store.op->getBlock() != loop.getBody() ||
                                  !isAligned(store, last, count);
                         })))
      count /= 2;
    return std::max<int64_t>(count, 1);
  }

  // ---- Code ----

  Value constant(int64_t value) {
    return builder.create<arith::ConstantIndexOp>(location, value);
  }
  Value add(Value a, Value b) {
    return builder.createOrFold<arith::AddIOp>(location, a, b);
  }
  Value multiply(Value a, int64_t b) {
    return builder.createOrFold<arith::MulIOp>(location, a, constant(b));
  }

  Value call(StringRef name, TypeRange results, ValueRange arguments) {
    auto module = loop->getParentOfType<ModuleOp>();
    auto callee = module.lookupSymbol<func::FuncOp>(name);
    if (!callee) {
      callee = OpBuilder::atBlockEnd(module.getBody())
                   .create<func::FuncOp>(
                       location, name,
                       builder.getFunctionType(arguments.getTypes(), results));
      callee.setPrivate();
    }
    auto made = builder.create<func::CallOp>(location, callee, arguments);
    return results.empty() ? Value() : made.getResult(0);
  }

  std::string getName(StringRef what, const LineAccess &load) {
    int64_t bytes = getTileBytes(loads.size());
    const int64_t *kilobytes = llvm::find_if(
        memorySizes, [&](int64_t each) { return each << 10 >= bytes; });
    return ("alula_tile_" + what + "_" + Twine(load.getBytes()) + "_of_" +
            Twine(*kilobytes))
        .str();
  }

  /// Where an element of a load is in the workgroup's memory, in bytes: `line`
  /// and `place` in the tile.
  Value getPlace(size_t number, Value line, Value place) {
    const LineAccess &load = loads[number];
    Value element = add(multiply(line, getLine(load)), place);
    return toI64(add(multiply(element, load.getBytes()),
                     constant(getTileBytes(number))));
  }
  Value toI64(Value number) {
    return builder.create<arith::IndexCastOp>(location, builder.getI64Type(),
                                              number);
  }

  scf::ParallelOp beginLoop(int64_t lines, int64_t places) {
    SmallVector<Value> zeros(2, constant(0)), ones(2, constant(1));
    auto made = builder.create<scf::ParallelOp>(
        location, zeros, ValueRange{constant(lines), constant(places)}, ones);
    builder.setInsertionPoint(made.getBody()->getTerminator());
    return made;
  }

  /// Opens a branch for what is inside of the array, where that is a question.
  void beginInside(size_t dim, Value index) {
    if (sizes[dim] % size == 0)
      return;
    Value isInside = builder.create<arith::CmpIOp>(
        location, arith::CmpIPredicate::ult, index, constant(sizes[dim]));
    auto branch = builder.create<scf::IfOp>(location, isInside);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  }

  /// What of the body an index of a load needs, again.
  Value repeat(Value value, IRMapping &mapping) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (!op || !loop->isAncestor(op))
      return value;
    for (Value operand : op->getOperands())
      repeat(operand, mapping);
    builder.clone(*op, mapping);
    return mapping.lookup(value);
  }

  void loadTile(ArrayRef<Value> begin, int64_t count) {
    OpBuilder::InsertionGuard guard(builder);
    scf::ParallelOp each = beginLoop(size, size / count);
    Value line = each.getInductionVars()[0],
          place = multiply(each.getInductionVars()[1], count);
    Value outer = add(begin[last], line), inner = add(begin[across], place);
    beginInside(last, outer);
    beginInside(across, inner);
    SmallVector<SmallVector<Value>> elements(loads.size());
    for (auto [load, loaded] : llvm::zip_equal(loads, elements))
      for (int64_t i = 0; i < count; ++i) {
        IRMapping mapping;
        mapping.map(loop.getInductionVars(), begin);
        mapping.map(loop.getInductionVars()[last], outer);
        mapping.map(loop.getInductionVars()[across], add(inner, constant(i)));
        SmallVector<Value> indices;
        for (Value index : load.indices)
          indices.push_back(repeat(index, mapping));
        loaded.push_back(
            builder.create<memref::LoadOp>(location, load.memory, indices));
      }
    for (auto [number, loaded] : llvm::enumerate(elements))
      for (auto [i, element] : llvm::enumerate(loaded)) {
        Type bits =
            builder.getIntegerType(element.getType().getIntOrFloatBitWidth());
        if (element.getType() != bits)
          element = builder.create<arith::BitcastOp>(location, bits, element);
        call(getName("put", loads[number]), {},
             {getPlace(number, line,
                       add(place, constant(static_cast<int64_t>(i)))),
              element});
      }
  }

  /// The loop's own loads become those of the tile: sizes of it are multiples.
  void readFromTile() {
    OpBuilder::InsertionGuard guard(builder);
    for (auto [number, load] : llvm::enumerate(loads)) {
      builder.setInsertionPoint(load.op);
      auto inTile = [&](size_t dim) -> Value {
        return builder.create<arith::RemUIOp>(
            location, loop.getInductionVars()[dim], constant(size));
      };
      Type type = load.op->getResult(0).getType();
      Type bits = builder.getIntegerType(type.getIntOrFloatBitWidth());
      Value element = call(getName("get", load), bits,
                           getPlace(number, inTile(last), inTile(across)));
      if (type != bits)
        element = builder.create<arith::BitcastOp>(location, type, element);
      load.op->getResult(0).replaceAllUsesWith(element);
    }
    for (const LineAccess &load : loads)
      load.op->erase();
  }

  void storeTile(ArrayRef<Value> begin, int64_t count) {
    OpBuilder::InsertionGuard guard(builder);
    scf::ParallelOp each = beginLoop(size, size / count);
    Value outer = add(begin[across], each.getInductionVars()[0]);
    Value inner = add(begin[last], multiply(each.getInductionVars()[1], count));
    beginInside(across, outer);
    beginInside(last, inner);
    IRMapping mapping;
    mapping.map(loop.getInductionVars(), begin);
    mapping.map(loop.getInductionVars()[across], outer);
    mapping.map(loop.getInductionVars()[last], inner);
    copyTogether(builder, loop, mapping, count);
  }

  void emit() {
    int64_t loaded = countLoaded(), stored = countStored();
    auto all = builder.create<scf::ParallelOp>(
        location, ValueRange{constant(0)}, ValueRange{constant(tiles)},
        ValueRange{constant(1)});
    setForWorkgroups(all, machine.blockThreads);
    builder.setInsertionPoint(all.getBody()->getTerminator());
    Value number = all.getInductionVars().front();
    SmallVector<Value> begin(sizes.size());
    for (size_t dim = sizes.size(); dim-- > 0;) {
      bool isTiled = dim == across || dim == last;
      int64_t count = isTiled ? llvm::divideCeil(sizes[dim], size) : sizes[dim];
      Value place = number;
      if (dim > 0) {
        place = builder.createOrFold<arith::RemUIOp>(location, number,
                                                     constant(count));
        number = builder.createOrFold<arith::DivUIOp>(location, number,
                                                      constant(count));
      }
      begin[dim] = isTiled ? multiply(place, size) : place;
    }
    // Whoever still reads another tile.
    call("alula_block_wait", {}, {});
    loadTile(begin, loaded);
    call("alula_block_wait", {}, {});
    readFromTile();
    storeTile(begin, stored);
    loop.erase();
  }

  scf::ParallelOp loop;
  const alula::dispatch::MachineFacts &machine;
  llvm::function_ref<bool(Value)> isPrivate;
  OpBuilder builder;
  Location location;
  SmallVector<int64_t> sizes;
  llvm::MapVector<Value, bool> written;
  /// The loop's last dimension, and the one along which the loads lie.
  size_t last = 0, across = 0;
  SmallVector<LineAccess> loads;
  int64_t size = 0, tiles = 0;
};
} // namespace

bool alula::kernel::shareTransposes(
    scf::ParallelOp loop, const dispatch::MachineFacts &machine,
    llvm::function_ref<bool(Value memory)> isPrivate) {
  return TransposedTiles(loop, machine, isPrivate).run();
}
