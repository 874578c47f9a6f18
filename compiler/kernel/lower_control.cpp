// Control flow inside a kernel. Scalars are carried as SSA values, tensors in
// memory.

#include "compiler/kernel/emitters.h"
#include "compiler/kernel/library/cancel_flag.h"
#include "compiler/kernel/lowering.h"

#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
bool isToken(Value value) { return isa<stablehlo::TokenType>(value.getType()); }

bool isScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 0;
}

Type getScalarType(Value value) { return getValueType(getElementType(value)); }
} // namespace

// Branches write tensors where the results are and return scalars.
static SmallVector<Value> lowerBranch(Lowering &lowering, Block &block,
                                      ArrayRef<Value> buffers) {
  SmallVector<Value> returned(block.getTerminator()->getOperands());
  lowering.lowerBlockInto(block, buffers);
  SmallVector<Value> scalars;
  for (Value value : returned)
    if (isScalar(value))
      scalars.push_back(lowering.hasFailed()
                            ? lowering.zero(getScalarType(value))
                            : lowering.getScalar(value));
  return scalars;
}

static void emitBranches(Operation *op, Lowering &lowering,
                         function_ref<SmallVector<Value>(
                             TypeRange, function_ref<SmallVector<Value>(Block &)>)>
                             choose) {
  SmallVector<Value> buffers;
  SmallVector<Type> types;
  for (Value result : op->getResults()) {
    buffers.push_back(isScalar(result) || isToken(result)
                          ? Value()
                          : lowering.createResult(result));
    if (isScalar(result))
      types.push_back(getScalarType(result));
  }
  SmallVector<Value> scalars = choose(types, [&](Block &block) {
    return lowerBranch(lowering, block, buffers);
  });
  auto next = scalars.begin();
  for (Value result : op->getResults())
    if (isScalar(result))
      lowering.setScalar(result, *next++);
}

void alula::kernel::emitIf(Operation *op, Lowering &lowering) {
  auto branch = cast<stablehlo::IfOp>(op);
  Value condition = lowering.getScalar(branch.getPred());
  emitBranches(op, lowering, [&](TypeRange types, auto lower) {
    return lowering.choose(
        condition, types, [&] { return lower(branch.getTrueBranch().front()); },
        [&] { return lower(branch.getFalseBranch().front()); });
  });
}

// An index out of range takes the last branch.
void alula::kernel::emitCase(Operation *op, Lowering &lowering) {
  auto branches = cast<stablehlo::CaseOp>(op);
  Value index = lowering.getScalar(branches.getIndex());
  emitBranches(op, lowering, [&](TypeRange types, auto lower) {
    std::function<SmallVector<Value>(unsigned)> from = [&](unsigned number) {
      Block &block = branches.getBranches()[number].front();
      if (number + 1 == branches.getBranches().size())
        return lower(block);
      Value isThis = lowering.b.create<arith::CmpIOp>(
          arith::CmpIPredicate::eq, index,
          lowering.b.create<arith::ConstantOp>(
              lowering.b.getIntegerAttr(index.getType(), number)));
      return lowering.choose(
          isThis, types, [&] { return lower(block); },
          [&] { return from(number + 1); });
    };
    return from(0);
  });
}

namespace {
/// The memory that a view shows.
Value getRoot(Value buffer) {
  while (auto view = buffer.getDefiningOp<memref::ReinterpretCastOp>())
    buffer = view.getSource();
  return buffer;
}

class WhileEmitter {
public:
  WhileEmitter(stablehlo::WhileOp loop, Lowering &lowering)
      : loop(loop), lowering(lowering), b(lowering.b) {}

  void emit();

private:
  void enter(Block &block, ValueRange scalars);
  void prepareBuffers();
  bool isCarried(Value buffer);
  bool readsInPlace(Value value, bool isSameIndex);
  SmallVector<Value> lowerBody();
  Value isWanted();

