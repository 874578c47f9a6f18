// Where tensors are while a kernel is lowered, and the walk over its ops.

#include "compiler/kernel/lowering.h"

#include "compiler/kernel/plan/plan.h"
#include "compiler/kernel/row_nest.h"
#include "compiler/kernel/transposed_copy.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace alula::kernel;

Lowering::Lowering(func::FuncOp function)
    : b(function.getLoc(), OpBuilder::atBlockEnd(&function.front())),
      machine(dispatch::getMachine(function)), function(function) {
  frames.emplace_back();
}

Lowering::Scope::Scope(Lowering &lowering) : lowering(lowering) {
  lowering.frames.emplace_back();
}
Lowering::Scope::~Scope() { lowering.frames.pop_back(); }

// ---- Tensors ----

const Lowering::Place *Lowering::findPlace(Value tensor) {
  for (const Frame &frame : llvm::reverse(frames)) {
    auto found = frame.places.find(tensor);
    if (found != frame.places.end())
      return &found->second;
  }
  return nullptr;
}

void Lowering::setInlined(Value tensor) { frames.back().places[tensor] = {}; }

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

void Lowering::setScalar(Value tensor, Value value) {
  frames.back().places[tensor] = {Place::Scalar, value};
}

void Lowering::setBuffer(Value tensor, Value buffer) {
  frames.back().places[tensor] = {Place::Buffer, buffer};
  // What was read through another place may be old.
  frames.back().elements.erase(tensor);
}

void Lowering::setPacked(Value tensor, Value bytes) {
  packedMemory.insert(bytes);
  frames.back().places[tensor] = {Place::Packed, bytes};
  frames.back().elements.erase(tensor);
}

void Lowering::setShape(Value tensor, ValueRange sizes) {
  frames.back().shapes[tensor] = llvm::to_vector(sizes);
}

Value Lowering::getDim(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(static_cast<unsigned>(dim)))
    return index(type.getDimSize(static_cast<unsigned>(dim)));
  return getShape(tensor)[static_cast<size_t>(dim)];
}

SmallVector<Value> Lowering::getShape(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> sizes;
  if (type.hasStaticShape()) {
    for (int64_t size : type.getShape())
      sizes.push_back(index(size));
    return sizes;
  }
  for (Frame &frame : llvm::reverse(frames)) {
    auto found = frame.shapes.find(tensor);
    if (found != frame.shapes.end())
      return found->second;
  }
  // Nobody has said it yet: as its op says.
  auto result = dyn_cast<OpResult>(tensor);
  if (result)
    sizes = computeResultShape(result, *this);
  if (sizes.size() != static_cast<size_t>(type.getRank())) {
    decline(result ? result.getOwner() : function.getOperation(),
            "for a size that is not known here");
    sizes.assign(static_cast<size_t>(type.getRank()), index(1));
  }
  setShape(tensor, sizes);
  return sizes;
}

Value Lowering::getElement(Value tensor, ValueRange indices) {
  const Place *place = findPlace(tensor);
  assert(place && "operands are lowered before their users");
  if (place->kind == Place::Scalar)
    return place->value;
  for (Frame &frame : frames) {
    auto found = frame.elements.find(tensor);
    if (found == frame.elements.end())
      continue;
    for (auto &[known, value] : found->second)
      if (ValueRange(known) == indices)
        return value;
  }
  Value value;
  if (place->kind == Place::Buffer) {
    value = load(place->value, indices, getElementType(tensor));
  } else if (place->kind == Place::Packed) {
    value = loadPacked(place->value, indices, tensor);
  } else {
    auto result = cast<OpResult>(tensor);
    Location saved = b.getLoc();
    b.setLoc(result.getOwner()->getLoc());
    value = findLowering(result.getOwner()).generate(result, indices, *this);
    b.setLoc(saved);
  }
  frames.back().elements[tensor].emplace_back(llvm::to_vector(indices), value);
  return value;
}

Value Lowering::getIndexElement(Value tensor, ValueRange indices) {
  Value value = getElement(tensor, indices);
  if (getElementKind(getElementType(tensor)) == ElementKind::Unsigned)
    return b.createOrFold<arith::IndexCastUIOp>(b.getIndexType(), value);
  return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), value);
}

bool Lowering::hasPacked(Value tensor) {
  const Place *place = findPlace(tensor);
  return place && place->kind == Place::Packed;
}

Value Lowering::getBinding(Value tensor) {
  const Place *place = findPlace(tensor);
  return place->kind == Place::Packed ? place->value : getBuffer(tensor);
}

bool Lowering::hasBuffer(Value tensor) {
  const Place *place = findPlace(tensor);
  return place && place->kind == Place::Buffer;
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
  const Frame &frame = frames.back();
  auto found = frame.places.find(operand);
  // Memory of an outer scope may be read again by the next iteration.
  if (operand.hasOneUse() && found != frame.places.end() &&
      found->second.kind == Place::Buffer &&
      owned.contains(found->second.value)) {
    Value buffer = found->second.value;
    setBuffer(result, buffer);
    return buffer;
  }
  Value buffer = claimMemory(result);
  fill(buffer, operand);
  setBuffer(result, buffer);
  return buffer;
}

