#include "dialect/vhlo/property_reader.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"

using namespace mlir;

namespace alula::vhlo {
namespace {

/// What MLIR's generated code reads properties from.
class PropertyReader : public DialectBytecodeReader {
public:
  PropertyReader(const Artifact &artifact, const NodeImporter &nodes,
                 MLIRContext *context, const Properties &properties)
      : artifact(artifact), nodes(nodes), context(context),
        start(properties.offset),
        cursor(properties.bytes, 0, properties.bytes.size(), problem) {}

  bool isAtEnd() const { return cursor.empty(); }

  InFlightDiagnostic emitError(const Twine &msg) const override {
    return nodes.getDiagnostics().error(start + cursor.offset()) << msg;
  }
  FailureOr<const DialectVersion *>
  getDialectVersion(StringRef) const override {
    return failure();
  }
  MLIRContext *getContext() const override { return context; }
  uint64_t getBytecodeVersion() const override {
    return artifact.containerVersion;
  }

  LogicalResult readAttribute(Attribute &result) override {
    uint32_t index;
    if (!cursor.readIndex(index, artifact.attributes.size(), "attribute index"))
      return report();
    result = nodes.attribute(index);
    return success();
  }
  LogicalResult readOptionalAttribute(Attribute &result) override {
    uint64_t index;
    bool present;
    if (!cursor.readFlagged(index, present, "an optional attribute"))
      return report();
    if (!present)
      return success();
    if (index >= artifact.attributes.size())
      return emitError("attribute index ") << index << " is out of range";
    result = nodes.attribute(index);
    return success();
  }
  LogicalResult readType(Type &result) override {
    uint32_t index;
    if (!cursor.readIndex(index, artifact.types.size(), "type index"))
      return report();
    result = nodes.type(index);
    return success();
  }
  LogicalResult readVarInt(uint64_t &result) override {
    if (!cursor.readVarInt(result, "a number"))
      return report();
    return success();
  }
  LogicalResult readSignedVarInt(int64_t &result) override {
    if (!cursor.readSigned(result, "a number"))
      return report();
    return success();
  }
  FailureOr<APInt> readAPIntWithKnownWidth(unsigned) override {
    return emitError("numbers outside of attributes are not portable");
  }
  FailureOr<APFloat>
  readAPFloatWithKnownSemantics(const llvm::fltSemantics &) override {
    return emitError("numbers outside of attributes are not portable");
  }
  LogicalResult readString(StringRef &result) override {
    uint32_t index;
    if (!cursor.readIndex(index, artifact.strings.size(), "string index"))
      return report();
    result = artifact.strings[index];
    return success();
  }
  LogicalResult readBlob(ArrayRef<char> &result) override {
    size_t size;
    Bytes bytes;
    if (!cursor.readCount(size, 1, "a blob's size") ||
        !cursor.readBytes(size, bytes, "a blob"))
      return report();
    result = {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
    return success();
  }
  LogicalResult readBool(bool &result) override {
    uint8_t byte;
    if (!cursor.readByte(byte, "a boolean"))
      return report();
    result = byte != 0;
    return success();
  }

private:
  FailureOr<AsmDialectResourceHandle> readResourceHandle() override {
    return emitError("resources are not portable");
  }
  LogicalResult report() const {
    nodes.getDiagnostics().error(start + problem.offset) << problem.text;
    return failure();
  }
  const Artifact &artifact;
  const NodeImporter &nodes;
  MLIRContext *context;
  size_t start;
  Error problem;
  ByteCursor cursor;
};

} // namespace

LogicalResult readOwnProperties(const Artifact &artifact,
                                const NodeImporter &nodes,
                                const Properties &properties,
                                OperationState &state) {
  PropertyReader reader(artifact, nodes, state.getContext(), properties);
  auto *interface = state.name.getInterface<BytecodeOpInterface>();
  if (!interface)
    return reader.emitError("'")
           << state.name << "' has properties but no way to read them";
  if (failed(interface->readProperties(reader, state)))
    return failure();
  if (!reader.isAtEnd())
    return reader.emitError("bytes are left over behind the properties of '")
           << state.name << "'";
  return success();
}

} // namespace alula::vhlo
