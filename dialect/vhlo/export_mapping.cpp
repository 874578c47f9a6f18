#include "dialect/vhlo/export_mapping.h"

#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace alula::vhlo {
namespace {

class Mapper {
public:
  Mapper(Operation *op, const OpSpec &spec,
         llvm::SmallPtrSetImpl<StringAttr> &taken)
      : op(op), builder(op->getContext()), spec(spec), taken(taken) {}

  LogicalResult run(SmallVectorImpl<Attribute> &values) {
    for (const AttrSpec &row : spec.attributes()) {
      Attribute value = map(row);
      if (!value)
        value = makeDefault(row);
      if (!value)
        return op->emitOpError("has no attribute for '")
               << row.name << "' of its portable form";
      values.push_back(value);
    }
    return success();
  }

private:
  /// The attribute of a name, if it is there and what it should be.
  template <typename AttrTy = Attribute> AttrTy take(StringRef attribute) {
    auto result = dyn_cast_or_null<AttrTy>(op->getAttr(attribute));
    if (result)
      taken.insert(builder.getStringAttr(attribute));
    return result;
  }

  Attribute number(int64_t value) { return builder.getI64IntegerAttr(value); }

  Attribute numbers(ArrayRef<int64_t> list) {
    auto type =
        RankedTensorType::get({int64_t(list.size())}, builder.getI64Type());
    return DenseElementsAttr::get(type, list);
  }

  /// A rectangle of equal numbers.
  Attribute filled(ArrayRef<int64_t> shape, int64_t value) {
    auto type = RankedTensorType::get(shape, builder.getI64Type());
    if (type.getNumElements() == 0)
      return DenseElementsAttr::get(type, ArrayRef<int64_t>());
    return DenseElementsAttr::get(type, value);
  }

  Attribute map(const AttrSpec &row) {
    switch (row.mapping) {
    case Mapping::Plain:
    case Mapping::ApiVersion:
      return take(row.name);
    case Mapping::I64Array: {
      auto list = take<DenseI64ArrayAttr>(row.name);
      return list ? numbers(list.asArrayRef()) : Attribute();
    }
    case Mapping::BoolArray: {
      auto list = take<DenseBoolArrayAttr>(row.name);
      if (!list)
        return {};
      auto type = RankedTensorType::get({list.size()}, builder.getI1Type());
      return DenseElementsAttr::get(type, list.asArrayRef());
    }
    case Mapping::Symbol: {
      auto symbol = take<FlatSymbolRefAttr>(row.name);
      return symbol ? symbol.getAttr() : Attribute();
    }
    case Mapping::Symbols:
      // Symbols inside of other attributes are strings in the portable form.
      return take<ArrayAttr>(row.name);
    case Mapping::ChannelId: {
      auto channel = take<stablehlo::ChannelHandleAttr>("channel_handle");
      return channel ? number(channel.getHandle()) : Attribute();
    }
    case Mapping::UnitFlag:
      return take<UnitAttr>(row.name) ? builder.getBoolAttr(true) : Attribute();
    case Mapping::Part:
      return mapPart(row.name);
    case Mapping::AlgorithmPart:
      return mapAlgorithmPart(row.name);
    }
    return {};
  }

  Attribute mapPart(StringRef part) {
    namespace shlo = mlir::stablehlo;
    if (auto dims = take<shlo::ScatterDimensionNumbersAttr>(
            "scatter_dimension_numbers"))
      return llvm::StringSwitch<Attribute>(part)
          .Case("update_window_dims", numbers(dims.getUpdateWindowDims()))
          .Case("inserted_window_dims", numbers(dims.getInsertedWindowDims()))
          .Case("input_batching_dims", numbers(dims.getInputBatchingDims()))
          .Case("scatter_indices_batching_dims",
                numbers(dims.getScatterIndicesBatchingDims()))
          .Case("scatter_dims_to_operand_dims",
                numbers(dims.getScatterDimsToOperandDims()))
          .Default(number(dims.getIndexVectorDim()));
    if (auto dims =
            take<shlo::DotDimensionNumbersAttr>("dot_dimension_numbers"))
      return llvm::StringSwitch<Attribute>(part)
          .Case("lhs_batching_dimensions",
                numbers(dims.getLhsBatchingDimensions()))
          .Case("rhs_batching_dimensions",
                numbers(dims.getRhsBatchingDimensions()))
          .Case("lhs_contracting_dimensions",
                numbers(dims.getLhsContractingDimensions()))
          .Default(numbers(dims.getRhsContractingDimensions()));
    if (auto channel = take<shlo::ChannelHandleAttr>("channel_handle"))
      return number(part == "channel_id" ? channel.getHandle()
                                         : channel.getType());
    if (auto dims = take<shlo::GatherDimensionNumbersAttr>("dimension_numbers"))
      return llvm::StringSwitch<Attribute>(part)
          .Case("offset_dims", numbers(dims.getOffsetDims()))
          .Case("collapsed_slice_dims", numbers(dims.getCollapsedSliceDims()))
          .Case("operand_batching_dims", numbers(dims.getOperandBatchingDims()))
          .Case("start_indices_batching_dims",
                numbers(dims.getStartIndicesBatchingDims()))
          .Case("start_index_map", numbers(dims.getStartIndexMap()))
          .Default(number(dims.getIndexVectorDim()));
    auto dims = take<shlo::ConvDimensionNumbersAttr>("dimension_numbers");
    if (!dims)
      return {};
    return llvm::StringSwitch<Attribute>(part)
        .Case("input_batch_dimension", number(dims.getInputBatchDimension()))
        .Case("input_feature_dimension",
              number(dims.getInputFeatureDimension()))
        .Case("input_spatial_dimensions",
              numbers(dims.getInputSpatialDimensions()))
        .Case("kernel_input_feature_dimension",
              number(dims.getKernelInputFeatureDimension()))
        .Case("kernel_output_feature_dimension",
              number(dims.getKernelOutputFeatureDimension()))
        .Case("kernel_spatial_dimensions",
              numbers(dims.getKernelSpatialDimensions()))
        .Case("output_batch_dimension", number(dims.getOutputBatchDimension()))
        .Case("output_feature_dimension",
              number(dims.getOutputFeatureDimension()))
        .Default(numbers(dims.getOutputSpatialDimensions()));
  }

