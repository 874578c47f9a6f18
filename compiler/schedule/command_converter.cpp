// Sizes, slots and the walk over the ops of a host function.

#include "compiler/schedule/command_converter.h"

#include "compiler/schedule/given_memory.h"
#include "dialect/dispatch/byte_size.h"
#include "dialect/dispatch/element_type.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace alula::dispatch;
using namespace alula::schedule;
using alula::dispatch::ReturnOp;
using alula::dispatch::ViewOp;

LogicalResult CommandConverter::run() {
  old = &function.front();
  auto *body = new Block;
  for (BlockArgument argument : old->getArguments())
    body->addArgument(argument.getType(), argument.getLoc());
  function.getBody().push_back(body);
  // Slots and the arguments' sizes stand before everything else.
  builder.setInsertionPointToEnd(body);
  addArgumentDims();
  checkGlobals();
  if (failed(convertBlock(*old)))
    return failure();
  builder.setInsertionPointToEnd(body);
  defineGlobals();
  builder.create<ReturnOp>(location);
  old->dropAllReferences();
  while (!old->empty()) {
    old->back().dropAllUses();
    old->back().erase();
  }
  old->erase();
  function->setAttr("dispatch.arena_bytes",
                    builder.getI64IntegerAttr(plan.getArenaBytes()));
  addAliases();
  eraseUnused(*body);
  dropGlobals();
  return success();
}

void CommandConverter::addAliases() {
  SmallVector<DictionaryAttr> attributes;
  function.getAllResultAttrs(attributes);
  bool hasAny = false;
  for (auto [i, argument] : llvm::enumerate(getAliasedArguments(function))) {
    if (!argument || getGlobalOfResult(function, static_cast<unsigned>(i)))
      continue;
    NamedAttrList list(attributes[i]);
    list.set("dispatch.alias", builder.getI64IntegerAttr(*argument));
    attributes[i] = list.getDictionary(builder.getContext());
    hasAny = true;
  }
  if (hasAny)
    function.setAllResultAttrs(attributes);
}

// ---- Sizes ----

Value CommandConverter::makeIndex(int64_t value) {
  using Info = DenseMapInfo<int64_t>;
  // Two numbers are no keys of the map.
  bool isKey = value != Info::getEmptyKey() && value != Info::getTombstoneKey();
  Value known = isKey ? constants.lookup(value) : Value();
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().back());
  known = builder.create<arith::ConstantIndexOp>(location, value);
  if (isKey)
    constants[value] = known;
  return known;
}

void CommandConverter::addArgumentDims() {
  for (BlockArgument argument : old->getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    SmallVector<Value> dynamic;
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (type.isDynamicDim(static_cast<unsigned>(i)))
        dynamic.push_back(builder.create<ArgumentDimOp>(
            location, builder.getIndexType(),
            builder.getI64IntegerAttr(argument.getArgNumber()),
            builder.getI64IntegerAttr(i)));
    dims[argument] = dynamic;
  }
}

Value CommandConverter::getDim(Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.isDynamicDim(static_cast<unsigned>(dim)))
    return makeIndex(type.getDimSize(static_cast<unsigned>(dim)));
  int64_t before =
      llvm::count_if(type.getShape().take_front(dim), ShapedType::isDynamic);
  return dims[value][before];
}

Value CommandConverter::multiply(Value a, Value b) {
  if (matchPattern(a, m_One()))
    return b;
  if (matchPattern(b, m_One()))
    return a;
  return builder.create<arith::MulIOp>(location, a, b);
}

Value CommandConverter::getBytes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (auto bytes = getByteSize(type))
    return makeIndex(*bytes);
  alula_dtype dtype = *getDtype(type.getElementType());
  int64_t fixed = alula_dtype_get_bytes(dtype);
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size))
      fixed *= size;
  Value bytes = makeIndex(fixed);
  for (Value dim : getDims(value))
    bytes = multiply(bytes, dim);
  if (int64_t packing = alula_dtype_get_packing(dtype); packing > 1)
    bytes =
        builder.create<arith::CeilDivSIOp>(location, bytes, makeIndex(packing));
  return bytes;
}

