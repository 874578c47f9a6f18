// Values of globals come beside the program: gigabytes need not be text.

#include "compiler/driver/initial_values.h"

#include "dialect/dispatch/byte_size.h"
#include "dialect/dispatch/element_type.h"

#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using ml_program::GlobalOp;

static LogicalResult setInitialValue(GlobalOp global,
                                     const alula::driver::InitialValue &value) {
  auto fail = [&]() { return global.emitError() << "'ml_program.global': "; };
  Attribute known = global.getValue().value_or(nullptr);
  if (known && !isa<ml_program::ExternAttr>(known))
    return fail() << "has a value in the program: @" << global.getSymName();
  auto type = dyn_cast<RankedTensorType>(global.getType());
  // As the host has them, one element of 2 or 4 bits to a byte.
  std::optional<alula_dtype> dtype;
  if (type && type.hasStaticShape() && alula::dispatch::getByteSize(type))
    dtype = alula::dispatch::getDtype(type.getElementType());
  if (!dtype || static_cast<uint64_t>(type.getNumElements()) *
                        alula_dtype_get_bytes(*dtype) !=
                    value.bytes.size())
    return fail() << "the value's size must be the type's: @"
                  << global.getSymName() << " is " << global.getType()
                  << ", the value has " << value.bytes.size() << " bytes";
  global.setValueAttr(DenseResourceElementsAttr::get(
      type, value.name,
      UnmanagedAsmResourceBlob::allocateInferAlign(value.bytes)));
  return success();
}

LogicalResult
alula::driver::setInitialValues(ModuleOp module,
                                llvm::ArrayRef<InitialValue> values) {
  if (values.empty())
    return success();
  SymbolTable symbols(module);
  for (const InitialValue &value : values) {
    auto global = symbols.lookup<GlobalOp>(value.name);
    if (!global)
      return module.emitError()
             << "'builtin.module': has no global for a value: @" << value.name;
    if (failed(setInitialValue(global, value)))
      return failure();
  }
  return success();
}