  stablehlo::WhileOp loop;
  Lowering &lowering;
  ImplicitLocOpBuilder &b;
  /// The memory of each carried tensor; null for scalars and tokens.
  SmallVector<Value> buffers;
  /// What is known of `readsInPlace`.
  DenseMap<Value, bool> inPlace[2];
};

/// The carried values as arguments of a region.
void WhileEmitter::enter(Block &block, ValueRange scalars) {
  for (auto [argument, buffer] :
       llvm::zip_equal(block.getArguments(), buffers)) {
    if (buffer)
      lowering.setBuffer(argument, buffer);
    else if (isScalar(argument)) {
      lowering.setScalar(argument, scalars.front());
      scalars = scalars.drop_front();
    }
  }
}

void WhileEmitter::prepareBuffers() {
  for (auto [result, operand] :
       llvm::zip_equal(loop.getResults(), loop.getOperands())) {
    if (isScalar(result) || isToken(result)) {
      buffers.push_back({});
      continue;
    }
    if (!cast<RankedTensorType>(result.getType()).hasStaticShape())
      lowering.setShape(result, lowering.getShape(operand));
    // Loop-invariant values are read where they are.
    Block &body = loop.getBody().front();
    unsigned number = cast<OpResult>(result).getResultNumber();
    if (body.getTerminator()->getOperand(number) == body.getArgument(number)) {
      buffers.push_back(lowering.getBuffer(operand));
      lowering.setAlias(result, operand);
      continue;
    }
    buffers.push_back(
        lowering.createUpdated(cast<OpResult>(result), operand));
  }
}

bool WhileEmitter::isCarried(Value buffer) {
  return llvm::any_of(buffers, [&](Value carried) {
    return carried && getRoot(carried) == getRoot(buffer);
  });
}

/// Whether elements of a value need elements of carried memory at the same
/// indices only: they may be written where those are.
bool WhileEmitter::readsInPlace(Value value, bool isSameIndex) {
  if (isScalar(value))
    return true;
  if (lowering.hasBuffer(value)) {
    Value buffer = lowering.getBuffer(value);
    return !isCarried(buffer) ||
           (isSameIndex && llvm::is_contained(buffers, buffer));
  }
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &loop.getBody().front())
    return true;
  auto [known, isNew] = inPlace[isSameIndex].try_emplace(value, true);
  if (!isNew)
    return known->second;
  bool result = op->getNumRegions() == 0 &&
                llvm::all_of(op->getOperands(), [&](Value operand) {
                  return readsInPlace(operand, isSameIndex && stablehlo::keepsIndices(op));
                });
  return inPlace[isSameIndex][value] = result;
}

