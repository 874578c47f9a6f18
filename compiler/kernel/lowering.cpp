// What a kernel's tensors have for memory, and the walk over its ops.

#include "compiler/kernel/lowering.h"

#include "compiler/kernel/element/generators.h"
#include "compiler/kernel/plan/plan.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace alula::kernel;

Lowering::Lowering(func::FuncOp function, const TargetKernels &target)
    : Reader(function), target(target), loops(target.createLoops(*this)),
      memory(target.createMemory(*this)) {
  frames.emplace_back();
}

Lowering::~Lowering() = default;

void Lowering::beginScope() {
  Reader::beginScope();
  frames.emplace_back();
}

void Lowering::endScope() {
  frames.pop_back();
  Reader::endScope();
}

// ---- Memory of tensors ----

void Lowering::setAlias(Value tensor, Value original) {
  const Place *place = findPlace(original);
  if (place->kind == Place::Scalar)
    return setScalar(tensor, place->value);
  if (place->kind == Place::Packed)
    return setPacked(tensor, place->value);
  Value buffer = getBuffer(original);
  // What has two names may not be changed under one of them.
  if (!original.hasOneUse())
    owned.erase(buffer);
  setBuffer(tensor, buffer);
}

void Lowering::materialize(Value result) {
  setInlined(result);
  Value buffer = claimMemory(result);
  fill(buffer, result);
  setBuffer(result, buffer);
}

void Lowering::setPacked(Value tensor, Value bytes) {
  packedMemory.insert(bytes);
  Reader::setPacked(tensor, bytes);
}

Value Lowering::getBinding(Value tensor) {
  const Place *place = findPlace(tensor);
  return place->kind == Place::Packed ? place->value : getBuffer(tensor);
}

Value Lowering::getBuffer(Value tensor) {
  const Place *place = findPlace(tensor);
  assert(place && "operands are lowered before their users");
  if (place->kind == Place::Buffer)
    return place->value;
  Value buffer = createTemporary(tensor);
  fill(buffer, tensor);
  setBuffer(tensor, buffer);
  return buffer;
}

Value Lowering::createUpdated(OpResult result, Value operand) {
  // Memory of an outer scope may be read again by the next iteration.
  const Place *place = findInnermostPlace(operand);
  if (operand.hasOneUse() && place && place->kind == Place::Buffer &&
      owned.contains(place->value)) {
    Value buffer = place->value;
    setBuffer(result, buffer);
    return buffer;
  }
  Value buffer = claimMemory(result);
  fill(buffer, operand);
  setBuffer(result, buffer);
  return buffer;
}

Value Lowering::claimMemory(Value result) {
  for (Frame &frame : frames) {
    auto found = frame.destinations.find(result);
    if (found == frame.destinations.end())
      continue;
    Value buffer = found->second;
    frame.destinations.erase(found);
    return buffer;
  }
  return createTemporary(result);
}

Value Lowering::createResult(Value result) {
  Value buffer = claimMemory(result);
  setBuffer(result, buffer);
  return buffer;
}

OpResult Lowering::getFinalResult(OpResult result) {
  for (const Frame &frame : llvm::reverse(frames))
    if (Operation *last = frame.epilogues.lastOf.lookup(result.getOwner()))
      return last->getResult(0);
  return result;
}

void Lowering::storeFinal(OpResult result, Value value, Value buffer,
                          ValueRange indices) {
  OpResult final = getFinalResult(result);
  Value element = value;
  if (final != result) {
    setElement(result, indices, value);
    element = findGenerator(final.getOwner())(final, indices, *this);
  }
  store(element, getElementType(final), buffer, indices);
}

// ---- Memory ----

Value Lowering::createTemporary(ValueRange sizes, Type memoryType) {
  Value buffer = memory->allocate(sizes, memoryType);
  owned.insert(buffer);
  return buffer;
}

Value Lowering::createTemporary(Value likeTensor) {
  return createTemporary(getShape(likeTensor),
                         getMemoryType(getElementType(likeTensor)));
}

