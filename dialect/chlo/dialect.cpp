// Registers the ops and attributes of the dialect.

#include "dialect/chlo/access.h"
#include "dialect/chlo/ops.h"

#include "dialect/stablehlo/assembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::chlo;

#include "dialect/chlo/dialect.cpp.inc"
#include "dialect/chlo/enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/chlo/attributes.cpp.inc"

namespace {
/// Every op is pure or as pure as its region, so it may move anywhere.
struct InlineAnywhere : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void ChloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialect/chlo/ops_elementwise.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/chlo/ops_broadcast.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/chlo/ops_compound.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/chlo/attributes.cpp.inc"
      >();
  addInterfaces<InlineAnywhere>();
  addInterface<stablehlo::AccessInterface>(getAccessTable());
}

Operation *ChloDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return builder.create<ConstantOp>(location, type, elements);
}
