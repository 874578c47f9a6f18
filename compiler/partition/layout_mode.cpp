#include "compiler/partition/layout_mode.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace alula::partition;

Order alula::partition::invert(ArrayRef<int64_t> order) {
  Order inverse(order.size());
  for (auto [i, dim] : llvm::enumerate(order))
    inverse[dim] = i;
  return inverse;
}

std::string alula::partition::printOrder(ArrayRef<int64_t> order) {
  std::string text;
  for (int64_t dim : llvm::reverse(order))
    text += (text.empty() ? "{" : ",") + std::to_string(dim);
  return text.empty() ? "{}" : text + "}";
}

namespace {
/// What follows the dimensions: "T(8,128)E(4)S(5)". Sizes of elements must be
/// those of the type, and memory spaces are said elsewhere.
std::string checkSuffix(StringRef suffix, Type type) {
  while (!suffix.empty()) {
    auto [name, rest] = suffix.split('(');
    auto [content, next] = rest.split(')');
    suffix = next;
    int64_t number;
    if (name == "T")
      return "has tiles, which are not implemented";
    if (name == "S" && !content.getAsInteger(10, number))
      continue;
    if (name == "E" && !content.getAsInteger(10, number)) {
      Type element = getElementTypeOrSelf(type);
      if (element.isIntOrFloat() && element.getIntOrFloatBitWidth() == number)
        continue;
      return "has elements of " + std::to_string(number) + " bits";
    }
    return "has '" + name.str() + "', which is not implemented";
  }
  return "";
}

/// False unless the text is a permutation of the dimensions.
bool readOrder(StringRef text, int64_t rank, Order &order) {
  SmallVector<StringRef> dims;
  text.split(dims, ',', -1, /*KeepEmpty=*/false);
  SmallVector<bool> seen(rank, false);
  for (StringRef dim : llvm::reverse(dims)) {
    int64_t number;
    if (dim.trim().getAsInteger(10, number) || number < 0 || number >= rank ||
        std::exchange(seen[number], true))
      return false;
    order.push_back(number);
  }
  return static_cast<int64_t>(order.size()) == rank;
}
} // namespace

FailureOr<LayoutMode> alula::partition::readLayoutMode(Attribute mode,
                                                       Type type,
                                                       std::string &error) {
  LayoutMode result;
  auto array = dyn_cast<RankedTensorType>(type);
  if (!array)
    return result;
  auto given = dyn_cast_or_null<StringAttr>(mode);
  StringRef text = given ? given.getValue().trim() : "default";
  if (text == "auto") {
    result.isAuto = true;
    return result;
  }
  if (text == "default" || text.empty()) {
    result.order = getRowMajor(array.getRank());
    return result;
  }
  if (!text.consume_front("{") || !text.consume_back("}")) {
    error = "is not 'default', 'auto' or a list of dimensions in braces";
    return failure();
  }
  auto [dims, suffix] = text.split(':');
  error = checkSuffix(suffix, type);
  if (!error.empty())
    return failure();
  if (!readOrder(dims, array.getRank(), result.order)) {
    error =
        "does not order the " + std::to_string(array.getRank()) + " dimensions";
    return failure();
  }
  return result;
}
