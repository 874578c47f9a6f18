// Turns host functions on tensors into commands on slots.
//   %1 = dispatch.launch @e::@k(%0) : (tensor<4xf32>) -> tensor<4xf32>
//   →  dispatch.run @e::@k(%slot0, %slot1)
// `storage_plan.h` says where values live. Sizes of dynamic dimensions are
// index values, carried by loops and branches like any other.

#include "compiler/schedule/passes.h"
#include "compiler/schedule/storage_plan.h"
#include "dialect/dispatch/element_type.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace alula::schedule {
#define GEN_PASS_DEF_CONVERTTENSORSTOCOMMANDS
#include "compiler/schedule/passes.h.inc"
} // namespace alula::schedule

using namespace mlir;
using namespace alula::dispatch;
using namespace alula::schedule;
using alula::dispatch::ReturnOp;
using alula::dispatch::ViewOp;

namespace {
LogicalResult checkOps(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError()
           << "'func.func': body must be one block: @" << function.getSymName();
  for (TypeRange types :
       {function.getArgumentTypes(), function.getResultTypes()})
    for (Type type : types)
      if (!isa<RankedTensorType, stablehlo::TokenType>(type))
        return function.emitError()
               << "'func.func': no native code: values of type " << type;
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    bool isKnown =
        isa<func::FuncOp, func::ReturnOp, func::CallOp, LaunchOp, ViewOp,
            stablehlo::ConstantOp, stablehlo::WhileOp, stablehlo::IfOp,
            stablehlo::CaseOp, stablehlo::ReturnOp, stablehlo::AfterAllOp,
            stablehlo::OptimizationBarrierOp, stablehlo::CreateTokenOp,
            stablehlo::CustomCallOp, tensor::DimOp, tensor::ExtractOp,
            AssertOp, cf::AssertOp, UnrealizedConversionCastOp>(op) ||
        isa<arith::ArithDialect>(op->getDialect());
    if (!isKnown) {
      op->emitError() << "'" << op->getName().getStringRef()
                      << "': no native code: on the host";
      return WalkResult::interrupt();
    }
    auto checkTypes = [&](TypeRange types) {
      for (Type type : types)
        if (auto tensor = dyn_cast<TensorType>(type))
          if (!isa<RankedTensorType>(tensor) ||
              !getDtype(tensor.getElementType())) {
            op->emitError() << "'" << op->getName().getStringRef()
                            << "': no native code: values of type " << type;
            return false;
          }
      return true;
    };
    bool isFine = checkTypes(op->getResultTypes());
    if (isa<arith::ArithDialect>(op->getDialect()) &&
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>)) {
      op->emitError() << "'" << op->getName().getStringRef()
                      << "': no native code: on tensors on the host";
      return WalkResult::interrupt();
    }
    for (Region &region : op->getRegions())
      isFine = isFine && checkTypes(region.front().getArgumentTypes());
    return isFine ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

class Converter {
public:
  explicit Converter(func::FuncOp function)
      : function(function), plan(function), builder(function),
        location(function.getLoc()) {}

  LogicalResult run() {
    old = &function.front();
    auto *body = new Block;
    for (BlockArgument argument : old->getArguments())
      body->addArgument(argument.getType(), argument.getLoc());
    function.getBody().push_back(body);
    // Slots and the arguments' sizes stand before everything else.
    builder.setInsertionPointToEnd(body);
    addArgumentDims();
    if (failed(convertBlock(*old)))
      return failure();
    builder.setInsertionPointToEnd(body);
    builder.create<ReturnOp>(location);
    old->dropAllReferences();
    while (!old->empty()) {
      old->back().dropAllUses();
      old->back().erase();
    }
    old->erase();
    function->setAttr("dispatch.arena_bytes",
                      builder.getI64IntegerAttr(plan.getArenaBytes()));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto argument = getAliasedArgument(function, i))
        function.setResultAttr(i, "dispatch.alias",
                               builder.getI64IntegerAttr(*argument));
    eraseUnused(*body);
    return success();
  }

private:
  // ---- Sizes ----

