// Verifiers of the commands that name other symbols.

#include "dialect/dispatch/ops.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace alula::dispatch;

LogicalResult RunOp::verify() {
  if (!getWorkgroups().empty() && getWorkgroups().size() != 3)
    return emitError() << "'dispatch.run': grid must have three sizes: has "
                       << getWorkgroups().size();
  return success();
}

LogicalResult RunOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto entry = symbolTable.lookupNearestSymbolFrom<EntryOp>(getOperation(),
                                                            getEntryAttr());
  if (!entry)
    return emitError() << "'dispatch.run': no such entry: " << getEntry();
  if (entry.getBindings().size() != getBindings().size() ||
      entry.getConstantCount() != getConstants().size())
    return emitError() << "'dispatch.run': bindings and constants must be the "
                          "entry's: "
                       << getBindings().size() << " and "
                       << getConstants().size() << ", " << getEntry() << " has "
                       << entry.getBindings().size() << " and "
                       << entry.getConstantCount();
  return success();
}

LogicalResult GlobalOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (!symbolTable.lookupNearestSymbolFrom(getOperation(), getGlobalAttr()))
    return emitError() << "'dispatch.global': no such global: " << getGlobal();
  return success();
}

/// A list of the operands and one of the results.
static bool areCallValues(ArrayAttr values) {
  auto isValue = [](Attribute value) {
    return isa<UnitAttr, StringAttr, DenseI64ArrayAttr>(value);
  };
  return values.size() == 2 && llvm::all_of(values, [&](Attribute list) {
           auto array = dyn_cast<ArrayAttr>(list);
           return array && llvm::all_of(array, isValue);
         });
}

LogicalResult CustomCallOp::verify() {
  if (getValues() && !areCallValues(*getValues()))
    return emitError() << "'dispatch.custom_call': values must be two lists of "
                          "orders, units and texts: "
                       << *getValues();
  if (getValues() && getConfig() &&
      !isa<DictionaryAttr, StringAttr>(*getConfig()))
    return emitError() << "'dispatch.custom_call': the configuration of a call "
                          "with values must be a dictionary: "
                       << *getConfig();
  int64_t needed = 0;
  for (auto type : getTypes().getAsRange<TypeAttr>()) {
    auto tensor = dyn_cast<RankedTensorType>(type.getValue());
    if (!tensor)
      return emitError()
             << "'dispatch.custom_call': types must be tensors: has " << type;
    needed += tensor.getNumDynamicDims();
  }
  size_t slots = getInputs().size() + getOutputs().size();
  if (getTypes().size() != slots)
    return emitError() << "'dispatch.custom_call': each slot needs a type: "
                       << slots << " slots, " << getTypes().size() << " types";
  if (static_cast<size_t>(needed) != getDims().size())
    return emitError()
           << "'dispatch.custom_call': each dynamic dimension needs "
              "a size: there are "
           << needed << ", " << getDims().size() << " are given";
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto callee = symbolTable.lookupNearestSymbolFrom<FunctionOpInterface>(
      getOperation(), getCalleeAttr());
  if (!callee)
    return emitError() << "'dispatch.call': no such function: " << getCallee();
  if (callee.getNumArguments() != getInputs().size() ||
      callee.getNumResults() != getOutputs().size())
    return emitError() << "'dispatch.call': inputs and outputs must be the "
                          "function's: "
                       << getInputs().size() << " and " << getOutputs().size()
                       << ", @" << getCallee() << " has "
                       << callee.getNumArguments() << " and "
                       << callee.getNumResults();
  return success();
}
