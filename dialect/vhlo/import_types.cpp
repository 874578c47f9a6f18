#include "dialect/vhlo/import_nodes.h"

#include "dialect/newer/adapt.h"
#include "dialect/newer/limits.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;

namespace alula::vhlo {

NodeImporter::NodeImporter(const Artifact &artifact, MLIRContext *context,
                           const ArtifactDiagnostics &diagnostics)
    : artifact(artifact), context(context), diagnostics(diagnostics),
      types(artifact.types.size()), attributes(artifact.attributes.size()) {}

LogicalResult NodeImporter::run(ArrayRef<NodeRef> order) {
  for (NodeRef ref : order) {
    if (ref.isType) {
      const Node &node = artifact.types[ref.index];
      if (!(types[ref.index] = importType(node)))
        return failure();
    } else {
      const Node &node = artifact.attributes[ref.index];
      if (!(attributes[ref.index] = importAttribute(node)))
        return failure();
    }
  }
  return success();
}

InFlightDiagnostic NodeImporter::error(const Node &node) const {
  InFlightDiagnostic diagnostic = diagnostics.error(node.offset);
  if (const Encoding *row = findEncoding(node.family, node.isType, node.code))
    diagnostic << dialectOf(node.family) << " " << row->name
               << (node.isType ? " type: " : " attribute: ");
  return diagnostic;
}

bool NodeImporter::parseText(const Node &node, StringRef what,
                             function_ref<bool(StringRef, size_t &)> parse) {
  std::string text(artifact.text(uint32_t(artifact.wordsOf(node)[0])));
  std::string shown = text.substr(0, 80);
  newer::Adaptation adaptation = newer::adapt(text);
  if (adaptation.refusal) {
    diagnostics.error(node.offset)
        << "the text of " << what << ": " << adaptation.refusal->message;
    return false;
  }
  newer::applyEdits(adaptation.edits, text.data());
  std::string reason;
  size_t numRead = 0;
  {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      if (reason.empty())
        reason = ": " + diagnostic.str();
      return success();
    });
    if (parse(text, numRead) && numRead == text.size())
      return true;
  }
  diagnostics.error(node.offset)
      << "'" << shown << "' is not " << what << " that is known here" << reason;
  return false;
}

Type NodeImporter::importType(const Node &node) {
  switch (node.family) {
  case Family::Builtin:
    return importBuiltinType(node);
  case Family::Vhlo:
    return importVhloType(node);
  case Family::Text:
    return importTextType(node);
  case Family::Stablehlo:
    // The only one of the table.
    return stablehlo::TokenType::get(context);
  case Family::Sdy:
  case Family::Other:
  case Family::Opaque:
    break;
  }
  diagnostics.error(node.offset)
      << "a type of dialect '" << artifact.dialects[node.dialect]
      << "' is encoded in a way that is not part of the portable form";
  return {};
}

Type NodeImporter::importTextType(const Node &node) {
  StringRef text = artifact.text(uint32_t(artifact.wordsOf(node)[0]));
  if (auto format = newer::parseFloatFormat(text))
    return newer::BridgedFloatType::get(context, *format);
  Type type;
  bool good = parseText(node, "a type", [&](StringRef edited, size_t &numRead) {
    return bool(type = parseType(edited, context, &numRead));
  });
  return good ? type : Type();
}

bool NodeImporter::readShape(const Node &node, Fields &fields,
                             SmallVectorImpl<int64_t> &shape) {
  std::span<const uint64_t> dims = fields.takeList();
  if (dims.size() > newer::maxRank) {
    error(node) << "rank " << dims.size() << " is above " << newer::maxRank;
    return false;
  }
  for (uint64_t word : dims) {
    int64_t dim = int64_t(word);
    if (dim < 0 && !ShapedType::isDynamic(dim)) {
      error(node) << "dimension " << shape.size() << " is " << dim;
      return false;
    }
    shape.push_back(dim);
  }
  if (!newer::countElements(shape)) {
    error(node) << "the product of the dimensions is above "
                << newer::maxElements;
    return false;
  }
  return true;
}

Type NodeImporter::importTensor(const Node &node, bool hasEncoding) {
  Fields fields(artifact, node);
  Attribute encoding;
  if (hasEncoding)
    encoding = attribute(fields.take());
  SmallVector<int64_t> shape;
  if (!readShape(node, fields, shape))
    return {};
  return RankedTensorType::getChecked([&] { return error(node); }, shape,
                                      type(fields.take()), encoding);
}