Value CommandConverter::loadInteger(Value slot, Type element, Value number) {
  alula_dtype dtype = *getDtype(element);
  int64_t packing = alula_dtype_get_packing(dtype);
  if (packing == 1) {
    int64_t bytes = alula_dtype_get_bytes(dtype);
    APInt known;
    Value offset = matchPattern(number, m_ConstantInt(&known))
                       ? makeIndex(known.getSExtValue() * bytes)
                       : multiply(number, makeIndex(bytes));
    return builder.create<LoadOp>(location, element, slot, offset, element);
  }
  Type byte = builder.getI8Type();
  Value each = makeIndex(packing);
  Value loaded = builder.create<LoadOp>(
      location, byte, slot,
      builder.create<arith::DivUIOp>(location, number, each), byte);
  // The element comes to the lowest bits, which are then its own.
  Value place = builder.create<arith::RemUIOp>(location, number, each);
  Value shift = builder.create<arith::IndexCastOp>(
      location, byte, multiply(place, makeIndex(8 / packing)));
  loaded = builder.create<arith::ShRUIOp>(location, loaded, shift);
  return builder.create<arith::TruncIOp>(location, element, loaded);
}

// ---- Slots ----

Value CommandConverter::getSlot(int number) {
  Value &slot = slots[number];
  if (slot)
    return slot;
  OpBuilder::InsertionGuard guard(builder);
  Block *body = &function.getBody().back();
  if (lastSlot)
    builder.setInsertionPointAfter(lastSlot);
  else
    builder.setInsertionPointToStart(body);
  const Memory &memory = plan.getMemory(number);
  if (memory.kind == Memory::Kind::Global) {
    slot = builder.create<alula::dispatch::GlobalOp>(
        location, builder.getType<SlotType>(),
        cast<FlatSymbolRefAttr>(memory.constant));
  } else if (memory.kind == Memory::Kind::Constant) {
    slot = builder.create<alula::dispatch::ConstantOp>(
        location, builder.getType<SlotType>(),
        cast<ElementsAttr>(memory.constant));
  } else {
    SlotKind kind = SlotKind::Arena;
    if (memory.kind == Memory::Kind::Argument)
      kind = SlotKind::Argument;
    else if (memory.kind == Memory::Kind::Result)
      kind = SlotKind::Result;
    else if (memory.kind == Memory::Kind::Local)
      kind = SlotKind::Local;
    int64_t bytes = kind == SlotKind::Arena ? memory.bytes : 0;
    slot = builder.create<SlotOp>(location, builder.getType<SlotType>(), kind,
                                  static_cast<uint64_t>(memory.number),
                                  static_cast<uint64_t>(bytes));
  }
  lastSlot = slot.getDefiningOp();
  return slot;
}

void CommandConverter::allocate(int number, Value value) {
  if (plan.getMemory(number).kind == Memory::Kind::Local)
    builder.create<AllocOp>(location, getSlot(number), getBytes(value));
}

void CommandConverter::move(Operation *at) {
  // Memory first: without it nothing is to be moved, least of all to a global.
  for (const PlannedMove &move : plan.getMoves(at))
    if (move.kind == Move::Kind::Copy)
      bindResult(move.target, move.value);
  for (const PlannedMove &move : plan.getMoves(at)) {
    Value target = getSlot(move.target);
    if (move.kind != Move::Kind::Copy) {
      builder.create<SwapOp>(location, getSlot(move.source), target);
      continue;
    }
    allocate(move.target, move.value);
    builder.create<CopyOp>(location, getSlot(move.source), target,
                           getBytes(move.value));
  }
}

