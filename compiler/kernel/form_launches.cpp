// Makes launches of a kernel on machines whose workgroups have threads.
//   scf.parallel (%i) = (0) to (4096)   →  @k_part0, a grid of threads, each of
//   scf.parallel (%i) = (0) to (4096)      which goes over some %i; @k_part1
// Each long loop without an order is a launch whose grid covers it. What is
// between such loops is a launch of one workgroup: all of its threads follow
// the control flow, share the loops inside, and the first one does what has an
// order (share_threads.h). Temporaries are results of the first launch that
// needs them; later ones change them in place. Numbers that one part computes
// and another needs go through memory.
// Relies on: a temporary that only one loop uses is private to an iteration.

#include "compiler/kernel/launches.h"
#include "compiler/kernel/memory_root.h"
#include "compiler/kernel/neighbours.h"
#include "compiler/kernel/passes.h"
#include "compiler/kernel/repeat_arithmetic.h"
#include "compiler/kernel/share_threads.h"
#include "compiler/kernel/transposed_tiles.h"
#include "dialect/dispatch/library_call.h"
#include "dialect/dispatch/ops.h"
#include "dialect/plan/plan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace alula::kernel {
#define GEN_PASS_DEF_FORMLAUNCHES
#include "compiler/kernel/passes.h.inc"
} // namespace alula::kernel

using namespace mlir;
using namespace alula::dispatch;
using namespace alula::kernel;

namespace {
/// A loop with fewer iterations is not worth a launch of its own, if something
/// else is launched before or after it anyway.
constexpr int64_t minIterations = 1024;
/// Iterations of a loop whose length only the call knows.
constexpr int64_t guessedSize = 1 << 16;
/// A private temporary up to this is on the stack of its thread.
constexpr int64_t maxStackBytes = 256;
/// Of all private temporaries of a launch together, if it can be less.
constexpr int64_t maxPrivateBytes = int64_t(1) << 26;

class LaunchFormer {
public:
  LaunchFormer(func::FuncOp kernel, EntryOp entry, ArrayRef<LaunchOp> launches)
      : kernel(kernel), entry(entry), launches(launches),
        machine(getMachine(entry)),
        numBindings(static_cast<unsigned>(entry.getBindings().size())),
        hasCall(getLibraryCall(entry)) {}

  LogicalResult run() {
    kernel.walk([](scf::ParallelOp loop) { joinDimensions(loop); });
    for (auto loop : llvm::to_vector(kernel.getOps<scf::ParallelOp>()))
      if (!isForWorkgroups(loop) && !isForWarps(loop) && !findOnlyLoop(loop))
        shareTransposes(loop, machine, [&](Value memory) {
          auto alloc = findRoot(memory).getDefiningOp<memref::AllocOp>();
          return alloc && isPrivate(alloc);
        });
    splitParts();
    spillValues();
    findTemporaries();
    for (size_t i = 0; i < parts.size(); ++i)
      planPart(i);
    for (LaunchOp launch : launches)
      if (failed(splitLaunch(launch)))
        return failure();
    for (size_t i = 0; i < parts.size(); ++i)
      if (failed(createKernel(i)))
        return failure();
    entry.erase();
    kernel.erase();
    return success();
  }

private:
  /// What one launch computes.
  struct Part {
    /// A single loop that a grid of threads shares.
    bool isGrid = false;
    SmallVector<Operation *> ops;
    /// With what they need of the other ops of the kernel.
    llvm::SetVector<Operation *> needed;
    /// Arguments of the kernel and temporaries; those of fresh results last.
    SmallVector<Value> bindings;
    SmallVector<Access> accesses;
    size_t numInputs = 0;
    int64_t workgroups = 1;
    /// Of a workgroup.
    int64_t threads = 0;
  };

  // ---- Parts ----

  /// Whether any part that needs the value may compute it again.
  bool isRepeatable(Operation *op) {
    if (isa<memref::AllocOp, memref::AllocaOp>(op))
      return true;
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      Value root = findRoot(load.getMemRef());
      return isOnlyRead(root) || !written.contains(root);
    }
    if (isa<func::CallOp>(op))
      return llvm::none_of(op->getOperandTypes(),
                           llvm::IsaPred<MemRefType, LLVM::LLVMPointerType>);
    return isMemoryEffectFree(op);
  }