  Attribute mapAlgorithmPart(StringRef part) {
    auto algorithm = take<stablehlo::DotAlgorithmAttr>("algorithm");
    if (!algorithm)
      return {};
    return llvm::StringSwitch<Attribute>(part)
        .Case("lhs_precision_type",
              TypeAttr::get(algorithm.getLhsPrecisionType()))
        .Case("rhs_precision_type",
              TypeAttr::get(algorithm.getRhsPrecisionType()))
        .Case("accumulation_type",
              TypeAttr::get(algorithm.getAccumulationType()))
        .Case("lhs_component_count", number(algorithm.getLhsComponentCount()))
        .Case("rhs_component_count", number(algorithm.getRhsComponentCount()))
        .Case("num_primitive_operations",
              number(algorithm.getNumPrimitiveOperations()))
        .Default(
            builder.getBoolAttr(algorithm.getAllowImpreciseAccumulation()));
  }

  /// Spatial dimensions of a convolution, dimensions of a window.
  int64_t numDims() {
    if (auto dims = op->getAttrOfType<stablehlo::ConvDimensionNumbersAttr>(
            "dimension_numbers"))
      return int64_t(dims.getInputSpatialDimensions().size());
    auto window = op->getAttrOfType<DenseI64ArrayAttr>("window_dimensions");
    return window ? window.size() : 0;
  }

  Attribute makeDefault(const AttrSpec &row) {
    namespace shlo = mlir::stablehlo;
    MLIRContext *context = op->getContext();
    switch (row.fallback) {
    case Default::Required:
      return {};
    case Default::False:
      return builder.getBoolAttr(false);
    case Default::Zero:
      return number(0);
    case Default::MinusOne:
      return number(-1);
    case Default::EmptyString: {
      auto api = op->getAttrOfType<IntegerAttr>("api_version");
      if (StringRef(row.name) == "backend_config" && api && api.getInt() == 4)
        return builder.getDictionaryAttr({});
      return builder.getStringAttr("");
    }
    case Default::EmptyArray:
      return builder.getArrayAttr({});
    case Default::EmptyDictionary:
      return builder.getDictionaryAttr({});
    case Default::EmptyInts:
      return numbers({});
    case Default::Ones:
      return filled({numDims()}, 1);
    case Default::ZeroPairs:
      return filled({numDims(), 2}, 0);
    case Default::FalseSplat:
      return DenseElementsAttr::get(
          RankedTensorType::get({numDims()}, builder.getI1Type()),
          SmallVector<bool>(size_t(numDims()), false));
    case Default::DefaultPrecisions: {
      Attribute precision =
          shlo::PrecisionAttr::get(context, shlo::Precision::DEFAULT);
      return builder.getArrayAttr({precision, precision});
    }
    case Default::NoComparisonType:
      return shlo::ComparisonTypeAttr::get(context,
                                           shlo::ComparisonType::NOTYPE);
    case Default::OriginalApi:
      return builder.getI32IntegerAttr(1);
    case Default::DefaultAccuracy:
      return shlo::ResultAccuracyAttr::get(
          context, APFloat(0.0), APFloat(0.0), /*ulps=*/0,
          shlo::ResultAccuracyModeAttr::get(context,
                                            shlo::ResultAccuracyMode::DEFAULT));
    case Default::NoneType:
      return TypeAttr::get(NoneType::get(context));
    }
    return {};
  }

  Operation *op;
  Builder builder;
  const OpSpec &spec;
  llvm::SmallPtrSetImpl<StringAttr> &taken;
};

} // namespace

LogicalResult mapToPortable(Operation *op, const OpSpec &spec,
                            SmallVectorImpl<Attribute> &values,
                            llvm::SmallPtrSetImpl<StringAttr> &taken) {
  return Mapper(op, spec, taken).run(values);
}

} // namespace alula::vhlo