void CommandConverter::bindResult(int number, Value value) {
  const Memory &memory = plan.getMemory(number);
  if (memory.kind != Memory::Kind::Result)
    return;
  auto resultNumber = static_cast<unsigned>(memory.number);
  auto type = cast<RankedTensorType>(
      function.getFunctionType().getResult(resultNumber));
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(static_cast<unsigned>(i)))
      sizes.push_back(getDim(value, i));
  if (!sizes.empty())
    builder.create<BindResultOp>(location, static_cast<uint64_t>(memory.number),
                                 sizes);
}

void CommandConverter::free(Operation *op) {
  for (int number : plan.getFrees(op))
    builder.create<FreeOp>(location, getSlot(number));
}

// ---- Ops ----

LogicalResult CommandConverter::convertBlock(Block &block) {
  for (Operation &op : block) {
    location = op.getLoc();
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      move(&op);
      free(&op);
      return success();
    }
    if (failed(convert(op)))
      return failure();
    location = op.getLoc();
    free(&op);
  }
  return success();
}

LogicalResult CommandConverter::convert(Operation &op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return convertLaunch(launch);
  if (auto call = dyn_cast<func::CallOp>(op))
    return convertCall(call);
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    return convertCustomCall(call);
  if (auto start = dyn_cast<CollectiveStartOp>(op)) {
    startCollective(start);
    return success();
  }
  if (auto done = dyn_cast<CollectiveDoneOp>(op)) {
    awaitCollective(done);
    return success();
  }
  if (auto view = dyn_cast<ViewOp>(op)) {
    dims[view.getResult()] = mapAll(view.getResultDims());
    return success();
  }
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
    return convertLoop(loop);
  if (auto branches = dyn_cast<stablehlo::IfOp>(op))
    return convertIf(branches);
  if (auto branches = dyn_cast<stablehlo::CaseOp>(op))
    return convertCase(branches);
  if (isa<stablehlo::OptimizationBarrierOp>(op)) {
    for (auto [from, to] : llvm::zip_equal(op.getOperands(), op.getResults()))
      dims[to] = getDims(from);
    return success();
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return convertDim(dim);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return convertExtract(extract);
  if (isa<stablehlo::ConstantOp, stablehlo::AfterAllOp,
          stablehlo::CreateTokenOp>(op))
    return success();
  builder.clone(op, scalars);
  return success();
}

SmallVector<Value> CommandConverter::mapAll(ValueRange values) {
  SmallVector<Value> mapped;
  for (Value value : values)
    mapped.push_back(scalars.lookup(value));
  return mapped;
}

// ---- Integers ----

LogicalResult CommandConverter::convertDim(tensor::DimOp dim) {
  std::optional<int64_t> number = dim.getConstantIndex();
  auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
  if (!number || !type || *number < 0 || *number >= type.getRank())
    return dim.emitError() << "'tensor.dim': number of the dimension must be "
                              "a constant in range";
  scalars.map(dim.getResult(), getDim(dim.getSource(), *number));
  return success();
}

LogicalResult CommandConverter::convertExtract(tensor::ExtractOp extract) {
  Value source = extract.getTensor();
  auto type = cast<RankedTensorType>(source.getType());
  Type element = type.getElementType();
  bool isPacked =
      element.isInteger() && alula_dtype_get_packing(*getDtype(element)) > 1;
  if (!element.isInteger() || (isPacked && element.isUnsignedInteger()))
    return extract.emitError()
           << "'tensor.extract': no native code: of " << type << " on the host";
  Value offset = makeIndex(0);
  for (auto [i, index] : llvm::enumerate(extract.getIndices())) {
    Value stride = getDim(source, static_cast<int64_t>(i));
    Value mapped = scalars.lookup(index);
    if (i > 0)
      mapped = builder.create<arith::AddIOp>(location, multiply(offset, stride),
                                             mapped);
    offset = mapped;
  }
  scalars.map(extract.getResult(),
              loadInteger(getSlot(source), element, offset));
  return success();
}

void CommandConverter::eraseUnused(Block &body) {
  SmallVector<Operation *> order;
  body.walk([&](Operation *op) { order.push_back(op); });
  for (Operation *op : llvm::reverse(order))
    if (isOpTriviallyDead(op))
      op->erase();
}
