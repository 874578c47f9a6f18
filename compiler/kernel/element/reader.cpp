// Where the elements of tensors are while a kernel is lowered.

#include "compiler/kernel/element/reader.h"

#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/element/generators.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::kernel;

Reader::Reader(func::FuncOp function) : CodeBuilder(function) {
  frames.emplace_back();
}

Reader::~Reader() = default;

Reader::Scope::Scope(Reader &reader) : reader(reader) { reader.beginScope(); }
Reader::Scope::~Scope() { reader.endScope(); }

void Reader::beginScope() { frames.emplace_back(); }
void Reader::endScope() { frames.pop_back(); }

// ---- Tensors ----

const Reader::Place *Reader::findPlace(Value tensor) {
  for (const Frame &frame : llvm::reverse(frames)) {
    auto found = frame.places.find(tensor);
    if (found != frame.places.end())
      return &found->second;
  }
  return nullptr;
}

const Reader::Place *Reader::findInnermostPlace(Value tensor) {
  auto found = frames.back().places.find(tensor);
  return found == frames.back().places.end() ? nullptr : &found->second;
}

void Reader::setInlined(Value tensor) { frames.back().places[tensor] = {}; }

void Reader::setScalar(Value tensor, Value value) {
  frames.back().places[tensor] = {Place::Scalar, value};
}

void Reader::setBuffer(Value tensor, Value buffer) {
  frames.back().places[tensor] = {Place::Buffer, buffer};
  // What was read through another place may be old.
  frames.back().elements.erase(tensor);
}

void Reader::setPacked(Value tensor, Value bytes) {
  frames.back().places[tensor] = {Place::Packed, bytes};
  frames.back().elements.erase(tensor);
}

void Reader::setShape(Value tensor, ValueRange sizes) {
  frames.back().shapes[tensor] = llvm::to_vector(sizes);
}

void Reader::setElement(Value tensor, ValueRange indices, Value value) {
  frames.back().elements[tensor].emplace_back(llvm::to_vector(indices), value);
}

Value Reader::getDim(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(static_cast<unsigned>(dim)))
    return index(type.getDimSize(static_cast<unsigned>(dim)));
  return getShape(tensor)[static_cast<size_t>(dim)];
}

SmallVector<Value> Reader::getShape(Value tensor) {
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
  // Not set explicitly: from the op.
  auto result = dyn_cast<OpResult>(tensor);
  if (result)
    sizes = computeShape(result);
  if (sizes.size() != static_cast<size_t>(type.getRank())) {
    decline(result ? result.getOwner() : function.getOperation(),
            "for a size that is not known here");
    sizes.assign(static_cast<size_t>(type.getRank()), index(1));
  }
  setShape(tensor, sizes);
  return sizes;
}

Value Reader::getElement(Value tensor, ValueRange indices) {
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
    value = findGenerator(result.getOwner())(result, indices, *this);
    b.setLoc(saved);
  }
  setElement(tensor, indices, value);
  return value;
}

Value Reader::getIndexElement(Value tensor, ValueRange indices) {
  Value value = getElement(tensor, indices);
  if (getElementKind(getElementType(tensor)) == ElementKind::Unsigned)
    return b.createOrFold<arith::IndexCastUIOp>(b.getIndexType(), value);
  return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), value);
}

bool Reader::isInlined(Value tensor) {
  const Place *place = findPlace(tensor);
  return place && place->kind == Place::Inlined;
}

bool Reader::hasPacked(Value tensor) {
  const Place *place = findPlace(tensor);
  return place && place->kind == Place::Packed;
}

bool Reader::hasBuffer(Value tensor) {
  const Place *place = findPlace(tensor);
  return place && place->kind == Place::Buffer;
}

// ---- Memory ----

Value Reader::load(Value buffer, ValueRange indices, Type element) {
  return decode(b.create<memref::LoadOp>(buffer, indices), element);
}

Value Reader::loadPacked(Value bytes, ValueRange indices, Value tensor) {
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

void Reader::store(Value value, Type element, Value buffer,
                   ValueRange indices) {
  b.create<memref::StoreOp>(encode(value, element), buffer, indices);
}

Value Reader::createView(Value buffer, ValueRange sizes) {
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

// ---- Control flow ----

SmallVector<Value> Reader::choose(Value condition, TypeRange types,
                                  Branch ifTrue, Branch ifFalse) {
  if (auto constant = getConstantIntValue(condition))
    return *constant ? ifTrue() : ifFalse();
  auto branches = b.create<scf::IfOp>(types, condition, /*addThenBlock=*/true,
                                      /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto fillBranch = [&](Block *block, Branch branch) {
    b.setInsertionPointToEnd(block);
    Scope scope(*this);
    b.create<scf::YieldOp>(branch());
  };
  fillBranch(branches.thenBlock(), ifTrue);
  fillBranch(branches.elseBlock(), ifFalse);
  return llvm::to_vector(ValueRange(branches.getResults()));
}

SmallVector<Value> Reader::call(Block &body, ValueRange arguments) {
  Scope scope(*this);
  Location saved = b.getLoc();
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    setScalar(argument, value);
  lowerBlock(body);
  SmallVector<Value> results;
  for (Value result : body.getTerminator()->getOperands())
    results.push_back(hasFailed() ? zero(getValueType(getElementType(result)))
                                  : getScalar(result));
  b.setLoc(saved);
  return results;
}