static ModuleOp getModule(OpBuilder &b) {
  return b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
}

Value Lowering::createData(MemRefType type, StringRef name,
                           function_ref<ElementsAttr()> makeNumbers) {
  ModuleOp module = getModule(b);
  if (!module.lookupSymbol(name)) {
    ElementsAttr numbers = makeNumbers();
    OpBuilder::atBlockBegin(module.getBody())
        .create<memref::GlobalOp>(b.getLoc(), name, b.getStringAttr("private"),
                                  type, numbers, /*constant=*/true,
                                  b.getI64IntegerAttr(64));
  }
  return b.create<memref::GetGlobalOp>(type, name);
}

Value Lowering::createData(MemRefType type, DenseElementsAttr numbers) {
  auto globals = getModule(b).getOps<memref::GlobalOp>();
  auto number = std::distance(globals.begin(), globals.end());
  return createData(type, "constant_" + std::to_string(number),
                    [&] { return numbers; });
}

Value Lowering::createTable(ArrayRef<int64_t> numbers) {
  auto size = static_cast<int64_t>(numbers.size());
  return createData(
      MemRefType::get({size}, b.getI64Type()),
      DenseElementsAttr::get(RankedTensorType::get({size}, b.getI64Type()),
                             numbers));
}

void Lowering::fill(Value buffer, Value tensor) {
  fill(Filling{buffer, tensor});
}

void Lowering::fillPacked(Value bytes, Value tensor) {
  Type element = getElementType(tensor);
  int64_t packing = getPacking(element), bits = 8 / packing;
  SmallVector<Value> sizes = getShape(tensor);
  Value count = product(sizes), each = index(packing);
  // Whole bytes within a row need no division.
  auto lastSize =
      sizes.empty() ? std::nullopt : getConstantIntValue(sizes.back());
  bool hasWholeRows = lastSize && *lastSize % packing == 0;
  bool isWhole = getConstantIntValue(count).value_or(1) % packing == 0;
  SmallVector<Value> steps{ceilDiv(count, each)};
  if (hasWholeRows) {
    steps.assign(sizes.begin(), sizes.end());
    steps.back() = index(*lastSize / packing);
  }
  Value mask = b.create<arith::ConstantOp>(
      b.getIntegerAttr(b.getI8Type(), (1 << bits) - 1));
  auto getCode = [&](ValueRange indices) -> Value {
    return b.create<arith::AndIOp>(encode(getElement(tensor, indices), element),
                                   mask);
  };
  forEach(steps, [&](ValueRange at) {
    Value byte;
    for (int64_t i = 0; i < packing; ++i) {
      Value code;
      if (hasWholeRows) {
        SmallVector<Value> indices(at);
        indices.back() = add(mul(at.back(), each), index(i));
        code = getCode(indices);
      } else {
        // Behind the last element the bits are zero.
        Value number = add(mul(at[0], each), index(i));
        Value isInside = isWhole || i == 0 ? makeTrue()
                                           : compare(arith::CmpIPredicate::ult,
                                                     number, count);
        code = choose(
            isInside, b.getI8Type(),
            [&] {
              Scope scope(*this);
              return SmallVector<Value>{getCode(delinearize(number, sizes))};
            },
            [&] { return SmallVector<Value>{zero(b.getI8Type())}; })[0];
      }
      Value shift = b.create<arith::ConstantOp>(
          b.getIntegerAttr(b.getI8Type(), i * bits));
      code = b.createOrFold<arith::ShLIOp>(code, shift);
      byte = byte ? b.createOrFold<arith::OrIOp>(byte, code) : code;
    }
    Value place = hasWholeRows ? linearize(at, steps) : at[0];
    b.create<memref::StoreOp>(byte, bytes, ValueRange{place});
  });
}

// ---- Blocks ----

