#include "dialect/vhlo/import_mapping.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;

namespace alula::vhlo {

Attribute PortableAttributes::get(StringRef name) const {
  for (auto [row, value] : llvm::zip(spec->attributes(), values))
    if (name == row.name)
      return value;
  return {};
}

static bool isTypeNone(Attribute value) {
  auto type = dyn_cast<TypeAttr>(value);
  return type && isa<NoneType>(type.getValue());
}

static bool isInteger(Attribute value, int64_t number) {
  auto integer = dyn_cast<IntegerAttr>(value);
  return integer && integer.getValue().isSignedIntN(64) &&
         integer.getValue().getSExtValue() == number;
}

static bool isElements(Attribute value, int64_t number) {
  auto elements = dyn_cast<DenseIntElementsAttr>(value);
  if (!elements)
    return false;
  auto matches = [&](const APInt &element) {
    return element.getZExtValue() == uint64_t(number);
  };
  if (elements.getElementType().getIntOrFloatBitWidth() > 64)
    return false;
  if (elements.isSplat())
    return matches(elements.getSplatValue<APInt>());
  return llvm::all_of(elements.getValues<APInt>(), matches);
}

bool isDefault(const AttrSpec &row, Attribute value) {
  namespace shlo = mlir::stablehlo;
  switch (row.fallback) {
  case Default::Required:
    return false;
  case Default::False: {
    auto flag = dyn_cast<BoolAttr>(value);
    return flag && !flag.getValue();
  }
  case Default::Zero:
    return isInteger(value, 0);
  case Default::MinusOne:
    return isInteger(value, -1);
  case Default::OriginalApi:
    return isInteger(value, 1);
  case Default::EmptyString: {
    // The configuration of a typed custom call is a dictionary instead.
    if (auto dictionary = dyn_cast<DictionaryAttr>(value))
      return dictionary.empty();
    auto string = dyn_cast<StringAttr>(value);
    return string && string.empty();
  }
  case Default::EmptyArray: {
    auto array = dyn_cast<ArrayAttr>(value);
    return array && array.empty();
  }
  case Default::EmptyDictionary: {
    auto dictionary = dyn_cast<DictionaryAttr>(value);
    return dictionary && dictionary.empty();
  }
  case Default::EmptyInts: {
    auto elements = dyn_cast<DenseElementsAttr>(value);
    return elements && elements.empty();
  }
  case Default::Ones:
    return isElements(value, 1);
  case Default::ZeroPairs:
  case Default::FalseSplat:
    return isElements(value, 0);
  case Default::DefaultPrecisions: {
    auto array = dyn_cast<ArrayAttr>(value);
    return array && llvm::all_of(array, [](Attribute element) {
             auto precision = dyn_cast<shlo::PrecisionAttr>(element);
             return precision &&
                    precision.getValue() == shlo::Precision::DEFAULT;
           });
  }
  case Default::NoComparisonType: {
    auto type = dyn_cast<shlo::ComparisonTypeAttr>(value);
    return type && type.getValue() == shlo::ComparisonType::NOTYPE;
  }
  case Default::DefaultAccuracy: {
    auto accuracy = dyn_cast<shlo::ResultAccuracyAttr>(value);
    return accuracy && accuracy.getAtol().isZero() &&
           accuracy.getRtol().isZero() && accuracy.getUlps() == 0 &&
           accuracy.getMode().getValue() == shlo::ResultAccuracyMode::DEFAULT;
  }
  case Default::NoneType:
    return isTypeNone(value);
  }
  return false;
}

namespace {

/// Maps the attributes of one operation.
class Mapper {
public:
  Mapper(const PortableAttributes &portable, NamedAttrList &attributes,
         function_ref<InFlightDiagnostic()> emitError)
      : portable(portable), attributes(attributes), emitError(emitError),
        name(portable.spec->name) {}

  LogicalResult run() {
    bool hasParts = false;
    for (auto [row, value] :
         llvm::zip(portable.spec->attributes(), portable.values)) {
      hasParts |= row.mapping == Mapping::Part;
      if (!value || row.mapping == Mapping::Part ||
          row.mapping == Mapping::AlgorithmPart)
        continue;
      if (isDefault(row, value) && !isKeptDefault(row))
        continue;
      if (name == "func" && isAllEmpty(value))
        continue;
      if (failed(mapOne(row, value)))
        return failure();
    }
    if (hasParts && failed(mapParts()))
      return failure();
    return name == "dot_general" ? mapAlgorithm() : success();
  }

private:
  /// The layouts of a custom call come in pairs.
  bool isKeptDefault(const AttrSpec &row) {
    StringRef attribute = row.name;
    StringRef other = attribute == "operand_layouts"  ? "result_layouts"
                      : attribute == "result_layouts" ? "operand_layouts"
                                                      : "";
    if (other.empty())
      return false;
    auto array = dyn_cast_or_null<ArrayAttr>(portable.get(other));
    return array && !array.empty();
  }

