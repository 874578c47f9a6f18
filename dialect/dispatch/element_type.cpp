// The element types of artifacts are found by the names that MLIR prints.

#include "dialect/dispatch/element_type.h"

#include "dialect/newer/types.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;

std::optional<alula_dtype> alula::dispatch::getDtype(Type elementType) {
  // The usual ones without a look at their names.
  if (elementType.isF32())
    return ALULA_DTYPE_F32;
  if (elementType.isSignlessInteger(32))
    return ALULA_DTYPE_I32;
  if (elementType.isSignlessInteger(1))
    return ALULA_DTYPE_I1;
  auto bridged = dyn_cast<newer::BridgedFloatType>(elementType);
  std::string name =
      bridged ? bridged.getName().str() : debugString(elementType);
#define X(NAME, code, kind, bits, bytes, mlirName, numpyName, pjrt)            \
  if (name == mlirName)                                                        \
    return ALULA_DTYPE_##NAME;
  ALULA_FOR_EACH_DTYPE(X)
#undef X
  return std::nullopt;
}
