// Constants as the artifact's writer takes them.

#include "compiler/emit/constant_bytes.h"

#include "dialect/dispatch/constant_bytes.h"

using namespace mlir;

std::optional<uint32_t>
alula::emit::addConstant(artifact::ArtifactWriter &writer, ElementsAttr value,
                         uint32_t type) {
  auto bytes = dispatch::getConstantBytes(value);
  if (!bytes)
    return std::nullopt;
  if (!bytes->borrowed.empty())
    return writer.addBorrowedConstant(
        {bytes->borrowed.data(), bytes->borrowed.size()}, type);
  return writer.addConstant(std::move(bytes->owned), type);
}
