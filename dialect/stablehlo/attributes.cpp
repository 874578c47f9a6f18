// Syntax and rules of the attributes and of the dialect's own types.

#include "dialect/stablehlo/assembly.h"
#include "dialect/stablehlo/struct_syntax.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::stablehlo;
using alula::newer::BridgedFloatType;

//===----------------------------------------------------------------------===//
// Dimension numbers
//===----------------------------------------------------------------------===//

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> updateWindow, insertedWindow, inputBatching,
      indicesBatching, toOperand;
  int64_t indexVector = 0;
  if (parser.parseLess() ||
      parseStruct(parser, {{"update_window_dims", updateWindow},
                           {"inserted_window_dims", insertedWindow},
                           {"input_batching_dims", inputBatching},
                           {"scatter_indices_batching_dims", indicesBatching},
                           {"scatter_dims_to_operand_dims", toOperand},
                           {"index_vector_dim", indexVector}}))
    return {};
  return get(parser.getContext(), updateWindow, insertedWindow, inputBatching,
             indicesBatching, toOperand, indexVector);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  StructPrinter(printer)
      .print("update_window_dims", getUpdateWindowDims())
      .print("inserted_window_dims", getInsertedWindowDims())
      .print("input_batching_dims", getInputBatchingDims())
      .print("scatter_indices_batching_dims", getScatterIndicesBatchingDims())
      .print("scatter_dims_to_operand_dims", getScatterDimsToOperandDims())
      .print("index_vector_dim", getIndexVectorDim());
  printer << '>';
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> offset, collapsed, operandBatching, indicesBatching,
      indexMap;
  int64_t indexVector = 0;
  if (parser.parseLess() ||
      parseStruct(parser, {{"offset_dims", offset},
                           {"collapsed_slice_dims", collapsed},
                           {"operand_batching_dims", operandBatching},
                           {"start_indices_batching_dims", indicesBatching},
                           {"start_index_map", indexMap},
                           {"index_vector_dim", indexVector}}))
    return {};
  return get(parser.getContext(), offset, collapsed, operandBatching,
             indicesBatching, indexMap, indexVector);
}

void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  StructPrinter(printer)
      .print("offset_dims", getOffsetDims())
      .print("collapsed_slice_dims", getCollapsedSliceDims())
      .print("operand_batching_dims", getOperandBatchingDims())
      .print("start_indices_batching_dims", getStartIndicesBatchingDims())
      .print("start_index_map", getStartIndexMap())
      .print("index_vector_dim", getIndexVectorDim());
  printer << '>';
}

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (parser.parseLess() ||
      parseStruct(parser, {{"lhs_batching_dimensions", lhsBatching},
                           {"rhs_batching_dimensions", rhsBatching},
                           {"lhs_contracting_dimensions", lhsContracting},
                           {"rhs_contracting_dimensions", rhsContracting}}))
    return {};
  return get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting,
             rhsContracting);
}

void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  StructPrinter(printer)
      .print("lhs_batching_dimensions", getLhsBatchingDimensions())
      .print("rhs_batching_dimensions", getRhsBatchingDimensions())
      .print("lhs_contracting_dimensions", getLhsContractingDimensions())
      .print("rhs_contracting_dimensions", getRhsContractingDimensions());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Algorithm of a dot
//===----------------------------------------------------------------------===//

namespace {
bool isFloat8(Type type) {
  if (auto bridged = dyn_cast<BridgedFloatType>(type))
    return bridged.getWidth() == 8;
  return isFloatElement(type) && type.getIntOrFloatBitWidth() == 8;
}

/// What is known to exist on some hardware, by the types and the number of
/// primitive dots.
bool isKnownAlgorithm(Type lhs, Type rhs, Type accumulation,
                      int64_t numPrimitives, bool allowsImprecise) {
  if (isFloat8(lhs) && isFloat8(rhs))
    return accumulation.isF32() && numPrimitives == 1;
  if (lhs != rhs || allowsImprecise)
    return false;
  if (lhs.isBF16() && accumulation.isF32())
    return llvm::is_contained({1, 3, 6, 9}, numPrimitives);
  if (lhs.isTF32())
    return accumulation.isF32() && (numPrimitives == 1 || numPrimitives == 3);
  if (lhs.isF16() && accumulation.isF32())
    return numPrimitives == 1;
  return (lhs.isF16() || lhs.isBF16() || lhs.isF32() || lhs.isF64()) &&
         accumulation == lhs && numPrimitives == 1;
}

/// Whether that many parts of each side give that many products: all of them,
/// or those that are not too small to matter. Programs also leave the counts
/// at 1 and name the algorithm by its primitive operations alone.
bool isKnownSplit(int64_t lhsParts, int64_t rhsParts, int64_t numPrimitives) {
  if (lhsParts != rhsParts)
    return false;
  int64_t expected = numPrimitives == 3 ? 2 : numPrimitives == 1 ? 1 : 3;
  return lhsParts == 1 || lhsParts == expected;
}
} // namespace