  /// Attributes of arguments, none of which has any.
  static bool isAllEmpty(Attribute value) {
    auto array = dyn_cast<ArrayAttr>(value);
    return array && llvm::all_of(array, [](Attribute element) {
             auto dictionary = dyn_cast<DictionaryAttr>(element);
             return dictionary && dictionary.empty();
           });
  }

  LogicalResult mismatch(StringRef attribute, StringRef expected,
                         Attribute found) {
    return emitError() << "attribute '" << attribute << "' is " << found
                       << ", expected " << expected;
  }

  void add(StringRef attribute, Attribute value) {
    attributes.append(attribute, value);
  }

  /// The elements of a list of T.
  template <typename T>
  LogicalResult readList(StringRef attribute, Attribute value,
                         SmallVectorImpl<T> &list) {
    auto elements = dyn_cast<DenseIntElementsAttr>(value);
    constexpr unsigned width = std::is_same_v<T, bool> ? 1 : 64;
    if (!elements || !elements.getElementType().isInteger(width) ||
        elements.getNumElements() > maxListElements)
      return mismatch(
          attribute,
          width == 1 ? "a short tensor of i1" : "a short tensor of i64", value);
    llvm::append_range(list, elements.getValues<T>());
    return success();
  }

  LogicalResult mapOne(const AttrSpec &row, Attribute value) {
    MLIRContext *context = portable.context;
    switch (row.mapping) {
    case Mapping::Plain:
    case Mapping::ApiVersion:
    case Mapping::Part:
    case Mapping::AlgorithmPart:
      add(row.name, value);
      return success();
    case Mapping::I64Array: {
      SmallVector<int64_t> list;
      if (failed(readList(row.name, value, list)))
        return failure();
      add(row.name, DenseI64ArrayAttr::get(context, list));
      return success();
    }
    case Mapping::BoolArray: {
      SmallVector<bool> list;
      if (failed(readList(row.name, value, list)))
        return failure();
      add(row.name, DenseBoolArrayAttr::get(context, list));
      return success();
    }
    case Mapping::Symbol: {
      auto symbol = dyn_cast<StringAttr>(value);
      if (!symbol)
        return mismatch(row.name, "a string", value);
      add(row.name, FlatSymbolRefAttr::get(symbol));
      return success();
    }
    case Mapping::Symbols: {
      SmallVector<Attribute> symbols;
      auto array = dyn_cast<ArrayAttr>(value);
      if (!array)
        return mismatch(row.name, "an array of strings", value);
      for (Attribute element : array) {
        auto symbol = dyn_cast<StringAttr>(element);
        if (!symbol)
          return mismatch(row.name, "an array of strings", value);
        symbols.push_back(FlatSymbolRefAttr::get(symbol));
      }
      add(row.name, ArrayAttr::get(context, symbols));
      return success();
    }
    case Mapping::ChannelId: {
      auto channel = dyn_cast<IntegerAttr>(value);
      if (!channel || !channel.getValue().isSignedIntN(64))
        return mismatch(row.name, "an integer", value);
      add("channel_handle",
          stablehlo::ChannelHandleAttr::get(
              context, channel.getValue().getSExtValue(), /*type=*/0));
      return success();
    }
    case Mapping::UnitFlag:
      if (!isa<BoolAttr>(value))
        return mismatch(row.name, "a boolean", value);
      add(row.name, UnitAttr::get(context));
      return success();
    }
    return failure();
  }

  /// A part that is an integer; `good` turns false if it is something else.
  int64_t number(StringRef attribute, bool &good) {
    Attribute value = portable.get(attribute);
    auto integer = dyn_cast_or_null<IntegerAttr>(value);
    if (!integer || !integer.getValue().isSignedIntN(64)) {
      if (good)
        (void)mismatch(attribute, "an integer", value);
      good = false;
      return 0;
    }
    return integer.getValue().getSExtValue();
  }