void Lowering::lowerOp(Operation *op, bool isInlined) {
  // A product with an epilogue waits for what that needs.
  const Epilogues &epilogues = frames.back().epilogues;
  if (epilogues.lastOf.contains(op))
    return setInlined(op->getResult(0));
  if (Operation *producer = epilogues.producerOf.lookup(op))
    op = producer;
  b.setLoc(op->getLoc());
  APInt number;
  if (matchPattern(op, m_ConstantInt(&number)) &&
      !isa<stablehlo::ConstantOp>(op))
    return setScalar(op->getResult(0), index(number.getSExtValue()));
  Generator generate = findGenerator(op);
  OpEmitters emitters = target.findEmitters(op);
  if (!generate && !emitters.emit && !emitters.alias)
    return decline(op, "for this op");
  auto isNative = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return isa<stablehlo::TokenType>(type) || type.isIndex() ||
           (tensor && getMemoryType(tensor.getElementType()));
  };
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (!isNative(type))
        return decline(op, "for values of type " + debugString(type));
  if (op->getNumRegions())
    prepareCaptures(op);
  // The first that fits is taken.
  if (emitters.alias && emitters.alias(op, *this))
    return;
  if (emitters.emit && !(generate && isInlined))
    return emitters.emit(op, *this);
  OpResult result = op->getResult(0);
  setInlined(result);
  if (cast<RankedTensorType>(result.getType()).getRank() == 0)
    setScalar(result, getElement(result, {}));
  else if (!isInlined)
    materialize(result);
}

// What a region reads of the outside is computed once, before it.
void Lowering::prepareCaptures(Operation *op) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      const Place *place = findPlace(operand);
      if (!place || place->kind != Place::Inlined ||
          operand.getParentBlock() != op->getBlock() || inner == op)
        continue;
      if (!isa<stablehlo::ConstantOp, stablehlo::IotaOp>(
              operand.getDefiningOp()))
        getBuffer(operand);
    }
  });
}

void Lowering::lowerBlock(Block &block) {
  BlockPlan plan = readPlan(block);
  frames.back().epilogues = plan.epilogues;
  for (Operation &op : block.without_terminator()) {
    if (hasFailed())
      return;
    if (const auto *attention = plan.attentions.find(&op)) {
      if (&op == attention->members.back())
        target.emitAttention(*attention, *this);
    } else if (const RowNest *nest = plan.nests.find(&op)) {
      if (&op == nest->members.back())
        target.emitRowNest(*nest, *this);
    } else {
      lowerOp(&op, plan.inlined.contains(&op));
    }
  }
  b.setLoc(block.getTerminator()->getLoc());
}

void Lowering::lowerBlockInto(Block &block, ValueRange buffers) {
  for (auto [value, buffer] :
       llvm::zip_equal(block.getTerminator()->getOperands(), buffers)) {
    if (!buffer || packedMemory.contains(buffer))
      continue;
    owned.insert(buffer);
    // The first to return a value computes it in place; others are copies.
    if (value.getParentBlock() == &block && value.getDefiningOp())
      frames.back().destinations.try_emplace(value, buffer);
  }
  lowerBlock(block);
  if (!hasFailed())
    returnInto(block, buffers);
}

void Lowering::returnInto(Block &block, ValueRange buffers) {
  // Values of one shape share a loop, and what they are computed from.
  llvm::MapVector<ArrayRef<int64_t>, SmallVector<Filling>> pending;
  for (auto [value, buffer] :
       llvm::zip_equal(block.getTerminator()->getOperands(), buffers)) {
    const Place *place = findPlace(value);
    bool isInMemory =
        place->kind == Place::Buffer || place->kind == Place::Packed;
    if (!buffer || (isInMemory && place->value == buffer))
      continue;
    if (packedMemory.contains(buffer)) {
      fillPacked(buffer, value);
      continue;
    }
    auto type = cast<RankedTensorType>(value.getType());
    if (type.hasStaticShape()) {
      pending[type.getShape()].push_back({buffer, value});
      continue;
    }
    fill(buffer, value);
  }
  for (auto &[shape, fillings] : pending)
    fill(fillings);
}
