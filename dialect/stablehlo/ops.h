#pragma once

#include "dialect/newer/dialect.h"
#include "dialect/newer/types.h"
#include "dialect/stablehlo/traits.h"
#include "dialect/stablehlo/type_rules.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Quant/QuantOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/stablehlo/dialect.h.inc"
#include "dialect/stablehlo/enums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/stablehlo/types.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/stablehlo/attributes.h.inc"

namespace mlir::stablehlo {
// The terminator that ops of every family name.
class ReturnOp;

/// What infeed, outfeed, send and recv read and write.
struct TransferResource
    : public SideEffects::Resource::Base<TransferResource> {
  StringRef getName() final { return "stablehlo.transfer"; }
};
} // namespace mlir::stablehlo

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops_elementwise.h.inc"

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops_shape.h.inc"

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops_slice.h.inc"

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops_reduce.h.inc"

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops_dot.h.inc"

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops_conv.h.inc"

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops_gather_scatter.h.inc"

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops_control.h.inc"

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops_collective.h.inc"

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops_rng.h.inc"

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops_quantize.h.inc"

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops_custom_call.h.inc"