Value Lowering::createTemporary(ValueRange sizes, Type memoryType) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  for (Value size : sizes) {
    std::optional<int64_t> constant = getConstantIntValue(size);
    shape.push_back(constant ? *constant : ShapedType::kDynamic);
    if (!constant)
      dynamic.push_back(size);
  }
  Value buffer =
      b.create<memref::AllocOp>(MemRefType::get(shape, memoryType), dynamic);
  owned.insert(buffer);
  return buffer;
}

Value Lowering::createTemporary(Value likeTensor) {
  return createTemporary(getShape(likeTensor),
                         getMemoryType(getElementType(likeTensor)));
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
    frames.back().elements[result].emplace_back(llvm::to_vector(indices),
                                                value);
    element = findLowering(final.getOwner()).generate(final, indices, *this);
  }
  store(element, getElementType(final), buffer, indices);
}

// ---- Memory ----

Value Lowering::load(Value buffer, ValueRange indices, Type element) {
  return decode(b.create<memref::LoadOp>(buffer, indices), element);
}

Value Lowering::loadPacked(Value bytes, ValueRange indices, Value tensor) {
  Type element = getElementType(tensor);
  int64_t packing = getPacking(element);
  Value number = linearize(indices, getShape(tensor)), each = index(packing);
  Value byte = b.create<memref::LoadOp>(bytes, ValueRange{div(number, each)});
  // Numbers are not negative: lowest bits first.
  Value shift = b.createOrFold<arith::IndexCastUIOp>(
      byte.getType(), mul(rem(number, each), index(8 / packing)));
  Value code = b.createOrFold<arith::ShRUIOp>(byte, shift);
  Value mask = b.create<arith::ConstantOp>(
      b.getIntegerAttr(byte.getType(), (1 << 8 / packing) - 1));
  return decode(b.create<arith::AndIOp>(code, mask), element);
}

Value Lowering::decode(Value memory, Type element) {
  Type value = getValueType(element);
  if (memory.getType() == value)
    return memory;
  if (isSmallFloat(element)) {
    Value code = b.create<arith::ExtUIOp>(b.getI32Type(), memory);
    return callLibrary("alula_decode_" + getLibraryName(element), value, code);
  }
  if (value.isInteger(1))
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, memory,
                                   zero(memory.getType()));
  return b.create<arith::TruncIOp>(value, memory);
}

void Lowering::store(Value value, Type element, Value buffer,
                     ValueRange indices) {
  b.create<memref::StoreOp>(encode(value, element), buffer, indices);
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

Value Lowering::encode(Value value, Type element) {
  Type memory = getMemoryType(element);
  if (isSmallFloat(element)) {
    Value code = callLibrary("alula_encode_" + getLibraryName(element),
                             b.getI32Type(), value);
    value = b.create<arith::TruncIOp>(memory, code);
  } else if (value.getType() != memory) {
    value = getElementKind(element) == ElementKind::Signed
                ? b.create<arith::ExtSIOp>(memory, value).getResult()
                : b.create<arith::ExtUIOp>(memory, value).getResult();
  }
  return value;
}

void Lowering::storeIntegers(Value buffer, ArrayRef<int64_t> values) {
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  for (auto [i, value] : llvm::enumerate(values))
    b.create<memref::StoreOp>(
        b.create<arith::ConstantOp>(b.getIntegerAttr(type, value)), buffer,
        index(static_cast<int64_t>(i)));
}

void Lowering::fill(Value buffer, Value tensor) {
  fill(Filling{buffer, tensor});
}

void Lowering::fill(ArrayRef<Filling> fillings) {
  if (fillings.size() == 1 &&
      fillTransposed(fillings[0].buffer, fillings[0].tensor, *this))
    return;
  SmallVector<Value> tensors;
  for (const Filling &filling : fillings)
    tensors.push_back(filling.tensor);
  forEachElement(tensors, [&](ValueRange indices) {
    SmallVector<Value> elements;
    for (Value tensor : tensors)
      elements.push_back(getElement(tensor, indices));
    for (auto [filling, element] : llvm::zip_equal(fillings, elements))
      store(element, getElementType(filling.tensor), filling.buffer, indices);
  });
}

/// The dimension, not the last one, along which something that is read for the
/// elements of `tensor` has its neighbours in memory.
std::optional<size_t> Lowering::findCrossedDim(Value tensor, unsigned depth) {
  constexpr unsigned maxDepth = 8;
  const Place *place = findPlace(tensor);
  if (depth > maxDepth || !place || place->kind != Place::Inlined)
    return {};
  Operation *op = tensor.getDefiningOp();
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    auto last = static_cast<int64_t>(permutation.size()) - 1;
    auto dim = static_cast<size_t>(llvm::find(permutation, last) -
                                   permutation.begin());
    bool isCrossed =
        hasBuffer(transpose.getOperand()) && dim + 1 != permutation.size();
    return isCrossed ? std::optional(dim) : std::nullopt;
  }
  if (op->hasTrait<mlir::OpTrait::Elementwise>())
    for (Value operand : op->getOperands())
      if (auto dim = findCrossedDim(operand, depth + 1))
        return dim;
  return {};
}

