// Launches, calls and custom calls as commands.

#include "compiler/schedule/command_converter.h"
#include "compiler/schedule/given_memory.h"
#include "dialect/dispatch/element_type.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace alula::dispatch;
using namespace alula::schedule;

LogicalResult CommandConverter::convertLaunch(LaunchOp launch) {
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
                        mapAll(launch.getWorkgroups()),
                        launch->hasAttr(besideName));
  return success();
}

LogicalResult CommandConverter::convertCall(func::CallOp call) {
  if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr()))
    for (unsigned i = 0; i < callee.getNumArguments(); ++i)
      if (getGlobalOfArgument(callee, i))
        return call.emitError()
               << "'func.call': no native code: of an entry with globals: @"
               << call.getCallee();
  move(call);
  SmallVector<Value> inputs, outputs, inputDims;
  for (auto [number, input] : llvm::enumerate(call.getOperands())) {
    Value shown = input;
    for (OpResult result : call.getResults())
      if (getInPlaceOperand(result) == number)
        shown = result;
    if (!isa<RankedTensorType>(shown.getType()))
      return call.emitError() << "'func.call': no native code: values of type "
                              << shown.getType();
    inputs.push_back(getSlot(shown));
    llvm::append_range(inputDims, getDims(input));
  }
  int64_t count = 0;
  for (OpResult result : call.getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      return call.emitError() << "'func.call': no native code: values of type "
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

LogicalResult CommandConverter::loadResultDims(stablehlo::CustomCallOp call) {
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
      Value loaded = loadInteger(getSlot(source), element, makeIndex(i));
      sizes.push_back(builder.create<arith::IndexCastOp>(
          location, builder.getIndexType(), loaded));
    }
    dims[result] = sizes;
  }
  return success();
}

namespace {
/// What `values` of dispatch.custom_call says of operands or of results.
ArrayAttr describeValues(ValueRange values, ArrayRef<Attribute> orders,
                         DenseIntElementsAttr sizes, Builder builder) {
  SmallVector<Attribute> all;
  for (auto [number, value] : llvm::enumerate(values)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    auto isThis = [number = number](const APInt &index) {
      return index == number;
    };
    if (!type)
      all.push_back(builder.getUnitAttr());
    else if (sizes && llvm::any_of(sizes.getValues<APInt>(), isThis))
      all.push_back(builder.getStringAttr("sizes"));
    else if (!orders.empty())
      all.push_back(orders[number]);
    else
      all.push_back(builder.getDenseI64ArrayAttr(
          llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))));
  }
  return builder.getArrayAttr(all);
}

/// Where JAX has the dictionary of a call of the typed API, which it says is of
/// the first: it must pass an older verifier.
DictionaryAttr getJaxConfig(stablehlo::CustomCallOp call) {
  return call->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
}

stablehlo::CustomCallApiVersion getVersion(stablehlo::CustomCallOp call) {
  return getJaxConfig(call)
             ? stablehlo::CustomCallApiVersion::API_VERSION_TYPED_FFI
             : call.getApiVersion();
}

/// For a call of the typed API, else null.
ArrayAttr describeValues(stablehlo::CustomCallOp call, Builder builder) {
  if (getVersion(call) !=
      stablehlo::CustomCallApiVersion::API_VERSION_TYPED_FFI)
    return {};
  ArrayRef<Attribute> operands, results;
  if (auto orders = call->getAttrOfType<ArrayAttr>("alula.orders")) {
    operands = orders.getValue().take_front(call->getNumOperands());
    results = orders.getValue().drop_front(operands.size());
  }
  return builder.getArrayAttr(
      {describeValues(call.getOperands(), operands,
                      call->getAttrOfType<DenseIntElementsAttr>(
                          "indices_of_shape_operands"),
                      builder),
       describeValues(call.getResults(), results, {}, builder)});
}

Attribute getConfig(stablehlo::CustomCallOp call) {
  if (DictionaryAttr config = getJaxConfig(call))
    return config;
  return call.getBackendConfigAttr();
}
} // namespace

LogicalResult
CommandConverter::convertCustomCall(stablehlo::CustomCallOp call) {
  // JAX's `dce_sink` has done its work, which is to keep its operand computed.
  if (call.getCallTargetName() == "dce_sink" && call.use_empty())
    return success();
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
    if (isa<RankedTensorType>(result.getType()) && !getInPlaceOperand(result)) {
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
      builder.getArrayAttr(types), static_cast<uint64_t>(getVersion(call)),
      getConfig(call), describeValues(call, builder), call.getHasSideEffect());
  return success();
}
