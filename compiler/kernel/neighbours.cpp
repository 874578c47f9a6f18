// What of a loop over elements lies one behind the other.
//   scf.parallel (%i, %j) = (0, 0) to (7, 13) { load x[%i, %j] … }
//   →  scf.parallel (%k) = (0) to (91) { load x'[%k] … }
// A thread then has several neighbours, and its ops stand together, so that the
// code generator makes one access of their loads, and one of their stores:
//   load x[%k], load x[%k + 1], … exp, exp, … store y[%k], store y[%k + 1], …

#include "compiler/kernel/neighbours.h"

#include "compiler/kernel/repeat_arithmetic.h"

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
constexpr StringRef togetherName = "kernel.together";
/// Ops of all copies of a body, and what a call counts among them.
constexpr int64_t mostOps = 512, opsOfCall = 16;
/// Bytes of one array that a thread has at once.
constexpr int64_t mostBytes = 64;

/// What loads or stores one element: its memory and where it is.
struct ElementAccess {
  TypedValue<MemRefType> memory;
  OperandRange indices;
};

std::optional<ElementAccess> getAccess(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return ElementAccess{load.getMemref(), load.getIndices()};
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return ElementAccess{store.getMemref(), store.getIndices()};
  return std::nullopt;
}

/// Where a variable stands in the index that an operand is, if its successor
/// stands behind it and the two are one dimension of the memory.
bool isPair(OpOperand &use, Value next, int64_t size, Operation *loop) {
  auto access = getAccess(use.getOwner());
  if (!access || access->indices.empty() ||
      loop->isAncestor(access->memory.getParentBlock()->getParentOp()))
    return false;
  unsigned first = access->indices.getBeginOperandIndex(),
           number = use.getOperandNumber();
  if (number < first || number + 1 >= first + access->indices.size())
    return false;
  size_t dim = number - first;
  MemRefType type = access->memory.getType();
  return type.hasStaticShape() && type.getLayout().isIdentity() &&
         access->indices[dim + 1] == next &&
         type.getDimSize(static_cast<unsigned>(dim + 1)) == size;
}

/// Whether dimension `dim` of the loop and the one behind it are one.
bool mayJoin(scf::ParallelOp loop, size_t dim, int64_t size) {
  Value outer = loop.getInductionVars()[dim],
        inner = loop.getInductionVars()[dim + 1];
  auto isBehind = [&](OpOperand &use) {
    auto access = getAccess(use.getOwner());
    unsigned number = use.getOperandNumber();
    return access && number > access->indices.getBeginOperandIndex() &&
           use.getOwner()->getOperand(number - 1) == outer;
  };
  return !outer.use_empty() &&
         llvm::all_of(
             outer.getUses(),
             [&](OpOperand &use) { return isPair(use, inner, size, loop); }) &&
         llvm::all_of(inner.getUses(), isBehind);
}

void join(scf::ParallelOp &loop, size_t dim, int64_t outerSize,
          int64_t innerSize) {
  OpBuilder builder(loop);
  Location location = loop.getLoc();
  SmallVector<Value> lower(loop.getLowerBound()), upper(loop.getUpperBound()),
      step(loop.getStep());
  for (auto *values : {&lower, &upper, &step})
    values->erase(values->begin() + static_cast<ptrdiff_t>(dim));
  upper[dim] =
      builder.create<arith::ConstantIndexOp>(location, outerSize * innerSize);
  Value outer = loop.getInductionVars()[dim];
  for (Operation *user : llvm::to_vector(outer.getUsers())) {
    auto access = *getAccess(user);
    MemRefType type = access.memory.getType();
    size_t at = static_cast<size_t>(llvm::find(access.indices, outer) -
                                    access.indices.begin());
    SmallVector<int64_t> shape(type.getShape());
    shape[at + 1] *= shape[at];
    shape.erase(shape.begin() + static_cast<ptrdiff_t>(at));
    auto viewType =
        MemRefType::get(shape, type.getElementType(),
                        MemRefLayoutAttrInterface(), type.getMemorySpace());
    Value view = builder.create<memref::ReinterpretCastOp>(
        location, viewType, access.memory, /*offset=*/int64_t(0), shape,
        getStridesAndOffset(viewType).first);
    unsigned first = access.indices.getBeginOperandIndex();
    user->setOperand(first - 1, view);
    user->eraseOperand(first + static_cast<unsigned>(at));
  }
  auto joined = builder.create<scf::ParallelOp>(location, lower, upper, step);
  joined->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *body = loop.getBody();
  outer = body->getArgument(static_cast<unsigned>(dim));
  assert(outer.use_empty() && "all pairs are one index");
  body->eraseArgument(static_cast<unsigned>(dim));
  joined.getRegion().takeBody(loop.getRegion());
  loop.erase();
  loop = joined;
}

