#include "dialect/vhlo/property_writer.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"

using namespace mlir;

namespace alula::vhlo {
namespace {

/// What MLIR's generated code writes properties to.
class PropertyWriter : public DialectBytecodeWriter {
public:
  PropertyWriter(NodeExporter &nodes, uint32_t containerVersion,
                 Properties &properties)
      : nodes(nodes), containerVersion(containerVersion),
        items(properties.items) {}

  /// Set once something was written that the portable form can't carry.
  bool isBeyondReach() const { return beyondReach; }

  void writeAttribute(Attribute attribute) override {
    add(PropertyItem::Kind::Attribute, nodes.builtinAttribute(attribute));
  }
  void writeOptionalAttribute(Attribute attribute) override {
    add(PropertyItem::Kind::OptionalAttribute,
        attribute ? nodes.builtinAttribute(attribute) : none);
  }
  void writeType(Type type) override {
    add(PropertyItem::Kind::Type, nodes.builtinType(type));
  }
  void writeVarInt(uint64_t value) override {
    add(PropertyItem::Kind::VarInt, value);
  }
  void writeSignedVarInt(int64_t value) override {
    writeVarInt(uint64_t(value) << 1 ^ uint64_t(value >> 63));
  }
  void writeOwnedString(StringRef text) override {
    add(PropertyItem::Kind::String, nodes.string(text));
  }
  void writeOwnedBlob(ArrayRef<char> blob) override {
    writeVarInt(blob.size());
    for (char byte : blob)
      add(PropertyItem::Kind::Byte, uint8_t(byte));
  }
  void writeOwnedBool(bool value) override {
    add(PropertyItem::Kind::Byte, value);
  }
  void writeResourceHandle(const AsmDialectResourceHandle &) override {
    beyondReach = true;
  }
  void writeAPIntWithKnownWidth(const APInt &) override { beyondReach = true; }
  void writeAPFloatWithKnownSemantics(const APFloat &) override {
    beyondReach = true;
  }
  int64_t getBytecodeVersion() const override { return containerVersion; }
  FailureOr<const DialectVersion *>
  getDialectVersion(StringRef) const override {
    return failure();
  }

private:
  void add(PropertyItem::Kind kind, uint64_t value) {
    items.push_back({kind, value});
  }

  NodeExporter &nodes;
  uint32_t containerVersion;
  std::vector<PropertyItem> &items;
  bool beyondReach = false;
};

} // namespace

FailureOr<bool> writeOwnProperties(Operation *op, NodeExporter &nodes,
                                   uint32_t containerVersion,
                                   Properties &properties) {
  auto interface = dyn_cast<BytecodeOpInterface>(op);
  if (!interface)
    return false;
  PropertyWriter writer(nodes, containerVersion, properties);
  interface.writeProperties(writer);
  if (writer.isBeyondReach())
    return op->emitOpError("has properties that a portable artifact can't "
                           "carry");
  return true;
}

} // namespace alula::vhlo
