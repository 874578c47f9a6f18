#include "tools/interpret/tensor_value.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mlir;

namespace alula::interpret {
namespace {

/// The element type of dtype.h that stores a kind: they share MLIR's names.
alula_dtype findType(reference::Kind kind) {
  alula_dtype type = ALULA_DTYPE_INVALID;
  std::vector<int64_t> shape;
  std::string error;
  values::parseType(reference::getName(kind).str(), type, shape, error);
  return type;
}

} // namespace

bool toTensor(const values::Value &value, Type type,
              reference::Tensor &tensor, std::string &error) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  std::optional<reference::Kind> kind =
      shaped ? reference::getKind(shaped.getElementType()) : std::nullopt;
  llvm::raw_string_ostream os(error);
  if (!kind) {
    os << "the argument is no tensor: " << type;
    return false;
  }
  std::string given = values::printType(value.type, value.shape);
  if (findType(*kind) != value.type) {
    os << "the argument is " << type << ", the input is " << given;
    return false;
  }
  std::optional<reference::Tensor> made = reference::makeTensor(
      shaped.getElementType(), value.shape, {value.data.get(), value.size});
  if (!made) {
    os << "cannot use " << given << " as " << type;
    return false;
  }
  tensor = std::move(*made);
  return true;
}

bool fromTensor(const reference::Tensor &tensor, values::Value &value,
                std::string &error) {
  alula_dtype type = findType(tensor.getKind());
  if (type == ALULA_DTYPE_INVALID) {
    error = "no such value type";
    return false;
  }
  std::vector<int64_t> shape(tensor.getDims().begin(), tensor.getDims().end());
  if (!values::createValue(type, std::move(shape), value, error))
    return false;
  if (value.size != tensor.getByteSize()) {
    error = "element sizes differ";
    return false;
  }
  std::memcpy(value.data.get(), tensor.getData(), value.size);
  return true;
}

} // namespace alula::interpret