/// What of a body differs between neighbours along its last dimension.
class Varying {
public:
  explicit Varying(Value variable) { values.insert(variable); }

  bool contains(Value value) const { return values.contains(value); }
  /// Of the ops of a body in their order.
  bool add(Operation *op) {
    bool varies = op->walk([&](Operation *inner) {
                      bool writes = !isMemoryEffectFree(inner) &&
                                    !isa<memref::LoadOp>(inner) &&
                                    !inner->getNumRegions();
                      return writes || llvm::any_of(inner->getOperands(),
                                                    [&](Value operand) {
                                                      return contains(operand);
                                                    })
                                 ? WalkResult::interrupt()
                                 : WalkResult::advance();
                    }).wasInterrupted();
    if (varies)
      op->walk([&](Operation *inner) {
        values.insert(inner->result_begin(), inner->result_end());
      });
    return varies;
  }

private:
  DenseSet<Value> values;
};
} // namespace

SmallVector<int64_t> alula::kernel::getConstantSizes(scf::ParallelOp loop) {
  SmallVector<int64_t> sizes;
  for (auto [lower, upper, step] : llvm::zip_equal(
           loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
    auto size = getConstantIntValue(upper);
    if (!size || *size <= 0 || getConstantIntValue(lower) != 0 ||
        getConstantIntValue(step) != 1)
      return {};
    sizes.push_back(*size);
  }
  return sizes;
}

bool alula::kernel::mayInterleave(
    Operation *op, llvm::function_ref<bool(Value memory)> isPrivate) {
  return !op->walk([&](Operation *inner) {
              if (auto access = getAccess(inner))
                return isPrivate(access->memory) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
              if (isa<LoopLikeOpInterface>(inner) ||
                  llvm::any_of(inner->getOperandTypes(), [](Type type) {
                    return !type.isIntOrIndexOrFloat();
                  }))
                return WalkResult::interrupt();
              bool isKnown =
                  isa<func::CallOp, scf::IfOp, scf::YieldOp>(inner) ||
                  isMemoryEffectFree(inner);
              return isKnown ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

scf::ParallelOp alula::kernel::joinDimensions(scf::ParallelOp loop) {
  if (loop.getNumReductions())
    return loop;
  SmallVector<int64_t> sizes = getConstantSizes(loop);
  for (size_t dim = sizes.size(); dim-- > 1;)
    if (int64_t both; mayJoin(loop, dim - 1, sizes[dim]) &&
                      !llvm::MulOverflow(sizes[dim - 1], sizes[dim], both)) {
      join(loop, dim - 1, sizes[dim - 1], sizes[dim]);
      sizes[dim - 1] = both;
      sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(dim));
    }
  return loop;
}

int64_t
alula::kernel::countTogether(scf::ParallelOp loop,
                             const dispatch::MachineFacts &machine,
                             llvm::function_ref<bool(Value memory)> isPrivate) {
  SmallVector<int64_t> sizes = getConstantSizes(loop);
  if (sizes.empty() || machine.vectorBytes <= 0)
    return 1;
  Value variable = loop.getInductionVars().back();
  Varying varying(variable);
  // Reads and writes of neighbours: how wide elements are.
  int64_t narrowest = 0, widest = 0, ops = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (!mayInterleave(&op, isPrivate))
      return 1;
    op.walk([&](Operation *inner) {
      ops += isa<func::CallOp>(inner) ? opsOfCall : 1;
    });
    if (!varying.add(&op))
      continue;
    auto access = getAccess(&op);
    if (!access || access->indices.empty() ||
        llvm::none_of(access->indices,
                      [&](Value index) { return varying.contains(index); }))
      continue;
    // Those that lie elsewhere are better shared by many threads.
    Value last = access->indices.back();
    auto add = last.getDefiningOp<arith::AddIOp>();
    bool isNear =
        last == variable ||
        (add && (add.getLhs() == variable || add.getRhs() == variable) &&
         !(varying.contains(add.getLhs()) && varying.contains(add.getRhs())));
    auto [strides, offset] = getStridesAndOffset(access->memory.getType());
    if (!isNear || strides.back() != 1 ||
        llvm::any_of(access->indices.drop_back(),
                     [&](Value index) { return varying.contains(index); }))
      return 1;
    if (!access->memory.getType().getElementType().isIntOrFloat())
      return 1;
    int64_t bytes = getElementBytes(access->memory.getType().getElementType());
    widest = std::max(widest, bytes);
    if (last == variable)
      narrowest = narrowest ? std::min(narrowest, bytes) : bytes;
  }
  if (!narrowest)
    return 1;
  int64_t elements = 1;
  for (int64_t size : sizes)
    if (llvm::MulOverflow(elements, size, elements))
      return 1;
  int64_t together = machine.vectorBytes / narrowest;
  auto isTooMany = [&] {
    return together * widest > mostBytes || together * ops > mostOps ||
           elements / together < machine.cores * machine.blockThreads ||
           (sizes.size() > 1 && sizes.back() % together);
  };
  while (together > 1 && isTooMany())
    together /= 2;
  return std::max<int64_t>(together, 1);
}

void alula::kernel::setTogether(scf::ParallelOp loop, int64_t count) {
  if (count > 1)
    loop->setAttr(togetherName,
                  Builder(loop.getContext()).getI64IntegerAttr(count));
}

int64_t alula::kernel::getTogether(scf::ParallelOp loop) {
  auto count = loop->getAttrOfType<IntegerAttr>(togetherName);
  return count ? count.getInt() : 1;
}

/// A copy for the neighbour `number` places behind the one that a variable
/// says: of a view that begins so much later, where that is possible. So the
/// place in it is the same number for all, and whoever looks for neighbours
/// finds them.
static void cloneBehind(OpBuilder &builder, Operation *op, Value variable,
                        Value first, int64_t number, IRMapping &mapping) {
  Operation *copy = builder.clone(*op, mapping);
  auto access = getAccess(op);
  if (!access || number == 0 || access->indices.empty() ||
      access->indices.back() != variable)
    return;
  Value memory = getAccess(copy)->memory;
  auto type = cast<MemRefType>(memory.getType());
  if (!type.hasStaticShape() || !type.getLayout().isIdentity())
    return;
  auto [strides, offset] = getStridesAndOffset(type);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(copy);
  Value view = builder.create<memref::ReinterpretCastOp>(
      op->getLoc(),
      MemRefType::get(
          type.getShape(), type.getElementType(),
          StridedLayoutAttr::get(builder.getContext(), number, strides),
          type.getMemorySpace()),
      memory, /*offset=*/number, type.getShape(), strides);
  auto made = getAccess(copy);
  unsigned begin = made->indices.getBeginOperandIndex();
  copy->setOperand(begin - 1, view);
  copy->setOperand(begin + static_cast<unsigned>(made->indices.size()) - 1,
                   first);
}

void alula::kernel::copyTogether(OpBuilder &builder, scf::ParallelOp loop,
                                 const IRMapping &mapping, int64_t count) {
  Value variable = loop.getInductionVars().back();
  Value first = mapping.lookup(variable);
  SmallVector<IRMapping> copies(static_cast<size_t>(count), mapping);
  for (size_t i = 1; i < copies.size(); ++i)
    copies[i].map(variable, builder.create<arith::AddIOp>(
                                loop.getLoc(), first,
                                builder.create<arith::ConstantIndexOp>(
                                    loop.getLoc(), static_cast<int64_t>(i))));
  Varying varying(variable);
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool varies = varying.add(&op);
    for (size_t i = 0; i < copies.size(); ++i)
      if (i == 0 || varies)
        cloneBehind(builder, &op, variable, first, static_cast<int64_t>(i),
                    copies[i]);
      else
        for (Value result : op.getResults())
          copies[i].map(result, copies[0].lookup(result));
  }
}
