// What is said where the properties of an op of another dialect are not what a
// portable artifact carries. The properties of the dialects at hand are, so
// one op is given others here.

#include "dialect/vhlo/byte_sink.h"
#include "dialect/vhlo/import_nodes.h"
#include "dialect/vhlo/property_reader.h"
#include "dialect/vhlo/property_writer.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace alula::vhlo {
namespace {

using Read = LogicalResult (*)(DialectBytecodeReader &);
using Write = void (*)(DialectBytecodeWriter &);

Read readCast;
Write writeCast;

struct CastModel
    : BytecodeOpInterface::ExternalModel<CastModel,
                                         UnrealizedConversionCastOp> {
  static LogicalResult readProperties(DialectBytecodeReader &reader,
                                      OperationState &) {
    return readCast(reader);
  }
  void writeProperties(Operation *, DialectBytecodeWriter &writer) const {
    writeCast(writer);
  }
};

class PropertyTest : public ::testing::Test {
protected:
  PropertyTest() : context(MLIRContext::Threading::DISABLED) {
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    artifact.containerVersion = 6;
  }

  /// Why `read` can't have `bytes`. Without it, the op can't read any.
  std::string problem(std::string_view bytes, Read read) {
    if (read)
      UnrealizedConversionCastOp::attachInterface<CastModel>(context);
    readCast = read;
    Location where = UnknownLoc::get(&context);
    ArtifactDiagnostics diagnostics(where);
    NodeImporter nodes(artifact, &context, diagnostics);
    Properties properties;
    properties.bytes = {reinterpret_cast<const uint8_t *>(bytes.data()),
                        bytes.size()};
    OperationState state(where, UnrealizedConversionCastOp::getOperationName());
    message.clear();
    EXPECT_TRUE(failed(readOwnProperties(artifact, nodes, properties, state)));
    StringRef text = message;
    EXPECT_TRUE(text.consume_front("portable artifact: byte ")) << message;
    return text.split(": ").second.str();
  }

  std::string refusal(Write write) {
    UnrealizedConversionCastOp::attachInterface<CastModel>(context);
    writeCast = write;
    OpBuilder builder(&context);
    OwningOpRef<UnrealizedConversionCastOp> op =
        builder.create<UnrealizedConversionCastOp>(
            builder.getUnknownLoc(), TypeRange(), ValueRange());
    NodeExporter nodes(artifact, /*allowOtherDialects=*/true);
    Properties properties;
    message.clear();
    EXPECT_TRUE(failed(writeOwnProperties(
        *op, nodes, artifact.containerVersion, properties)));
    return message;
  }

  MLIRContext context;
  Artifact artifact;
  std::string message;
};

TEST_F(PropertyTest, NoReader) {
  EXPECT_EQ(problem({}, nullptr),
            "'builtin.unrealized_conversion_cast' has properties but no way "
            "to read them");
}

TEST_F(PropertyTest, Reading) {
  ByteSink five;
  five.writeFlagged(5, true);
  EXPECT_EQ(problem(five.str(),
                    [](DialectBytecodeReader &reader) {
                      Attribute attribute;
                      return reader.readOptionalAttribute(attribute);
                    }),
            "attribute index 5 is out of range");
  EXPECT_EQ(problem(five.str(),
                    [](DialectBytecodeReader &) { return success(); }),
            "bytes are left over behind the properties of "
            "'builtin.unrealized_conversion_cast'");
  EXPECT_EQ(problem(five.str(),
                    [](DialectBytecodeReader &reader) -> LogicalResult {
                      return reader.readAPIntWithKnownWidth(8);
                    }),
            "numbers outside of attributes are not portable");
  EXPECT_EQ(problem(five.str(),
                    [](DialectBytecodeReader &reader) -> LogicalResult {
                      return reader.readAPFloatWithKnownSemantics(
                          APFloat::IEEEsingle());
                    }),
            "numbers outside of attributes are not portable");
  EXPECT_EQ(problem(five.str(),
                    [](DialectBytecodeReader &reader) -> LogicalResult {
                      return reader.readResourceHandle<
                          DenseResourceElementsHandle>();
                    }),
            "resources are not portable");
}

TEST_F(PropertyTest, Writing) {
  EXPECT_EQ(refusal([](DialectBytecodeWriter &writer) {
              writer.writeAPIntWithKnownWidth(APInt(8, 5));
            }),
            "'builtin.unrealized_conversion_cast' op has properties that a "
            "portable artifact can't carry");
}

} // namespace
} // namespace alula::vhlo
