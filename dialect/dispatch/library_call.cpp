#include "dialect/dispatch/library_call.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace alula::dispatch;

static constexpr llvm::StringLiteral attributeName = "dispatch.call";

void alula::dispatch::setLibraryCall(EntryOp entry, const LibraryCall &call) {
  Builder b(entry.getContext());
  SmallVector<NamedAttribute> parts = {
      b.getNamedAttr("text", b.getStringAttr(call.text)),
      b.getNamedAttr("bindings", b.getDenseI64ArrayAttr(call.bindings))};
  if (call.isRequired)
    parts.push_back(b.getNamedAttr("required", b.getUnitAttr()));
  entry->setAttr(attributeName, b.getDictionaryAttr(parts));
}

std::optional<LibraryCall> alula::dispatch::getLibraryCall(EntryOp entry) {
  auto parts = entry->getAttrOfType<DictionaryAttr>(attributeName);
  if (!parts)
    return std::nullopt;
  auto text = parts.getAs<StringAttr>("text");
  auto bindings = parts.getAs<DenseI64ArrayAttr>("bindings");
  if (!text || !bindings)
    return std::nullopt;
  return LibraryCall{text.str(), SmallVector<int64_t>(bindings.asArrayRef()),
                     parts.contains("required")};
}