  bool isOnlyRead(Value root) {
    auto binding = getBinding(root);
    return binding && getAccess(*binding) == Access::Read;
  }

  static int64_t countIterations(scf::ParallelOp loop) {
    int64_t count = 1;
    for (auto [lower, upper] :
         llvm::zip_equal(loop.getLowerBound(), loop.getUpperBound())) {
      auto first = getConstantIntValue(lower),
           last = getConstantIntValue(upper);
      int64_t size =
          first && last ? std::max<int64_t>(*last - *first, 0) : guessedSize;
      if (llvm::MulOverflow(count, size, count))
        return INT64_MAX;
    }
    return count;
  }

  /// Those of the loops that are one with it, as each has nothing else in it.
  static int64_t countAllIterations(scf::ParallelOp loop) {
    int64_t count = countIterations(loop);
    for (scf::ParallelOp inner = findOnlyLoop(loop); inner;
         inner = findOnlyLoop(inner))
      if (llvm::MulOverflow(count, countIterations(inner), count))
        return INT64_MAX;
    return count;
  }

  void splitParts() {
    for (Operation &op : kernel.front().without_terminator())
      if (!isMemoryEffectFree(&op))
        for (auto [root, isChanged] : findMemory(&op))
          if (isChanged)
            written.insert(root);
    SmallVector<Operation *> own;
    for (Operation &op : kernel.front().without_terminator())
      if (!isRepeatable(&op))
        own.push_back(&op);
    for (Operation *op : own) {
      auto loop = dyn_cast<scf::ParallelOp>(op);
      bool isGrid =
          loop && !loop.getNumReductions() &&
          (own.size() == 1 || isForWorkgroups(loop) || isForWarps(loop) ||
           countAllIterations(loop) >= minIterations);
      if (isGrid || parts.empty() || parts.back().isGrid)
        parts.emplace_back();
      parts.back().isGrid = isGrid;
      parts.back().ops.push_back(op);
      partOf[op] = parts.size() - 1;
    }
    // Somebody waits for its results, even if there is nothing to write.
    if (parts.empty())
      parts.emplace_back();
  }

  /// Numbers that a part needs of an earlier one are written where they are
  /// known, and loaded again.
  void spillValues() {
    SmallVector<std::pair<Operation *, size_t>> open;
    for (auto [i, part] : llvm::enumerate(parts))
      for (Operation *op : part.ops)
        open.emplace_back(op, i);
    DenseSet<std::pair<Operation *, size_t>> seen(open.begin(), open.end());
    llvm::SetVector<Value> crossing;
    while (!open.empty()) {
      auto [op, part] = open.pop_back_val();
      op->walk([&, part = part](Operation *inner) {
        for (Value operand : inner->getOperands()) {
          Operation *owner = operand.getDefiningOp();
          if (!owner || owner->getBlock() != &kernel.front())
            continue;
          auto found = partOf.find(owner);
          if (found == partOf.end()) {
            if (seen.insert({owner, part}).second)
              open.emplace_back(owner, part);
          } else if (found->second != part) {
            crossing.insert(operand);
          }
        }
      });
    }
    OpBuilder builder(kernel.getContext());
    for (Value value : crossing) {
      Operation *owner = value.getDefiningOp();
      size_t home = partOf[owner];
      Location location = owner->getLoc();
      builder.setInsertionPointToStart(&kernel.front());
      Value slot = builder.create<memref::AllocOp>(
          location, MemRefType::get({1}, value.getType()));
      Value zero = builder.create<arith::ConstantIndexOp>(location, 0);
      builder.setInsertionPointAfter(owner);
      auto store = builder.create<memref::StoreOp>(location, value, slot, zero);
      partOf[store] = home;
      auto &ops = parts[home].ops;
      ops.insert(std::next(llvm::find(ops, owner)), store);
      slots[value] = {slot, zero};
    }
  }

  // ---- Memory ----

  /// What uses memory or what is made of it, and is more than a name for it.
  static void findUsers(Value memory, SmallVectorImpl<Operation *> &users) {
    for (Operation *user : memory.getUsers()) {
      bool isName =
          isa<memref::ReinterpretCastOp, memref::ViewOp, memref::SubViewOp,
              memref::CastOp, memref::ExtractAlignedPointerAsIndexOp,
              arith::IndexCastOp, arith::AddIOp, LLVM::IntToPtrOp, LLVM::GEPOp>(
              user);
      if (!isName || user->use_empty()) {
        users.push_back(user);
        continue;
      }
      for (Value result : user->getResults())
        findUsers(result, users);
    }
  }