  Value makeIndex(int64_t value) {
    Value &known = constants[value];
    if (!known) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&function.getBody().back());
      known = builder.create<arith::ConstantIndexOp>(location, value);
    }
    return known;
  }

  void addArgumentDims() {
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

  /// The sizes of the dynamic dimensions of a value, in order.
  SmallVector<Value> getDims(Value value) { return dims.lookup(value); }

  Value getDim(Value value, int64_t dim) {
    auto type = cast<RankedTensorType>(value.getType());
    if (!type.isDynamicDim(static_cast<unsigned>(dim)))
      return makeIndex(type.getDimSize(static_cast<unsigned>(dim)));
    int64_t before =
        llvm::count_if(type.getShape().take_front(dim), ShapedType::isDynamic);
    return dims[value][before];
  }

  Value multiply(Value a, Value b) {
    if (matchPattern(a, m_One()))
      return b;
    if (matchPattern(b, m_One()))
      return a;
    return builder.create<arith::MulIOp>(location, a, b);
  }

  Value getBytes(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t fixed = alula_dtype_get_bytes(*getDtype(type.getElementType()));
    for (int64_t size : type.getShape())
      if (!ShapedType::isDynamic(size))
        fixed *= size;
    Value bytes = makeIndex(fixed);
    for (Value dim : getDims(value))
      bytes = multiply(bytes, dim);
    return bytes;
  }

  // ---- Slots ----

  Value getSlot(int number) {
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
    if (memory.kind == Memory::Kind::Constant) {
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
  Value getSlot(Value value) { return getSlot(plan.getMemoryNumber(value)); }

  /// A local slot gets memory for a value.
  void allocate(int number, Value value) {
    if (plan.getMemory(number).kind == Memory::Kind::Local)
      builder.create<AllocOp>(location, getSlot(number), getBytes(value));
  }

  void move(Operation *at) {
    for (const PlannedMove &move : plan.getMoves(at)) {
      Value target = getSlot(move.target);
      if (move.kind != Move::Kind::Copy) {
        builder.create<SwapOp>(location, getSlot(move.source), target);
        continue;
      }
      bindResult(move.target, move.value);
      allocate(move.target, move.value);
      builder.create<CopyOp>(location, getSlot(move.source), target,
                             getBytes(move.value));
    }
  }

  /// A dynamic result gets storage for a value.
  void bindResult(int number, Value value) {
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
      builder.create<BindResultOp>(location,
                                   static_cast<uint64_t>(memory.number), sizes);
  }

  void free(Operation *op) {
    for (int number : plan.getFrees(op))
      builder.create<FreeOp>(location, getSlot(number));
  }

  // ---- Ops ----

  LogicalResult convertBlock(Block &block) {
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

  LogicalResult convert(Operation &op) {
    if (auto launch = dyn_cast<LaunchOp>(op))
      return convertLaunch(launch);
    if (auto call = dyn_cast<func::CallOp>(op))
      return convertCall(call);
    if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
      return convertCustomCall(call);
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

  SmallVector<Value> mapAll(ValueRange values) {
    SmallVector<Value> mapped;
    for (Value value : values)
      mapped.push_back(scalars.lookup(value));
    return mapped;
  }

  LogicalResult convertLaunch(LaunchOp launch) {
    // Every result takes its share of the sizes.
    SmallVector<Value> sizes = mapAll(launch.getResultDims());
    ArrayRef<Value> rest = sizes;
    for (OpResult result : launch.getResults()) {
      auto count = static_cast<size_t>(
          cast<RankedTensorType>(result.getType()).getNumDynamicDims());
      dims[result] = SmallVector<Value>(rest.take_front(count));
      rest = rest.drop_front(count);
    }
    move(launch);
    SmallVector<Value> bindings;
    for (auto [number, input] : llvm::enumerate(launch.getInputs())) {
      Value written = input;
      for (OpResult result : launch.getResults())
        if (getInPlaceOperand(result) == number)
          written = result;
      bindings.push_back(getSlot(written));
    }
    for (OpResult result : launch.getResults()) {
      if (getInPlaceOperand(result))
        continue;
      int memory = plan.getMemoryNumber(result);
      bindResult(memory, result);
      allocate(memory, result);
      bindings.push_back(getSlot(memory));
    }
    builder.create<RunOp>(location, launch.getEntryAttr(), bindings,
                          mapAll(launch.getConstants()),
                          mapAll(launch.getWorkgroups()));
    return success();
  }

  LogicalResult convertCall(func::CallOp call) {
    move(call);
    SmallVector<Value> inputs, outputs, inputDims;
    for (auto [number, input] : llvm::enumerate(call.getOperands())) {
      Value shown = input;
      for (OpResult result : call.getResults())
        if (getInPlaceOperand(result) == number)
          shown = result;
      if (!isa<RankedTensorType>(shown.getType()))
        return call.emitError()
               << "'func.call': no native code: values of type "
               << shown.getType();
      inputs.push_back(getSlot(shown));
      llvm::append_range(inputDims, getDims(input));
    }
    int64_t count = 0;
    for (OpResult result : call.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type)
        return call.emitError()
               << "'func.call': no native code: values of type "
               << result.getType();
      // A dynamic one comes with its memory.
      if (type.hasStaticShape() && !getInPlaceOperand(result))
        allocate(plan.getMemoryNumber(result), result);
      outputs.push_back(getSlot(result));
      count += type.getNumDynamicDims();
    }
    auto made = builder.create<alula::dispatch::CallOp>(
        location,
        SmallVector<Type>(static_cast<size_t>(count), builder.getIndexType()),
        call.getCalleeAttr(), inputs, outputs, inputDims);
    takeDims(call.getResults(), made.getResults());
    return success();
  }

  /// The sizes of a custom call's dynamic results stand in operands.
  LogicalResult loadResultDims(stablehlo::CustomCallOp call) {
    auto shapes =
        call->getAttrOfType<DenseIntElementsAttr>("indices_of_shape_operands");
    for (OpResult result : call.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || type.hasStaticShape())
        continue;
      unsigned number = result.getResultNumber();
      if (auto operand = getInPlaceOperand(result)) {
        dims[result] = getDims(call.getOperand(*operand));
        continue;
      }
      int64_t index = -1;
      if (shapes && number < shapes.size())
        index = shapes.getValues<APInt>()[number].getSExtValue();
      auto shape =
          index >= 0 && index < call->getNumOperands()
              ? dyn_cast<RankedTensorType>(
                    call.getOperand(static_cast<unsigned>(index)).getType())
              : RankedTensorType();
      if (!shape || shape.getRank() != 1 ||
          shape.getDimSize(0) != type.getRank() ||
          !shape.getElementType().isSignlessInteger())
        return call.emitError()
               << "'stablehlo.custom_call': sizes of a dynamic result must "
                  "stand in an operand: result "
               << number << " is " << type;
      Value source = call.getOperand(static_cast<unsigned>(index));
      SmallVector<Value> sizes;
      for (int64_t i = 0; i < type.getRank(); ++i) {
        if (!type.isDynamicDim(static_cast<unsigned>(i)))
          continue;
        Type element = shape.getElementType();
        int64_t bytes = alula_dtype_get_bytes(*getDtype(element));
        Value loaded = builder.create<LoadOp>(
            location, element, getSlot(source), makeIndex(i * bytes), element);
        sizes.push_back(builder.create<arith::IndexCastOp>(
            location, builder.getIndexType(), loaded));
      }
      dims[result] = sizes;
    }
    return success();
  }

  LogicalResult convertCustomCall(stablehlo::CustomCallOp call) {
    // Sizes are read before an operand may be overwritten.
    if (failed(loadResultDims(call)))
      return failure();
    move(call);
    SmallVector<Value> inputs, outputs, sizes;
    SmallVector<Attribute> types;
    auto add = [&](Value value, Value shown, SmallVector<Value> &slots) {
      // Tokens only say what comes first.
      if (!isa<RankedTensorType>(value.getType()))
        return isa<stablehlo::TokenType>(value.getType());
      slots.push_back(getSlot(shown));
      types.push_back(TypeAttr::get(value.getType()));
      llvm::append_range(sizes, getDims(value));
      return true;
    };
    bool good = true;
    for (OpOperand &operand : call->getOpOperands()) {
      Value shown = operand.get();
      for (OpResult result : call.getResults())
        if (getInPlaceOperand(result) == operand.getOperandNumber())
          shown = result;
      good = good && add(operand.get(), shown, inputs);
    }
    for (OpResult result : call.getResults()) {
      if (isa<RankedTensorType>(result.getType()) &&
          !getInPlaceOperand(result)) {
        bindResult(plan.getMemoryNumber(result), result);
        allocate(plan.getMemoryNumber(result), result);
      }
      good = good && add(result, result, outputs);
    }
    if (!good)
      return call.emitError()
             << "'stablehlo.custom_call': no native code: of such types: '"
             << call.getCallTargetName() << "'";
    builder.create<alula::dispatch::CustomCallOp>(
        location, call.getCallTargetName(), inputs, outputs, sizes,
        builder.getArrayAttr(types),
        static_cast<uint64_t>(call.getApiVersion()),
        call.getBackendConfigAttr(), call.getHasSideEffect());
    return success();
  }

  // ---- Control flow: what it carries are sizes ----

  SmallVector<Value> getAllDims(ValueRange values) {
    SmallVector<Value> all;
    for (Value value : values)
      llvm::append_range(all, getDims(value));
    return all;
  }

  /// The other way round: each value gets as many sizes as it needs.
  void takeDims(ValueRange values, ValueRange sizes) {
    for (Value value : values) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type)
        continue;
      auto count = static_cast<size_t>(type.getNumDynamicDims());
      dims[value] = SmallVector<Value>(sizes.take_front(count));
      sizes = sizes.drop_front(count);
    }
  }

  /// A one-element tensor of integers as a value of the same type.
  Value load(Value tensor) {
    Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
    return builder.create<LoadOp>(location, type, getSlot(tensor), makeIndex(0),
                                  type);
  }

  LogicalResult convertLoop(stablehlo::WhileOp loop) {
    move(loop);
    SmallVector<Value> start = getAllDims(loop.getOperand());
    SmallVector<Type> types(start.size(), builder.getIndexType());
    SmallVector<Location> locations(start.size(), location);
    auto made = builder.create<scf::WhileOp>(location, types, start);
    OpBuilder::InsertionGuard guard(builder);

    Block *before =
        builder.createBlock(&made.getBefore(), {}, types, locations);
    Block &condition = loop.getCond().front();
    takeDims(condition.getArguments(), before->getArguments());
    if (failed(convertBlock(condition)))
      return failure();
    Value flag = load(condition.getTerminator()->getOperand(0));
    builder.create<scf::ConditionOp>(location, flag, before->getArguments());

    Block *after = builder.createBlock(&made.getAfter(), {}, types, locations);
    Block &body = loop.getBody().front();
    takeDims(body.getArguments(), after->getArguments());
    if (failed(convertBlock(body)))
      return failure();
    builder.create<scf::YieldOp>(
        location, getAllDims(body.getTerminator()->getOperands()));
    takeDims(loop.getResults(), made.getResults());
    return success();
  }

  LogicalResult convertBranch(Region &from, Region &to) {
    OpBuilder::InsertionGuard guard(builder);
    if (to.empty())
      builder.createBlock(&to);
    else
      builder.setInsertionPointToEnd(&to.front());
    if (failed(convertBlock(from.front())))
      return failure();
    builder.create<scf::YieldOp>(
        location, getAllDims(from.front().getTerminator()->getOperands()));
    return success();
  }

  SmallVector<Type> getDimTypes(ValueRange values) {
    int64_t count = 0;
    for (Value value : values)
      if (auto type = dyn_cast<RankedTensorType>(value.getType()))
        count += type.getNumDynamicDims();
    return SmallVector<Type>(static_cast<size_t>(count),
                             builder.getIndexType());
  }

  LogicalResult convertIf(stablehlo::IfOp branches) {
    Value flag = load(branches.getPred());
    OperationState state(location, scf::IfOp::getOperationName());
    state.addOperands(flag);
    state.addTypes(getDimTypes(branches.getResults()));
    state.addRegion();
    state.addRegion();
    auto made = cast<scf::IfOp>(builder.create(state));
    if (failed(convertBranch(branches.getTrueBranch(), made.getThenRegion())) ||
        failed(convertBranch(branches.getFalseBranch(), made.getElseRegion())))
      return failure();
    takeDims(branches.getResults(), made.getResults());
    return success();
  }

  LogicalResult convertCase(stablehlo::CaseOp branches) {
    Value index = builder.create<arith::IndexCastOp>(
        location, builder.getIndexType(), load(branches.getIndex()));
    // The last branch is that of every other index.
    auto regions = branches.getBranches();
    SmallVector<int64_t> cases;
    for (size_t i = 0; i + 1 < regions.size(); ++i)
      cases.push_back(static_cast<int64_t>(i));
    auto made = builder.create<scf::IndexSwitchOp>(
        location, getDimTypes(branches.getResults()), index, cases,
        static_cast<unsigned>(cases.size()));
    for (auto [from, to] :
         llvm::zip(regions.drop_back(), made.getCaseRegions()))
      if (failed(convertBranch(from, to)))
        return failure();
    if (failed(convertBranch(regions.back(), made.getDefaultRegion())))
      return failure();
    takeDims(branches.getResults(), made.getResults());
    return success();
  }

  // ---- Integers ----

  LogicalResult convertDim(tensor::DimOp dim) {
    std::optional<int64_t> number = dim.getConstantIndex();
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    if (!number || !type || *number < 0 || *number >= type.getRank())
      return dim.emitError() << "'tensor.dim': number of the dimension must be "
                                "a constant in range";
    scalars.map(dim.getResult(), getDim(dim.getSource(), *number));
    return success();
  }

  LogicalResult convertExtract(tensor::ExtractOp extract) {
    Value source = extract.getTensor();
    auto type = cast<RankedTensorType>(source.getType());
    Type element = type.getElementType();
    if (!element.isInteger())
      return extract.emitError() << "'tensor.extract': no native code: of "
                                 << type << " on the host";
    Value offset = makeIndex(0);
    for (auto [i, index] : llvm::enumerate(extract.getIndices())) {
      Value stride = getDim(source, static_cast<int64_t>(i));
      Value mapped = scalars.lookup(index);
      if (i > 0)
        mapped = builder.create<arith::AddIOp>(
            location, multiply(offset, stride), mapped);
      offset = mapped;
    }
    offset =
        multiply(offset, makeIndex(alula_dtype_get_bytes(*getDtype(element))));
    scalars.map(extract.getResult(),
                Value(builder.create<LoadOp>(location, element, getSlot(source),
                                             offset, element)));
    return success();
  }

  /// Sizes that nobody asked for.
  static void eraseUnused(Block &body) {
    SmallVector<Operation *> order;
    body.walk([&](Operation *op) { order.push_back(op); });
    for (Operation *op : llvm::reverse(order))
      if (isOpTriviallyDead(op))
        op->erase();
  }

  func::FuncOp function;
  StoragePlan plan;
  OpBuilder builder;
  Location location;
  Block *old = nullptr;
  Operation *lastSlot = nullptr;
  DenseMap<Value, SmallVector<Value>> dims;
  DenseMap<int64_t, Value> constants;
  DenseMap<int, Value> slots;
  IRMapping scalars;
};

struct ConvertTensorsToCommands
    : public alula::schedule::impl::ConvertTensorsToCommandsBase<
          ConvertTensorsToCommands> {
  void runOnOperation() override {
    // Whether a call gives memory away is read from its callee.
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() &&
          (failed(checkOps(function)) || failed(Converter(function).run())))
        return signalPassFailure();
  }
};
} // namespace
