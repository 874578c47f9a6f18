// The dispatch dialect: registration and verifiers.

#include "dialect/dispatch/ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::dispatch;

#include "dialect/dispatch/dialect.cpp.inc"
#include "dialect/dispatch/enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/dispatch/attributes.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/dispatch/ops.cpp.inc"

void DispatchDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialect/dispatch/ops.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/dispatch/attributes.cpp.inc"
      >();
}

ModuleOp ExecutableOp::getInnerModule() {
  auto modules = getBody().getOps<ModuleOp>();
  return modules.empty() ? ModuleOp() : *modules.begin();
}

LogicalResult ExecutableOp::verify() {
  auto modules = getBody().getOps<ModuleOp>();
  auto count = std::distance(modules.begin(), modules.end());
  if (count != 1)
    return emitError() << "'dispatch.executable': must hold one module: @"
                       << getSymName() << " holds " << count;
  return success();
}

LogicalResult EntryOp::verify() {
  if (getWorkgroups().size() != 3)
    return emitError() << "'dispatch.entry': grid must have three sizes: has "
                       << getWorkgroups().size();
  for (int64_t size : getWorkgroups())
    if (size < 1 || size > UINT32_MAX)
      return emitError() << "'dispatch.entry': grid size must be from 1 to "
                         << UINT32_MAX << ": is " << size;
  if (getScratchBytes() > INT64_MAX)
    return emitError() << "'dispatch.entry': scratch size must not be negative";
  return success();
}

LogicalResult
LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto entry = symbolTable.lookupNearestSymbolFrom<EntryOp>(getOperation(),
                                                            getEntryAttr());
  if (!entry)
    return emitError() << "'dispatch.launch': no such entry: " << getEntry();
  size_t bindings = entry.getBindings().size();
  if (bindings != getInputs().size() + getResults().size())
    return emitError() << "'dispatch.launch': inputs and results must be the "
                          "entry's bindings: "
                       << getInputs().size() << " and " << getResults().size()
                       << ", " << getEntry() << " has " << bindings;
  return success();
}