  /// The loop of threads that an op is in; null for what all threads do
  /// together.
  scf::ParallelOp findThreadLoop(Operation *op) {
    scf::ParallelOp outermost;
    for (Operation *at = op; at != kernel; at = at->getParentOp())
      if (auto loop = dyn_cast<scf::ParallelOp>(at))
        outermost = loop;
    return outermost;
  }

  bool isPrivate(memref::AllocOp alloc) {
    if (auto loop = alloc->getParentOfType<scf::ParallelOp>())
      return true;
    SmallVector<Operation *> users;
    findUsers(alloc, users);
    llvm::SmallDenseSet<Operation *> loops;
    for (Operation *user : users)
      loops.insert(findThreadLoop(user));
    return loops.size() == 1 && *loops.begin();
  }

  void findTemporaries() {
    kernel.walk([&](memref::AllocOp alloc) {
      if (isPrivate(alloc))
        privates.insert(alloc);
    });
  }

  std::optional<unsigned> getBinding(Value root) {
    auto argument = dyn_cast<BlockArgument>(root);
    if (argument && argument.getOwner() == &kernel.front() &&
        argument.getArgNumber() < numBindings)
      return argument.getArgNumber();
    return std::nullopt;
  }

  Access getAccess(unsigned binding) {
    return cast<AccessAttr>(entry.getBindings()[binding]).getValue();
  }