// Carried tensors are updated like a parallel copy: what a body returns goes to
// a temporary first if old values may still be read.
SmallVector<Value> WhileEmitter::lowerBody() {
  Block &body = loop.getBody().front();
  lowering.lowerBlock(body);
  SmallVector<Value> scalars;
  if (lowering.hasFailed())
    return scalars;
  // Values of one shape share a loop.
  using Fillings =
      llvm::MapVector<ArrayRef<int64_t>, SmallVector<Lowering::Filling>>;
  Fillings computed, saved;
  struct Copy {
    Value buffer, source, tensor;
  };
  SmallVector<Copy> copies;
  auto getSizes = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  for (auto [value, buffer, argument] :
       llvm::zip_equal(body.getTerminator()->getOperands(), buffers,
                       body.getArguments())) {
    if (isScalar(value))
      scalars.push_back(lowering.getScalar(value));
    if (!buffer || value == argument)
      continue;
    if (!lowering.hasBuffer(value)) {
      computed[getSizes(value)].push_back({buffer, value});
      continue;
    }
    Value source = lowering.getBuffer(value);
    if (source == buffer)
      continue;
    if (isCarried(source)) {
      source = lowering.createTemporary(value);
      saved[getSizes(value)].push_back({source, value});
    }
    copies.push_back({buffer, source, value});
  }
  // All are computed, or saved if they are old values themselves, before any is
  // written that something else reads.
  Fillings direct;
  for (auto &[shape, fillings] : computed) {
    bool isStatic = !ShapedType::isDynamicShape(shape);
    if (isStatic && llvm::all_of(fillings, [&](const Lowering::Filling &filling) {
          return readsInPlace(filling.tensor, true);
        })) {
      direct.insert({shape, std::move(fillings)});
      continue;
    }
    for (Lowering::Filling &filling : fillings) {
      copies.push_back({filling.buffer,
                        lowering.createTemporary(filling.tensor),
                        filling.tensor});
      filling.buffer = copies.back().source;
      // Sizes that only look alike.
      if (!isStatic)
        lowering.fill(filling.buffer, filling.tensor);
    }
    if (isStatic)
      lowering.fill(fillings);
  }
  for (auto &[shape, fillings] : saved)
    for (const Lowering::Filling &filling : fillings)
      lowering.fill(filling.buffer, filling.tensor);
  for (auto &[shape, fillings] : direct)
    lowering.fill(fillings);
  for (const Copy &copy : copies) {
    Type element = getElementType(copy.tensor);
    lowering.forEach(lowering.getShape(copy.tensor), [&](ValueRange indices) {
      lowering.store(lowering.load(copy.source, indices, element), element,
                     copy.buffer, indices);
    });
  }
  return scalars;
}

/// Whether somebody still waits for the results: it may take forever.
Value WhileEmitter::isWanted() {
  Value flag = lowering.callLibrary(
      ALULA_CANCEL_FLAG, LLVM::LLVMPointerType::get(b.getContext()), {});
  // Volatile and not atomic, which would keep what else is read in the loop
  // from being hoisted.
  Value cancelled = b.create<LLVM::LoadOp>(b.getI32Type(), flag,
                                           /*alignment=*/4, /*isVolatile=*/true);
  Value zero = b.create<arith::ConstantOp>(b.getI32IntegerAttr(0));
  return lowering.compare(arith::CmpIPredicate::eq, cancelled, zero);
}

void WhileEmitter::emit() {
  SmallVector<Value> initial;
  SmallVector<Type> types;
  for (Value operand : loop.getOperands())
    if (isScalar(operand)) {
      initial.push_back(lowering.getScalar(operand));
      types.push_back(initial.back().getType());
    }
  prepareBuffers();
  auto native = b.create<scf::WhileOp>(types, initial);
  {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Location> locations(types.size(), b.getLoc());
    Block *before = b.createBlock(&native.getBefore(), {}, types, locations);
    Lowering::Scope scope(lowering);
    Block &block = loop.getCond().front();
    enter(block, before->getArguments());
    lowering.lowerBlock(block);
    Value condition = lowering.hasFailed()
                          ? lowering.makeTrue()
                          : lowering.getScalar(
                                block.getTerminator()->getOperand(0));
    b.create<scf::ConditionOp>(lowering.both(condition, isWanted()),
                               before->getArguments());
  }
  {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Location> locations(types.size(), b.getLoc());
    Block *after = b.createBlock(&native.getAfter(), {}, types, locations);
    Lowering::Scope scope(lowering);
    enter(loop.getBody().front(), after->getArguments());
    SmallVector<Value> next = lowerBody();
    b.create<scf::YieldOp>(lowering.hasFailed() ? ValueRange(after->getArguments())
                                                : ValueRange(next));
  }
  auto scalars = native.getResults().begin();
  for (Value result : loop.getResults())
    if (isScalar(result))
      lowering.setScalar(result, *scalars++);
}
} // namespace

void alula::kernel::emitWhile(Operation *op, Lowering &lowering) {
  WhileEmitter(cast<stablehlo::WhileOp>(op), lowering).emit();
}
