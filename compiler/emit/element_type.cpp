// The element types of artifacts are found by the names that MLIR prints.

#include "compiler/emit/element_type.h"

#include "dialect/newer/types.h"

#include "mlir/Support/DebugStringHelper.h"

std::optional<alula_dtype> alula::emit::getDtype(mlir::Type elementType) {
  auto bridged = mlir::dyn_cast<newer::BridgedFloatType>(elementType);
  std::string name =
      bridged ? bridged.getName().str() : mlir::debugString(elementType);
#define X(NAME, code, kind, bits, bytes, mlirName, numpyName, pjrt)            \
  if (name == mlirName)                                                        \
    return ALULA_DTYPE_##NAME;
  ALULA_FOR_EACH_DTYPE(X)
#undef X
  return std::nullopt;
}