Type NodeImporter::importBuffer(const Node &node) {
  Fields fields(artifact, node);
  SmallVector<int64_t> shape;
  if (!readShape(node, fields, shape))
    return {};
  Type element = type(fields.take());
  if (!BaseMemRefType::isValidElementType(element)) {
    error(node) << "a buffer can't hold " << element;
    return {};
  }
  return MemRefType::get(shape, element);
}

Type NodeImporter::importQuantized(const Node &node, bool perAxis) {
  Fields fields(artifact, node);
  auto emit = [&] { return error(node); };
  uint64_t flags = fields.take();
  Type storage = type(fields.take());
  Type expressed = type(fields.take());
  if (flags > quant::QuantizationFlags::Signed) {
    emit() << "flags are " << flags;
    return {};
  }
  if (!perAxis) {
    double scale = llvm::bit_cast<double>(fields.take());
    int64_t zeroPoint = fields.takeSigned();
    int64_t min = fields.takeSigned();
    int64_t max = fields.takeSigned();
    return quant::UniformQuantizedType::getChecked(
        emit, unsigned(flags), storage, expressed, scale, zeroPoint, min, max);
  }
  uint64_t axis = fields.take();
  int64_t min = fields.takeSigned();
  int64_t max = fields.takeSigned();
  SmallVector<double> scales;
  for (uint64_t word : fields.takeList())
    scales.push_back(llvm::bit_cast<double>(word));
  SmallVector<int64_t> zeroPoints;
  for (uint64_t word : fields.takeList())
    zeroPoints.push_back(int64_t(word));
  if (axis > INT32_MAX) {
    emit() << "quantized dimension is " << axis;
    return {};
  }
  return quant::UniformQuantizedPerAxisType::getChecked(
      emit, unsigned(flags), storage, expressed, scales, zeroPoints,
      int32_t(axis), min, max);
}

Type NodeImporter::importBuiltinType(const Node &node) {
  Fields fields(artifact, node);
  auto emit = [&] { return error(node); };
  auto takeTypes = [&] {
    SmallVector<Type> result;
    for (uint64_t index : fields.takeList())
      result.push_back(type(index));
    return result;
  };
  switch (builtin::Type(node.code)) {
  case builtin::Type::Integer: {
    uint64_t word = fields.take();
    if ((word >> 2) > IntegerType::kMaxWidth || (word & 3) > 2) {
      emit() << "width is " << (word >> 2) << ", signedness " << (word & 3);
      return {};
    }
    return IntegerType::get(context, unsigned(word >> 2),
                            IntegerType::SignednessSemantics(word & 3));
  }
  case builtin::Type::Index:
    return IndexType::get(context);
  case builtin::Type::Function: {
    SmallVector<Type> inputs = takeTypes();
    return FunctionType::get(context, inputs, takeTypes());
  }
  case builtin::Type::BFloat16:
    return BFloat16Type::get(context);
  case builtin::Type::Float16:
    return Float16Type::get(context);
  case builtin::Type::Float32:
    return Float32Type::get(context);
  case builtin::Type::Float64:
    return Float64Type::get(context);
  case builtin::Type::Float80:
    return Float80Type::get(context);
  case builtin::Type::Float128:
    return Float128Type::get(context);
  case builtin::Type::Complex:
    return ComplexType::getChecked(emit, type(fields.take()));
  case builtin::Type::None:
    return NoneType::get(context);
  case builtin::Type::RankedTensor:
    return importTensor(node, /*hasEncoding=*/false);
  case builtin::Type::EncodedTensor:
    return importTensor(node, /*hasEncoding=*/true);
  case builtin::Type::Tuple:
    return TupleType::get(context, takeTypes());
  case builtin::Type::UnrankedTensor:
    return UnrankedTensorType::getChecked(emit, type(fields.take()));
  case builtin::Type::FloatTF32:
    return FloatTF32Type::get(context);
  case builtin::Type::Float8E5M2:
    return Float8E5M2Type::get(context);
  case builtin::Type::Float8E4M3:
    return Float8E4M3Type::get(context);
  case builtin::Type::Float8E4M3FN:
    return Float8E4M3FNType::get(context);
  case builtin::Type::Float8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case builtin::Type::Float8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case builtin::Type::Float8E4M3B11FNUZ:
    return Float8E4M3B11FNUZType::get(context);
  case builtin::Type::Float8E3M4:
    return newer::BridgedFloatType::get(context, newer::FloatFormat::F8E3M4);
  case builtin::Type::Float4E2M1FN:
    return newer::BridgedFloatType::get(context, newer::FloatFormat::F4E2M1FN);
  case builtin::Type::Float6E2M3FN:
    return newer::BridgedFloatType::get(context, newer::FloatFormat::F6E2M3FN);
  case builtin::Type::Float6E3M2FN:
    return newer::BridgedFloatType::get(context, newer::FloatFormat::F6E3M2FN);
  case builtin::Type::Float8E8M0FNU:
    return newer::BridgedFloatType::get(context, newer::FloatFormat::F8E8M0FNU);
  }
  return {};
}