LogicalResult DotAlgorithmAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, Type lhsPrecisionType,
    Type rhsPrecisionType, Type accumulationType, int64_t lhsComponentCount,
    int64_t rhsComponentCount, int64_t numPrimitiveOperations,
    bool allowImpreciseAccumulation) {
  auto checkPositive = [&](StringRef name, int64_t value) -> LogicalResult {
    if (value > 0)
      return success();
    return emitError() << "'stablehlo.dot_algorithm': " << name
                       << " must be positive: got " << value;
  };
  if (failed(checkPositive("lhs_component_count", lhsComponentCount)) ||
      failed(checkPositive("rhs_component_count", rhsComponentCount)) ||
      failed(checkPositive("num_primitive_operations", numPrimitiveOperations)))
    return failure();
  if (isKnownAlgorithm(lhsPrecisionType, rhsPrecisionType, accumulationType,
                       numPrimitiveOperations, allowImpreciseAccumulation) &&
      isKnownSplit(lhsComponentCount, rhsComponentCount,
                   numPrimitiveOperations))
    return success();
  return emitError()
         << "'stablehlo.dot_algorithm': no hardware is known to have this "
            "algorithm: "
         << lhsPrecisionType << " x " << rhsPrecisionType << " -> "
         << accumulationType << ", components " << lhsComponentCount << " and "
         << rhsComponentCount << ", primitive operations "
         << numPrimitiveOperations << ", imprecise accumulation "
         << (allowImpreciseAccumulation ? "allowed" : "not allowed");
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

namespace {
ParseResult parseBound(AsmParser &parser, SmallVectorImpl<int64_t> &bounds) {
  if (succeeded(parser.parseOptionalQuestion())) {
    bounds.push_back(ShapedType::kDynamic);
    return success();
  }
  SMLoc location = parser.getCurrentLocation();
  int64_t bound;
  if (parser.parseInteger(bound))
    return failure();
  if (bound < 0)
    return parser.emitError(location)
           << "a bound must not be negative: got " << bound;
  bounds.push_back(bound);
  return success();
}
} // namespace

Attribute TypeExtensionsAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> bounds;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&] {
        return parseBound(parser, bounds);
      }))
    return {};
  return get(parser.getContext(), bounds);
}

Attribute stablehlo::parseTypeExtensions(AsmParser &parser) {
  SmallVector<int64_t> bounds;
  if (parser.parseLess() || parser.parseKeyword("bounds") ||
      parser.parseEqual() ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] { return parseBound(parser, bounds); }) ||
      parser.parseGreater())
    return {};
  return TypeExtensionsAttr::get(parser.getContext(), bounds);
}

void TypeExtensionsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getBounds(), printer, [&](int64_t bound) {
    if (ShapedType::isDynamic(bound))
      printer << '?';
    else
      printer << bound;
  });
  printer << '>';
}

LogicalResult TypeExtensionsAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type,
    function_ref<InFlightDiagnostic()> emitError) const {
  ArrayRef<int64_t> bounds = getBounds();
  if (bounds.size() != shape.size())
    return emitError() << "'stablehlo.bounds': needs a bound or ? for each "
                          "dimension: "
                       << bounds.size() << " for rank " << shape.size();
  for (auto [index, size, bound] : llvm::enumerate(shape, bounds))
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(bound))
      return emitError() << "'stablehlo.bounds': only dynamic dimensions have "
                            "bounds: dimension "
                         << index << " has size " << size << " and bound "
                         << bound;
  return success();
}

//===----------------------------------------------------------------------===//
// Result accuracy
//===----------------------------------------------------------------------===//

ResultAccuracyAttr ResultAccuracyAttr::get(MLIRContext *context,
                                           ResultAccuracyMode mode) {
  APFloat zero = APFloat::getZero(APFloat::IEEEdouble());
  return get(context, zero, zero, /*ulps=*/0,
             ResultAccuracyModeAttr::get(context, mode));
}