  /// A part that is a list; one that this form does not have is empty.
  SmallVector<int64_t> numbers(StringRef attribute, bool &good) {
    SmallVector<int64_t> list;
    Attribute value = portable.get(attribute);
    if (value && good && failed(readList(attribute, value, list)))
      good = false;
    return list;
  }

  LogicalResult mapParts() {
    namespace shlo = mlir::stablehlo;
    MLIRContext *context = portable.context;
    bool good = true;
    auto i = [&](StringRef attribute) { return number(attribute, good); };
    auto l = [&](StringRef attribute) { return numbers(attribute, good); };
    StringRef target = "dimension_numbers";
    Attribute result;
    if (name == "gather" || name == "dynamic_gather") {
      result = shlo::GatherDimensionNumbersAttr::get(
          context, l("offset_dims"), l("collapsed_slice_dims"),
          l("operand_batching_dims"), l("start_indices_batching_dims"),
          l("start_index_map"), i("index_vector_dim"));
    } else if (name == "scatter") {
      target = "scatter_dimension_numbers";
      result = shlo::ScatterDimensionNumbersAttr::get(
          context, l("update_window_dims"), l("inserted_window_dims"),
          l("input_batching_dims"), l("scatter_indices_batching_dims"),
          l("scatter_dims_to_operand_dims"), i("index_vector_dim"));
    } else if (name == "dot_general") {
      target = "dot_dimension_numbers";
      result = shlo::DotDimensionNumbersAttr::get(
          context, l("lhs_batching_dimensions"), l("rhs_batching_dimensions"),
          l("lhs_contracting_dimensions"), l("rhs_contracting_dimensions"));
    } else if (name == "send" || name == "recv") {
      target = "channel_handle";
      int64_t channel = i("channel_id");
      result =
          shlo::ChannelHandleAttr::get(context, channel, i("channel_type"));
    } else {
      result = shlo::ConvDimensionNumbersAttr::get(
          context, i("input_batch_dimension"), i("input_feature_dimension"),
          l("input_spatial_dimensions"), i("kernel_input_feature_dimension"),
          i("kernel_output_feature_dimension"), l("kernel_spatial_dimensions"),
          i("output_batch_dimension"), i("output_feature_dimension"),
          l("output_spatial_dimensions"));
    }
    if (!good)
      return failure();
    add(target, result);
    return success();
  }

  /// All seven parts of an algorithm are there, or none.
  LogicalResult mapAlgorithm() {
    bool isSet = false;
    for (auto [row, value] :
         llvm::zip(portable.spec->attributes(), portable.values))
      if (row.mapping == Mapping::AlgorithmPart)
        isSet |= value && !isTypeNone(value);
    if (!isSet)
      return success();
    bool good = true;
    auto precision = [&](StringRef attribute) -> Type {
      auto type = dyn_cast_or_null<TypeAttr>(portable.get(attribute));
      if (type)
        return type.getValue();
      if (good)
        (void)mismatch(attribute, "a type", portable.get(attribute));
      good = false;
      return {};
    };
    Type lhs = precision("lhs_precision_type");
    Type rhs = precision("rhs_precision_type");
    Type accumulation = precision("accumulation_type");
    int64_t lhsCount = number("lhs_component_count", good);
    int64_t rhsCount = number("rhs_component_count", good);
    int64_t primitives = number("num_primitive_operations", good);
    auto imprecise = dyn_cast_or_null<BoolAttr>(
        portable.get("allow_imprecise_accumulation"));
    if (!good)
      return failure();
    if (!imprecise)
      return mismatch("allow_imprecise_accumulation", "a boolean",
                      portable.get("allow_imprecise_accumulation"));
    auto algorithm = stablehlo::DotAlgorithmAttr::getChecked(
        emitError, portable.context, lhs, rhs, accumulation, lhsCount, rhsCount,
        primitives, imprecise.getValue());
    if (!algorithm)
      return failure();
    add("algorithm", algorithm);
    return success();
  }

  const PortableAttributes &portable;
  NamedAttrList &attributes;
  function_ref<InFlightDiagnostic()> emitError;
  StringRef name;
};

} // namespace

LogicalResult mapToStablehlo(const PortableAttributes &portable,
                             NamedAttrList &attributes,
                             function_ref<InFlightDiagnostic()> emitError) {
  return Mapper(portable, attributes, emitError).run();
}

} // namespace alula::vhlo