Type NodeImporter::importVhloType(const Node &node) {
  Fields fields(artifact, node);
  auto emit = [&] { return error(node); };
  auto takeTypes = [&] {
    SmallVector<Type> result;
    for (uint64_t index : fields.takeList())
      result.push_back(type(index));
    return result;
  };
  auto integer = [&](unsigned width) -> Type {
    return IntegerType::get(context, width);
  };
  auto unsignedInteger = [&](unsigned width) -> Type {
    return IntegerType::get(context, width, IntegerType::Unsigned);
  };
  auto bridged = [&](newer::FloatFormat format) -> Type {
    return newer::BridgedFloatType::get(context, format);
  };
  switch (TypeCode(node.code)) {
  case TypeCode::Boolean:
    return integer(1);
  case TypeCode::Complex:
    return ComplexType::getChecked(emit, type(fields.take()));
  case TypeCode::FloatBF16:
    return BFloat16Type::get(context);
  case TypeCode::FloatF16:
    return Float16Type::get(context);
  case TypeCode::FloatF32:
    return Float32Type::get(context);
  case TypeCode::FloatF64:
    return Float64Type::get(context);
  case TypeCode::FloatF8E4M3FN:
    return Float8E4M3FNType::get(context);
  case TypeCode::FloatF8E5M2:
    return Float8E5M2Type::get(context);
  case TypeCode::Function: {
    SmallVector<Type> inputs = takeTypes();
    return FunctionType::get(context, inputs, takeTypes());
  }
  case TypeCode::Index:
    return IndexType::get(context);
  case TypeCode::IntegerSI2:
    return integer(2);
  case TypeCode::IntegerSI4:
    return integer(4);
  case TypeCode::IntegerSI8:
    return integer(8);
  case TypeCode::IntegerSI16:
    return integer(16);
  case TypeCode::IntegerSI32:
    return integer(32);
  case TypeCode::IntegerSI64:
    return integer(64);
  case TypeCode::IntegerUI2:
    return unsignedInteger(2);
  case TypeCode::IntegerUI4:
    return unsignedInteger(4);
  case TypeCode::IntegerUI8:
    return unsignedInteger(8);
  case TypeCode::IntegerUI16:
    return unsignedInteger(16);
  case TypeCode::IntegerUI32:
    return unsignedInteger(32);
  case TypeCode::IntegerUI64:
    return unsignedInteger(64);
  case TypeCode::RankedTensor:
    return importTensor(node, /*hasEncoding=*/false);
  case TypeCode::EncodedTensor:
    return importTensor(node, /*hasEncoding=*/true);
  case TypeCode::Token:
    return stablehlo::TokenType::get(context);
  case TypeCode::Tuple:
    return TupleType::get(context, takeTypes());
  case TypeCode::UniformQuantized:
    return importQuantized(node, /*perAxis=*/false);
  case TypeCode::UnrankedTensor:
    return UnrankedTensorType::getChecked(emit, type(fields.take()));
  case TypeCode::Witness:
    emit() << "shape witnesses have no meaning in StableHLO";
    return {};
  case TypeCode::FloatF8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case TypeCode::FloatF8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case TypeCode::FloatF8E4M3B11FNUZ:
    return Float8E4M3B11FNUZType::get(context);
  case TypeCode::UniformQuantizedPerAxis:
    return importQuantized(node, /*perAxis=*/true);
  case TypeCode::None:
    return NoneType::get(context);
  case TypeCode::FloatTF32:
    return FloatTF32Type::get(context);
  case TypeCode::FloatF8E4M3:
    return Float8E4M3Type::get(context);
  case TypeCode::FloatF8E3M4:
    return bridged(newer::FloatFormat::F8E3M4);
  case TypeCode::FloatF4E2M1FN:
    return bridged(newer::FloatFormat::F4E2M1FN);
  case TypeCode::FloatF6E2M3FN:
    return bridged(newer::FloatFormat::F6E2M3FN);
  case TypeCode::FloatF6E3M2FN:
    return bridged(newer::FloatFormat::F6E3M2FN);
  case TypeCode::FloatF8E8M0FNU:
    return bridged(newer::FloatFormat::F8E8M0FNU);
  case TypeCode::RankedBuffer:
    return importBuffer(node);
  case TypeCode::Future:
    return stablehlo::FutureType::getChecked(emit, context,
                                             ArrayRef<Type>(takeTypes()));
  }
  return {};
}

} // namespace alula::vhlo