  void findNeeded(Part &part) {
    SmallVector<Operation *> open(part.ops);
    while (!open.empty()) {
      Operation *op = open.pop_back_val();
      if (!part.needed.insert(op))
        continue;
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands()) {
          Operation *owner = operand.getDefiningOp();
          if (!owner || owner->getBlock() != &kernel.front())
            continue;
          auto found = partOf.find(owner);
          if (found == partOf.end() || &parts[found->second] == &part) {
            open.push_back(owner);
          } else {
            auto [slot, zero] = slots[operand];
            open.push_back(slot.getDefiningOp());
            open.push_back(zero.getDefiningOp());
          }
        }
      });
    }
  }

  static std::optional<int64_t> getBytes(memref::AllocOp alloc) {
    if (!alloc.getType().hasStaticShape())
      return std::nullopt;
    return alloc.getType().getNumElements() *
           getElementBytes(alloc.getType().getElementType());
  }

  bool isOnStack(memref::AllocOp alloc) {
    auto bytes = getBytes(alloc);
    return privates.contains(alloc) && bytes && *bytes <= maxStackBytes;
  }

  /// Elements that a thread of a grid has at once.
  void findNeighbours(const Part &part) {
    auto loop = part.isGrid ? cast<scf::ParallelOp>(part.ops.front())
                            : scf::ParallelOp();
    if (loop && !isForWorkgroups(loop) && !isForWarps(loop) &&
        !findOnlyLoop(loop))
      setTogether(loop, countTogether(loop, machine, [&](Value memory) {
                    Operation *root = findRoot(memory).getDefiningOp();
                    return isa_and_nonnull<memref::AllocaOp>(root) ||
                           privates.contains(root);
                  }));
  }

  /// As many as there is work for, and as fit into the machine together.
  int64_t countWorkgroups(const Part &part) {
    if (!part.isGrid)
      return 1;
    auto loop = cast<scf::ParallelOp>(part.ops.front());
    int64_t threads = machine.blockThreads,
            most = 8 * machine.getMaxWorkgroups();
    if (isForWorkgroups(loop))
      return std::clamp<int64_t>(countIterations(loop), 1, most);
    if (isForWarps(loop))
      return std::clamp<int64_t>(
          llvm::divideCeil(countIterations(loop), threads / machine.lanes), 1,
          most);
    int64_t count = std::clamp<int64_t>(
        llvm::divideCeil(countAllIterations(loop), threads * getTogether(loop)),
        1, most);
    int64_t bytes = 0;
    loop.walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (auto alloc = findRoot(operand).getDefiningOp<memref::AllocOp>())
          if (privates.contains(alloc) && !isOnStack(alloc) &&
              isa<memref::LoadOp, memref::StoreOp,
                  memref::ExtractAlignedPointerAsIndexOp>(op))
            bytes = std::max(bytes, getBytes(alloc).value_or(maxPrivateBytes));
    });
    while (count > 1 && bytes > maxPrivateBytes / (count * threads))
      count = llvm::divideCeil(count, 2);
    return count;
  }

  void planPart(size_t number) {
    Part &part = parts[number];
    findNeeded(part);
    findNeighbours(part);
    part.workgroups = countWorkgroups(part);
    part.threads =
        part.isGrid
            ? getWorkgroupThreads(cast<scf::ParallelOp>(part.ops.front()))
            : machine.blockThreads;
    // The memory that the part touches, and whether it may write it.
    llvm::MapVector<Value, bool> memory;
    for (Operation &op : kernel.front())
      if (part.needed.contains(&op))
        op.walk([&](Operation *inner) {
          if (auto alloc = dyn_cast<memref::AllocOp>(inner))
            if (!isOnStack(alloc))
              memory.insert({alloc, false});
          for (Value operand : inner->getOperands())
            if (isa<MemRefType>(operand.getType())) {
              Value root = findRoot(operand);
              if (!root.getDefiningOp<memref::AllocaOp>())
                memory[root] |= mayWrite(inner);
            }
        });
    // A library does the work of all parts where the last one is.
    if (hasCall && number + 1 == parts.size())
      for (unsigned binding = 0; binding < numBindings; ++binding)
        memory[kernel.getArgument(binding)] |=
            getAccess(binding) != Access::Read;
    // Whoever is first gives results that nobody writes their memory.
    if (number == 0)
      for (unsigned binding = 0; binding < numBindings; ++binding)
        if (getAccess(binding) != Access::Read) {
          Value argument = kernel.getArgument(binding);
          if (!written.contains(argument))
            memory[argument] = true;
        }
    SmallVector<Value> fresh;
    for (auto [root, isChanged] : memory) {
      auto binding = getBinding(root);
      auto alloc = root.getDefiningOp<memref::AllocOp>();
      if (!binding && (!alloc || isOnStack(alloc)))
        continue;
      bool isWritten =
          isChanged && !(binding && getAccess(*binding) == Access::Read);
      bool isInput = binding && getAccess(*binding) != Access::Write;
      // Each launch has private memory for its own threads.
      bool isOwn = alloc && privates.contains(alloc);
      if (isOwn || (!isInput && !begun.contains(root))) {
        fresh.push_back(root);
        begun.insert(root);
        continue;
      }
      part.bindings.push_back(root);
      part.accesses.push_back(isWritten ? Access::ReadWrite : Access::Read);
    }
    part.numInputs = part.bindings.size();
    part.bindings.append(fresh);
    part.accesses.append(fresh.size(), Access::Write);
  }

  // ---- Launches ----

  std::string getName(size_t part) {
    if (parts.size() == 1)
      return entry.getSymName().str();
    return (entry.getSymName() + "_part" + Twine(part)).str();
  }

  /// The bytes of a temporary of a launch; null if they are more than
  /// arithmetic on what the host knows.
  Value computeBytes(memref::AllocOp alloc, const Part &part,
                     OpBuilder &builder, IRMapping &mapping) {
    SmallVector<Value> sizes;
    Value bytes = computeTemporaryBytes(alloc, builder, mapping, sizes);
    if (!bytes || !privates.contains(alloc))
      return bytes;
    Value threads = builder.create<arith::ConstantIndexOp>(
        alloc.getLoc(), part.workgroups * part.threads);
    return builder.create<arith::MulIOp>(alloc.getLoc(), bytes, threads);
  }

  LogicalResult splitLaunch(LaunchOp launch) {
    OpBuilder builder(launch);
    DenseMap<Value, Value> current;
    DenseMap<Value, SmallVector<Value>> dims;
    DenseMap<Value, Type> types;
    for (auto [number, input] : llvm::enumerate(launch.getInputs()))
      current[kernel.getArgument(static_cast<unsigned>(number))] = input;
    // Of the results: which binding each is, and its sizes.
    SmallVector<Value> rootOf;
    ValueRange allDims = launch.getResultDims();
    unsigned fresh = static_cast<unsigned>(launch.getInputs().size());
    for (OpResult result : launch->getResults()) {
      auto input = launch.getInPlaceInput(result.getResultNumber());
      Value root = kernel.getArgument(input ? *input : fresh);
      fresh += !input;
      rootOf.push_back(root);
      auto type = cast<RankedTensorType>(result.getType());
      auto count = static_cast<size_t>(type.getNumDynamicDims());
      dims[root] = llvm::to_vector(allDims.take_front(count));
      types[root] = type;
      allDims = allDims.drop_front(count);
    }
    IRMapping mapping;
    mapping.map(
        kernel.getArguments().slice(numBindings, launch.getConstants().size()),
        launch.getConstants());
    for (auto [i, part] : llvm::enumerate(parts)) {
      SmallVector<Value> inputs, changed, resultDims;
      SmallVector<Type> resultTypes;
      SmallVector<int64_t> inPlace;
      for (auto [number, root] : llvm::enumerate(part.bindings)) {
        bool isInput = number < part.numInputs;
        if (isInput)
          inputs.push_back(current[root]);
        if (part.accesses[number] == Access::Read)
          continue;
        if (auto alloc = root.getDefiningOp<memref::AllocOp>();
            alloc && !isInput) {
          builder.setInsertionPoint(launch);
          Value bytes = computeBytes(alloc, part, builder, mapping);
          if (!bytes)
            return alloc.emitError()
                   << "'memref.alloc': size of a temporary must follow from "
                      "the sizes of inputs and results: "
                   << alloc.getType();
          auto known = alloc.getType().hasStaticShape()
                           ? getConstantIntValue(foldBytes(bytes))
                           : std::nullopt;
          types[root] = RankedTensorType::get(
              {known ? *known : ShapedType::kDynamic}, builder.getI8Type());
          dims[root] = known ? SmallVector<Value>() : SmallVector<Value>{bytes};
        }
        changed.push_back(root);
        resultTypes.push_back(types[root]);
        llvm::append_range(resultDims, dims[root]);
        inPlace.push_back(isInput ? static_cast<int64_t>(number) : -1);
      }
      bool isFresh = llvm::all_of(inPlace, [](int64_t at) { return at < 0; });
      builder.setInsertionPoint(launch);
      auto made = builder.create<LaunchOp>(
          launch.getLoc(), resultTypes,
          SymbolRefAttr::get(
              launch.getEntry().getRootReference(),
              {FlatSymbolRefAttr::get(builder.getContext(), getName(i))}),
          inputs, launch.getConstants(), ValueRange(), resultDims,
          isFresh ? DenseI64ArrayAttr()
                  : builder.getDenseI64ArrayAttr(inPlace));
      for (auto [root, result] : llvm::zip_equal(changed, made.getResults()))
        current[root] = result;
    }
    for (auto [result, root] : llvm::zip_equal(launch->getResults(), rootOf))
      result.replaceAllUsesWith(current[root]);
    launch.erase();
    return success();
  }

  /// Products and quotients of constants.
  static Value foldBytes(Value bytes) {
    Operation *op = bytes.getDefiningOp();
    auto known = evaluate(bytes);
    if (!known || getConstantIntValue(bytes))
      return bytes;
    OpBuilder builder(op);
    return builder.create<arith::ConstantIndexOp>(op->getLoc(), *known);
  }

  static std::optional<int64_t> evaluate(Value value) {
    if (auto known = getConstantIntValue(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumOperands() != 2)
      return std::nullopt;
    auto a = evaluate(op->getOperand(0)), b = evaluate(op->getOperand(1));
    if (!a || !b)
      return std::nullopt;
    if (isa<arith::MulIOp>(op))
      return *a * *b;
    if (isa<arith::AddIOp>(op))
      return *a + *b;
    if (isa<arith::DivUIOp>(op) && *b)
      return *a / *b;
    return std::nullopt;
  }

  // ---- Kernels ----

  LogicalResult createKernel(size_t number) {
    const Part &part = parts[number];
    OpBuilder builder(kernel);
    Location location = kernel.getLoc();
    Type byte = builder.getI8Type();
    SmallVector<Type> types;
    for (Value root : part.bindings)
      types.push_back(getBinding(root) ? root.getType()
                                       : MemRefType::get({}, byte));
    ValueRange constants = kernel.getArguments().drop_front(numBindings);
    llvm::append_range(types, constants.getTypes());
    // The kernel's own name is still taken.
    auto function =
        builder.create<func::FuncOp>(location, getName(number) + ".threads",
                                     builder.getFunctionType(types, {}));
    function->setAttr(
        "kernel.bindings",
        builder.getI64IntegerAttr(static_cast<int64_t>(part.bindings.size())));
    if (Attribute count = kernel->getAttr("kernel.constants"))
      function->setAttr("kernel.constants", count);
    Block *body = function.addEntryBlock();
    ThreadSharing sharing(function);
    OpBuilder &inner = sharing.builder;
    IRMapping mapping;
    for (auto [old, fresh] : llvm::zip_equal(
             constants, body->getArguments().drop_front(part.bindings.size())))
      mapping.map(old, fresh);
    DenseMap<Value, Value> memoryOf;
    SmallVector<std::array<Value, 3>> moved;
    for (auto [root, argument] :
         llvm::zip(part.bindings, body->getArguments())) {
      if (getBinding(root))
        mapping.map(root, argument);
      else
        memoryOf[root] = argument;
    }
    // Temporaries become places in what the host gives.
    auto place = [&](memref::AllocOp alloc) -> Value {
      if (isOnStack(alloc)) {
        OpBuilder::InsertionGuard guard(inner);
        inner.setInsertionPointToStart(body);
        return inner.create<memref::AllocaOp>(alloc.getLoc(), alloc.getType());
      }
      Value memory = memoryOf.lookup(alloc);
      SmallVector<Value> sizes;
      Value bytes = computeTemporaryBytes(alloc, inner, mapping, sizes);
      if (!bytes) {
        alloc.emitError() << "'memref.alloc': size of a temporary must follow "
                             "from the sizes of inputs and results: "
                          << alloc.getType();
        return {};
      }
      Value offset = inner.create<arith::ConstantIndexOp>(location, 0);
      Value total = bytes;
      if (privates.contains(alloc)) {
        offset = inner.create<arith::MulIOp>(location, bytes,
                                             sharing.getGridThread());
        total = inner.create<arith::MulIOp>(location, bytes,
                                            sharing.getGridThreads());
      }
      Value whole = inner.create<memref::ReinterpretCastOp>(
          location, MemRefType::get({ShapedType::kDynamic}, byte), memory,
          inner.getIndexAttr(0), ArrayRef<OpFoldResult>{total},
          ArrayRef<OpFoldResult>{inner.getIndexAttr(1)});
      auto plain = MemRefType::get(alloc.getType().getShape(),
                                   alloc.getType().getElementType());
      Value view =
          inner.create<memref::ViewOp>(location, plain, whole, offset, sizes);
      if (privates.contains(alloc))
        moved.push_back({view, memory, offset});
      return view;
    };
    inner.setInsertionPointToEnd(body);
    for (Operation &op : kernel.front()) {
      if (!part.needed.contains(&op))
        continue;
      if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
        Value memory = place(alloc);
        if (!memory)
          return failure();
        mapping.map(alloc.getResult(), memory);
        continue;
      }
      // What other parts have computed is loaded again.
      op.walk([&](Operation *user) {
        for (Value operand : user->getOperands()) {
          auto slot = slots.find(operand);
          if (slot == slots.end() || mapping.contains(operand))
            continue;
          auto home = partOf.find(operand.getDefiningOp());
          if (home->second != number)
            mapping.map(operand,
                        inner.create<memref::LoadOp>(
                            location, mapping.lookup(slot->second.first),
                            mapping.lookup(slot->second.second)));
        }
      });
      Operation *clone = inner.clone(op, mapping);
      // Temporaries inside of loops.
      SmallVector<std::pair<memref::AllocOp, memref::AllocOp>> nested;
      SmallVector<memref::AllocOp> olds, news;
      op.walk([&](memref::AllocOp alloc) { olds.push_back(alloc); });
      clone->walk([&](memref::AllocOp alloc) { news.push_back(alloc); });
      for (auto [old, fresh] : llvm::zip_equal(olds, news)) {
        OpBuilder::InsertionGuard guard(inner);
        inner.setInsertionPoint(clone);
        Value memory = place(old);
        if (!memory)
          return failure();
        fresh.replaceAllUsesWith(memory);
        fresh.erase();
      }
    }
    inner.create<func::ReturnOp>(location);
    for (auto [view, memory, offset] : moved)
      placePointers(function, view, memory, offset);
    if (failed(sharing.run(part.isGrid)))
      return failure();

    builder.setInsertionPoint(entry);
    SmallVector<Attribute> accesses;
    for (Access access : part.accesses)
      accesses.push_back(AccessAttr::get(builder.getContext(), access));
    auto created = cast<EntryOp>(builder.clone(*entry));
    created.setSymName(getName(number));
    created.setBindingsAttr(builder.getArrayAttr(accesses));
    created.setWorkgroups({part.workgroups, 1, 1});
    created.setWorkgroupSizeAttr(
        builder.getDenseI64ArrayAttr({part.threads, 1, 1}));
    if (auto call = getLibraryCall(entry)) {
      // The others have nothing to do if it is made.
      bool isLast = number + 1 == parts.size();
      SmallVector<int64_t> places;
      for (int64_t binding : call->bindings)
        if (isLast)
          places.push_back(
              llvm::find(part.bindings,
                         kernel.getArgument(static_cast<unsigned>(binding))) -
              part.bindings.begin());
      call->bindings = places;
      setLibraryCall(created, *call);
    }
    names.emplace_back(function, getName(number));
    if (number + 1 == parts.size()) {
      kernel.setSymName((entry.getSymName() + ".whole").str());
      for (auto &[made, name] : names)
        made.setSymName(name);
    }
    return success();
  }

  /// MLIR takes a view's pointer for that of its source.
  static void placePointers(func::FuncOp function, Value view, Value memory,
                            Value offset) {
    function.walk([&](memref::ExtractAlignedPointerAsIndexOp pointer) {
      Value source = pointer.getSource();
      while (auto cast = source.getDefiningOp<memref::ReinterpretCastOp>())
        source = cast.getSource();
      if (source != view)
        return;
      OpBuilder builder(pointer);
      Value base = builder.create<memref::ExtractAlignedPointerAsIndexOp>(
          pointer.getLoc(), memory);
      pointer.replaceAllUsesWith(
          builder.create<arith::AddIOp>(pointer.getLoc(), base, offset)
              .getResult());
      pointer.erase();
    });
  }

  func::FuncOp kernel;
  EntryOp entry;
  ArrayRef<LaunchOp> launches;
  const MachineFacts machine;
  unsigned numBindings;
  /// A library may compute it.
  bool hasCall;
  std::vector<Part> parts;
  /// By what is not repeatable.
  DenseSet<Value> written;
  /// Of the ops that only one part does.
  DenseMap<Operation *, size_t> partOf;
  /// Where a number is for other parts: memory and the index in it.
  llvm::MapVector<Value, std::pair<Value, Value>> slots;
  /// Temporaries of each thread by itself.
  llvm::SetVector<Operation *> privates;
  /// What some part has written.
  llvm::SetVector<Value> begun;
  SmallVector<std::pair<func::FuncOp, std::string>> names;
};

struct FormLaunches
    : public alula::kernel::impl::FormLaunchesBase<FormLaunches> {
  void runOnOperation() override {
    // A module without kernels may be of no machine.
    if (getOperation().getOps<ExecutableOp>().empty() ||
        getMachine(getOperation()).blockThreads == 1)
      return;
    alula::kernel::Launches launches(getOperation());
    for (auto executable : getOperation().getOps<ExecutableOp>()) {
      if (executable.isExternal())
        continue;
      for (auto entry :
           llvm::to_vector(executable.getBody().getOps<EntryOp>())) {
        auto kernel = executable.getInnerModule().lookupSymbol<func::FuncOp>(
            entry.getSymName());
        if (!kernel || kernel.isExternal())
          continue;
        if (entry.getPinned()) {
          entry.emitError()
              << "'dispatch.entry': no native code: for a grid that is pinned "
                 "on a machine whose workgroups have threads: @"
              << entry.getSymName();
          return signalPassFailure();
        }
        if (failed(LaunchFormer(kernel, entry, launches.of(entry)).run()))
          return signalPassFailure();
      }
    }
  }
};
} // namespace
