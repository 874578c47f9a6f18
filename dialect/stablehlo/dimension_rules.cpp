// Rules about lists of dimension numbers, and shapes with their bounds.

#include "dialect/stablehlo/dimension_rules.h"

#include "dialect/stablehlo/shape_math.h"
#include "dialect/stablehlo/type_rules.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// More than any program needs: the most ranks and devices are far fewer.
constexpr int64_t maxSplatPairs = 1 << 20;
} // namespace

RankedTensorType stablehlo::tensorOperand(const RuleSite &site,
                                          ValueRange operands, size_t index) {
  auto type = index < operands.size()
                  ? dyn_cast<RankedTensorType>(operands[index].getType())
                  : RankedTensorType();
  if (!type)
    (void)site.fail("operand ", index, " must be a ranked tensor: is not");
  return type;
}

LogicalResult stablehlo::verifyInRange(const RuleSite &site, NamedDims list,
                                       int64_t limit) {
  for (int64_t dim : list.dims)
    if (dim < 0 || dim >= limit)
      return site.fail(list.name, " must be in range [0, ", limit, "): ", dim,
                       " is not");
  return success();
}

LogicalResult stablehlo::verifyInRange(const RuleSite &site, StringRef name,
                                       int64_t dim, int64_t limit) {
  return verifyInRange(site, {name, dim}, limit);
}

LogicalResult stablehlo::verifyUnique(const RuleSite &site,
                                      ArrayRef<NamedDims> lists) {
  llvm::SmallSet<int64_t, 8> seen;
  for (const NamedDims &list : lists)
    for (int64_t dim : list.dims)
      if (!seen.insert(dim).second) {
        std::string names;
        for (const NamedDims &each : lists)
          names += (names.empty() ? "" : " and ") + each.name.str();
        return site.fail(names, " must be unique: ", dim, " is repeated");
      }
  return success();
}

LogicalResult stablehlo::verifySorted(const RuleSite &site, NamedDims list) {
  if (llvm::is_sorted(list.dims))
    return success();
  return site.fail(list.name, " must be sorted: is ", shapeText(list.dims));
}

std::string stablehlo::sizeText(int64_t size) {
  return ShapedType::isDynamic(size) ? "?" : std::to_string(size);
}

std::string stablehlo::shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (int64_t size : shape)
    text += (text.size() > 1 ? ", " : "") + sizeText(size);
  return text + "]";
}

std::optional<int64_t> stablehlo::readInteger(IntegerAttr attribute) {
  return attribute ? attribute.getValue().trySExtValue() : std::nullopt;
}

FailureOr<SmallVector<std::pair<int64_t, int64_t>>>
stablehlo::readPairs(const RuleSite &site, StringRef name,
                     DenseIntElementsAttr attribute) {
  ShapedType type = attribute.getType();
  if (type.getRank() != 2 || type.getDimSize(1) != 2)
    return site.fail(name, " must have shape [N, 2]: is ",
                     shapeText(type.getShape()));
  if (!type.getElementType().isInteger(64))
    return site.fail(name, " must be of 64-bit integers: is ", type);
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  // A splat may stand for more pairs than fit in memory.
  if (attribute.isSplat() && type.getDimSize(0) > maxSplatPairs)
    return site.fail(name, " must have at most ", maxSplatPairs,
                     " pairs: has ", type.getDimSize(0));
  auto values = attribute.getValues<int64_t>();
  for (auto it = values.begin(), end = values.end(); it != end;) {
    int64_t first = *it++;
    pairs.emplace_back(first, *it++);
  }
  return pairs;
}

std::optional<SmallVector<int64_t>> stablehlo::readConstant(Value value) {
  DenseIntElementsAttr attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  // As above: the constants meant here have one entry for each dimension.
  ShapedType type = attribute.getType();
  std::optional<int64_t> count = countElements(type.getShape());
  if (!count || *count > maxSplatPairs)
    return std::nullopt;
  bool isUnsigned = type.getElementType().isUnsignedInteger();
  SmallVector<int64_t> values;
  for (const APInt &entry : attribute.getValues<APInt>())
    values.push_back(isUnsigned
                         ? static_cast<int64_t>(
                               entry.getLimitedValue(INT64_MAX))
                         : entry.getSExtValue());
  return values;
}

ShapeBuilder::ShapeBuilder(RankedTensorType type) {
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    addDim(type, dim);
}

void ShapeBuilder::add(int64_t size, int64_t bound) {
  sizes.push_back(size);
  bounds.push_back(ShapedType::isDynamic(size) ? bound : ShapedType::kDynamic);
}

void ShapeBuilder::addDim(RankedTensorType type, int64_t dim) {
  add(type.getDimSize(dim), boundOf(type, dim));
}

void ShapeBuilder::set(int64_t dim, int64_t size, int64_t bound) {
  sizes[dim] = size;
  bounds[dim] = ShapedType::isDynamic(size) ? bound : ShapedType::kDynamic;
}

RankedTensorType ShapeBuilder::get(Type elementType) const {
  return getTensorType(sizes, elementType, bounds);
}

int64_t stablehlo::boundOf(RankedTensorType type, int64_t dim) {
  ArrayRef<int64_t> bounds = getBounds(type);
  return dim < static_cast<int64_t>(bounds.size()) ? bounds[dim]
                                                   : ShapedType::kDynamic;
}

RankedTensorType stablehlo::mergeShapes(TypeRange types) {
  RankedTensorType merged;
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return {};
    if (!merged) {
      merged = tensor;
      continue;
    }
    auto sameElement =
        ShapeBuilder(tensor).get(merged.getElementType());
    merged =
        dyn_cast_or_null<RankedTensorType>(mergeTypes(merged, sameElement));
    if (!merged)
      return {};
  }
  return merged;
}
