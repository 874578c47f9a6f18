// Registers the ops, types and attributes of the dialect.

#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/assembly.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::stablehlo;

#include "dialect/stablehlo/dialect.cpp.inc"
#include "dialect/stablehlo/enums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/stablehlo/types.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/stablehlo/attributes.cpp.inc"

Attribute StablehloDialect::parseAttribute(DialectAsmParser &parser,
                                           Type type) const {
  SMLoc location = parser.getCurrentLocation();
  StringRef mnemonic;
  Attribute attribute;
  OptionalParseResult parsed =
      generatedAttributeParser(parser, &mnemonic, type, attribute);
  if (parsed.has_value())
    return succeeded(*parsed) ? attribute : Attribute();
  if (mnemonic == "type_extensions")
    return parseTypeExtensions(parser);
  parser.emitError(location)
      << "unknown attribute of dialect stablehlo: " << mnemonic;
  return {};
}

void StablehloDialect::printAttribute(Attribute attribute,
                                      DialectAsmPrinter &printer) const {
  LogicalResult printed = generatedAttributePrinter(attribute, printer);
  assert(succeeded(printed) && "an attribute of this dialect has a printer");
  (void)printed;
}

namespace {
/// Ops of the language may move into any function that a call joins them to.
struct Inliner : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void StablehloDialect::initialize() {
  addInterfaces<Inliner>();
  addInterface<AccessInterface>(getAccessTable());
  addOperations<
#define GET_OP_LIST
#include "dialect/stablehlo/ops_elementwise.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/stablehlo/ops_shape.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/stablehlo/ops_slice.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/stablehlo/ops_reduce.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/stablehlo/ops_dot.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/stablehlo/ops_conv.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/stablehlo/ops_gather_scatter.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/stablehlo/ops_control.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/stablehlo/ops_collective.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/stablehlo/ops_rng.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/stablehlo/ops_quantize.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/stablehlo/ops_custom_call.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/stablehlo/types.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/stablehlo/attributes.cpp.inc"
      >();
}

Operation *StablehloDialect::materializeConstant(OpBuilder &builder,
                                                 Attribute value, Type type,
                                                 Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return builder.create<ConstantOp>(location, type, elements);
}
