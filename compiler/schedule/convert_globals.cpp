// Globals of an entry: checked at its begin, defined at its end.

#include "compiler/schedule/command_converter.h"
#include "compiler/schedule/given_memory.h"

#include "mlir/Dialect/MLProgram/IR/MLProgram.h"

using namespace mlir;
using namespace alula::dispatch;
using namespace alula::schedule;

bool CommandConverter::isInitialised(FlatSymbolRefAttr name) {
  auto global =
      symbols.lookupNearestSymbolFrom<ml_program::GlobalOp>(function, name);
  return global &&
         isa_and_nonnull<ElementsAttr>(global.getValue().value_or(nullptr));
}

void CommandConverter::checkGlobals() {
  for (BlockArgument argument : old->getArguments()) {
    auto global = getGlobalOfArgument(function, argument.getArgNumber());
    if (global && !argument.use_empty() && !isInitialised(global))
      builder.create<CheckGlobalOp>(location, global);
  }
}

void CommandConverter::defineGlobals() {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto global = getGlobalOfResult(function, i);
        global && !isInitialised(global))
      builder.create<DefineGlobalOp>(location, global);
}

void CommandConverter::dropGlobals() {
  llvm::BitVector arguments(function.getNumArguments()),
      results(function.getNumResults());
  for (unsigned i = 0; i < arguments.size(); ++i)
    arguments[i] = static_cast<bool>(getGlobalOfArgument(function, i));
  for (unsigned i = 0; i < results.size(); ++i)
    results[i] = static_cast<bool>(getGlobalOfResult(function, i));
  function.eraseArguments(arguments);
  function.eraseResults(results);
}