ResultAccuracyAttr ResultAccuracyAttr::get(MLIRContext *context, APFloat atol,
                                           APFloat rtol, int64_t ulps) {
  return get(
      context, atol, rtol, ulps,
      ResultAccuracyModeAttr::get(context, ResultAccuracyMode::TOLERANCE));
}

Attribute ResultAccuracyAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  ResultAccuracyModeAttr mode;
  auto parseTolerance = [&](StringRef name, double &value) -> ParseResult {
    if (failed(parser.parseOptionalKeyword(name)))
      return success();
    return failure(parser.parseEqual() || parser.parseFloat(value) ||
                   parser.parseComma());
  };
  if (parser.parseLess() || parseTolerance("atol", atol) ||
      parseTolerance("rtol", rtol))
    return {};
  if (succeeded(parser.parseOptionalKeyword("ulps")) &&
      (parser.parseEqual() || parser.parseInteger(ulps) || parser.parseComma()))
    return {};
  if (parser.parseKeyword("mode") || parser.parseEqual() ||
      parser.parseAttribute(mode) || parser.parseGreater())
    return {};
  return parser.getChecked<ResultAccuracyAttr>(
      location, parser.getContext(), APFloat(atol), APFloat(rtol), ulps, mode);
}

void ResultAccuracyAttr::print(AsmPrinter &printer) const {
  auto printTolerance = [&](StringRef name, const APFloat &value) {
    if (value.isZero())
      return;
    printer << name << " = ";
    printer.printFloat(value);
    printer << ", ";
  };
  printer << '<';
  printTolerance("atol", getAtol());
  printTolerance("rtol", getRtol());
  if (getUlps() != 0)
    printer << "ulps = " << getUlps() << ", ";
  printer << "mode = " << getMode() << '>';
}

LogicalResult
ResultAccuracyAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           APFloat atol, APFloat rtol, int64_t ulps,
                           ResultAccuracyModeAttr mode) {
  auto report = [&](StringRef rule) -> LogicalResult {
    return emitError() << "'stablehlo.result_accuracy': " << rule << ": atol "
                       << atol.convertToDouble() << ", rtol "
                       << rtol.convertToDouble() << ", ulps " << ulps;
  };
  if (&atol.getSemantics() != &APFloat::IEEEdouble() ||
      &rtol.getSemantics() != &APFloat::IEEEdouble())
    return emitError() << "'stablehlo.result_accuracy': tolerances must be f64";
  if (!mode)
    return emitError() << "'stablehlo.result_accuracy': needs a mode";
  if (atol.isNaN() || rtol.isNaN() || (atol.isNegative() && !atol.isZero()) ||
      (rtol.isNegative() && !rtol.isZero()) || ulps < 0)
    return report("tolerances must not be negative or NaN");
  bool hasTolerance = !atol.isZero() || !rtol.isZero() || ulps != 0;
  if (mode.getValue() != ResultAccuracyMode::TOLERANCE && hasTolerance)
    return report("only mode TOLERANCE has tolerances");
  return success();
}

//===----------------------------------------------------------------------===//
// Mesh axes, futures
//===----------------------------------------------------------------------===//

// The casts are qualified because an attribute has members of their names.
LogicalResult
ReplicaGroupMeshAxesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Attribute mesh, ArrayAttr axes) {
  if (!llvm::isa_and_nonnull<FlatSymbolRefAttr, MeshAttr>(mesh))
    return emitError() << "'stablehlo.replica_group_mesh_axes': mesh must be a "
                          "symbol or a #stablehlo.mesh: got "
                       << mesh;
  if (!axes)
    return emitError() << "'stablehlo.replica_group_mesh_axes': needs axes";
  for (auto [index, entry] : llvm::enumerate(axes)) {
    auto axis = llvm::dyn_cast<AxisRefAttr>(entry);
    if (!axis)
      return emitError() << "'stablehlo.replica_group_mesh_axes': axes must be "
                            "#stablehlo.axis_ref: axis "
                         << index << " is " << entry;
    auto isNamed = [&](MeshAxisAttr other) {
      return other.getName() == axis.getName();
    };
    auto inlineMesh = llvm::dyn_cast<MeshAttr>(mesh);
    if (inlineMesh && llvm::none_of(inlineMesh.getAxes(), isNamed))
      return emitError()
             << "'stablehlo.replica_group_mesh_axes': the mesh must "
                "have each axis: it has no axis "
             << axis.getName();
  }
  return success();
}

LogicalResult FutureType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<Type> types) {
  for (Type type : types)
    if (!llvm::isa<RankedTensorType>(type))
      return emitError()
             << "'stablehlo.future': holds ranked tensors only: got " << type;
  return success();
}