void Lowering::forEachElement(ArrayRef<Value> tensors, Body body) {
  // Less than this stays in the cache anyway.
  int64_t minElements = machine.l1Bytes / 8, minSize = machine.lineBytes / 2;
  SmallVector<Value> sizes = getShape(tensors.front());
  auto isLarge = [&](Value size, int64_t limit) {
    return getConstantIntValue(size).value_or(limit) >= limit;
  };
  if (sizes.size() > 1 && isLarge(product(sizes), minElements))
    for (Value tensor : tensors)
      if (auto dim = findCrossedDim(tensor); dim &&
                                             isLarge(sizes[*dim], minSize) &&
                                             isLarge(sizes.back(), minSize))
        return forEachInSquares(sizes, *dim, sizes.size() - 1, body);
  forEach(sizes, body);
}

Value Lowering::createView(Value buffer, ValueRange sizes) {
  SmallVector<OpFoldResult> all;
  SmallVector<OpFoldResult> strides = getAsOpFoldResult(getStrides(sizes));
  SmallVector<int64_t> shape;
  for (Value size : sizes) {
    all.push_back(getAsOpFoldResult(size));
    shape.push_back(
        getConstantIntValue(size).value_or(int64_t(ShapedType::kDynamic)));
  }
  auto type = MemRefType::get(
      shape, cast<MemRefType>(buffer.getType()).getElementType());
  return b.create<memref::ReinterpretCastOp>(type, buffer, b.getIndexAttr(0),
                                             all, strides);
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
  OpLowering lowering = findLowering(op);
  if (!lowering.generate && !lowering.emit && !lowering.alias)
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
  if (lowering.alias && lowering.alias(op, *this))
    return;
  if (lowering.emit && !(lowering.generate && isInlined))
    return lowering.emit(op, *this);
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
    if (failed)
      return;
    if (const RowNest *nest = plan.nests.find(&op)) {
      if (&op == nest->members.back())
        emitRowNest(*nest, *this);
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
  if (!failed)
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

SmallVector<Value> Lowering::call(Block &body, ValueRange arguments) {
  Scope scope(*this);
  Location saved = b.getLoc();
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    setScalar(argument, value);
  lowerBlock(body);
  SmallVector<Value> results;
  for (Value result : body.getTerminator()->getOperands())
    results.push_back(failed ? zero(getValueType(getElementType(result)))
                             : getScalar(result));
  b.setLoc(saved);
  return results;
}

// ---- The kernel library and errors ----

Value Lowering::callLibrary(const Twine &name, Type result,
                            ValueRange arguments) {
  auto module = function->getParentOfType<ModuleOp>();
  auto symbol = StringAttr::get(b.getContext(), name);
  auto callee = module.lookupSymbol<func::FuncOp>(symbol);
  if (!callee) {
    auto type = b.getFunctionType(arguments.getTypes(),
                                  result ? TypeRange(result) : TypeRange());
    callee = OpBuilder::atBlockEnd(module.getBody())
                 .create<func::FuncOp>(function.getLoc(), symbol, type);
    callee.setPrivate();
  }
  auto call = b.create<func::CallOp>(callee, arguments);
  return result ? call.getResult(0) : Value();
}

void Lowering::callLibrary(const Twine &name, ValueRange arguments) {
  callLibrary(name, Type(), arguments);
}

Value Lowering::getPointer(Value buffer) {
  Value address = b.create<memref::ExtractAlignedPointerAsIndexOp>(buffer);
  return b.create<LLVM::IntToPtrOp>(
      LLVM::LLVMPointerType::get(b.getContext()),
      b.create<arith::IndexCastOp>(b.getI64Type(), address));
}

Value Lowering::getPartMemory(Type type, unsigned number) {
  Value &memory = partMemory[{type, number}];
  if (!memory) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.front());
    memory = b.create<memref::AllocaOp>(MemRefType::get({}, type));
  }
  return memory;
}

Value Lowering::zero(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Attribute part = b.getZeroAttr(complex.getElementType());
    return b.create<complex::ConstantOp>(type, b.getArrayAttr({part, part}));
  }
  return b.create<arith::ConstantOp>(b.getZeroAttr(type));
}

void Lowering::decline(Operation *op, const Twine &reason) {
  // One reason is enough.
  if (!failed)
    op->emitError() << "'" << op->getName().getStringRef()
                    << "': no native code: " << reason;
  failed = true;
}

Value Lowering::decline(Operation *op, const Twine &reason, Type valueType) {
  decline(op, reason);
  return zero(valueType);
}
