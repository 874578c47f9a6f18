#include "dialect/newer/source.h"
#include "dialect/sdy/dialect.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/vhlo/reader.h"
#include "dialect/vhlo/writer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace alula::vhlo {
namespace {

class PortableTest : public ::testing::Test {
protected:
  PortableTest() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<func::FuncDialect, stablehlo::StablehloDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    OwningOpRef<ModuleOp> module = newer::parseSource(text, &context, "test");
    EXPECT_TRUE(module) << message;
    return module;
  }

  std::string write(ModuleOp module, Version version,
                    bool allowOtherDialects = false) {
    std::string bytes;
    EXPECT_TRUE(
        succeeded(writePortable(module, {version, allowOtherDialects}, bytes)))
        << version.str() << ": " << message;
    return bytes;
  }

  /// Why a program can't be written at a version.
  std::string refusal(StringRef text, Version version,
                      bool allowOtherDialects = false) {
    OwningOpRef<ModuleOp> module = parse(text);
    std::string bytes;
    message.clear();
    EXPECT_TRUE(
        failed(writePortable(*module, {version, allowOtherDialects}, bytes)));
    return message;
  }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    newer::printOperation(module, os, OpPrintingFlags().enableDebugInfo());
    return text;
  }

  MLIRContext context;
  std::string message;
};

std::vector<Version> allVersions() {
  std::vector<Version> versions;
  for (uint32_t minor = 9; minor <= 20; ++minor)
    versions.push_back({0, minor, 0});
  for (uint32_t minor = 0; minor <= 20; ++minor)
    versions.push_back({1, minor, 0});
  return versions;
}

/// Each part is written at each version that can say it, read back, and must
/// be the same; one version below must refuse it.
TEST_F(PortableTest, EveryOpAtEveryVersion) {
  auto buffer =
      llvm::MemoryBuffer::getFile("dialect/vhlo/test/Inputs/every_op.mlir");
  ASSERT_TRUE(bool(buffer));
  SmallVector<StringRef> parts;
  (*buffer)->getBuffer().split(parts, "// -----\n");
  ASSERT_GT(parts.size(), 30u);
  for (StringRef part : parts) {
    StringRef needs = part.split("// needs ").second.split('\n').first;
    SCOPED_TRACE(part.take_front(200).str());
    std::optional<Version> lowest = Version::parse(std::string_view(needs));
    ASSERT_TRUE(lowest);
    OwningOpRef<ModuleOp> module = parse(part);
    ASSERT_TRUE(module);
    FailureOr<Version> measured = lowestVersion(*module);
    ASSERT_TRUE(succeeded(measured)) << message;
    EXPECT_EQ(measured->str(), lowest->str());
    std::string first;
    for (Version version : allVersions()) {
      if (version < *lowest) {
        std::string bytes;
        message.clear();
        EXPECT_TRUE(failed(writePortable(*module, {version}, bytes)));
        EXPECT_NE(message.find("needs version "), std::string::npos);
        EXPECT_NE(message.find(", target is " + version.str()),
                  std::string::npos)
            << message;
        continue;
      }
      std::string bytes = write(*module, version);
      EXPECT_EQ(write(*module, version), bytes);
      EXPECT_TRUE(isPortableArtifact(bytes));
      EXPECT_EQ(portableVersion(bytes), version);
      OwningOpRef<ModuleOp> back = readPortable(bytes, &context);
      ASSERT_TRUE(back) << version.str() << ": " << message;
      if (first.empty())
        first = print(*back);
      EXPECT_EQ(print(*back), first) << version.str();
      EXPECT_EQ(write(*back, version), bytes) << version.str();
    }
  }
}

TEST_F(PortableTest, LocationsSurvive) {
  OwningOpRef<ModuleOp> module = parse(R"(
func.func @f(%a: tensor<f32> loc("a")) -> tensor<f32> {
  %0 = "stablehlo.abs"(%a) : (tensor<f32>) -> tensor<f32> loc(callsite("g"("f.py":3:7) at fused<"m">["f.py":1:2, unknown]))
  %1 = "stablehlo.abs"(%0) : (tensor<f32>) -> tensor<f32> loc(fused["x", "f.py":4:5])
  return %1 : tensor<f32> loc(unknown)
} loc("f.py":9:9)
)");
  for (Version version : {Version{0, 9, 0}, Version::current()}) {
    OwningOpRef<ModuleOp> back =
        readPortable(write(*module, version), &context);
    ASSERT_TRUE(back) << message;
    EXPECT_EQ(print(*back), print(*module));
  }
}

TEST_F(PortableTest, ModuleAttributes) {
  OwningOpRef<ModuleOp> module = parse(R"(
module @m attributes {x.a = 1 : i32, x.b = "s", x.c = [unit, @x::@y], x.d = array<i64: 1, 2>, x.e = dense<[1, 2]> : tensor<2xi8>, x.g = 0.5 : f16, x.h = affine_map<(i) -> (i)>, x.i = {n = tensor<?xf32>}, x.j = 5 : i100} {
}
)");
  OwningOpRef<ModuleOp> back =
      readPortable(write(*module, Version::current()), &context);
  ASSERT_TRUE(back) << message;
  EXPECT_EQ(print(*back), print(*module));
}

TEST_F(PortableTest, Refusals) {
  EXPECT_EQ(refusal("func.func @f(%a: tensor<f32>) { %0 = stablehlo.tan %a : "
                    "tensor<f32>\n return }",
                    {1, 0, 0}),
            "'stablehlo.tan' op needs version 1.4.0, target is 1.0.0");
  EXPECT_EQ(
      refusal("func.func @f(%a: tensor<f32>) { %0 = \"stablehlo.custom_call\""
              "(%a) {call_target_name = \"c\", api_version = 4 : i32} : "
              "(tensor<f32>) -> tensor<f32>\n return }",
              {1, 2, 0}),
      "'stablehlo.custom_call' op with a typed configuration needs version "
      "1.3.0, target is 1.2.0");
  EXPECT_EQ(refusal("func.func @f(%a: tensor<2xi2>) { return }", {1, 1, 0}),
            "'func.func' op attribute (tensor<2xi2>) -> () needs version "
            "1.2.0, target is 1.1.0");
  EXPECT_EQ(refusal("func.func @f(%a: tensor<i7>) { return }", {1, 1, 0}),
            "'func.func' op type i7 has no portable form");
  EXPECT_EQ(refusal("func.func @f() attributes {a} { return }", {1, 1, 0}),
            "'func.func' op attribute unit has no portable form");
  EXPECT_EQ(
      refusal("module { module {} \n func.func @f() { return } }", {2, 0, 0}),
      "target version 2.0.0 is not one of 0.9.0 to 1.20.0");
  EXPECT_EQ(refusal("", {0, 8, 0}),
            "target version 0.8.0 is not one of 0.9.0 to 1.20.0");
  EXPECT_EQ(refusal("func.func @f() { %0 = builtin.unrealized_conversion_cast "
                    "to tensor<f32>\n return }",
                    {1, 1, 0}),
            "'builtin.unrealized_conversion_cast' op is not an operation of "
            "StableHLO or func, which alone are portable");
  // The portable form calls the number of a channel so.
  EXPECT_EQ(refusal("func.func @f(%a: tensor<4x4xf32>) { %0 = "
                    "\"stablehlo.all_gather\"(%a) {all_gather_dim = 0 : i64, "
                    "replica_groups = dense<0> : tensor<1x1xi64>, "
                    "channel_id = 1 : i64} : (tensor<4x4xf32>) -> "
                    "tensor<4x4xf32>\n return }",
                    Version::current()),
            "'stablehlo.all_gather' op attribute 'channel_id' is not what its "
            "portable form holds: 1 : i64");
}

TEST_F(PortableTest, RefusesBlocksThatBranch) {
  context.allowUnregisteredDialects();
  EXPECT_EQ(refusal("func.func @f() { \"t.br\"()[^bb1] : () -> ()\n"
                    "^bb1: return }",
                    {1, 1, 0}, /*allowOtherDialects=*/true),
            "'t.br' op has successor blocks, which a portable artifact can't "
            "carry");
}

TEST_F(PortableTest, RefusesUnverifiedOps) {
  // The first op of a function is changed behind the verifier's back.
  auto changed = [&](const Twine &body, void (*change)(Operation *)) {
    OwningOpRef<ModuleOp> module =
        parse(("func.func @f(%a: tensor<4x4xf32>) { " + body + "\n return }")
                  .str());
    auto function = cast<func::FuncOp>(module->getBody()->front());
    change(&function.getBody().front().front());
    std::string bytes;
    message.clear();
    EXPECT_TRUE(failed(writePortable(*module, {Version::current()}, bytes)));
    return message;
  };
  EXPECT_EQ(changed("%0 = stablehlo.iota dim = 0 : tensor<4xf32>",
                    [](Operation *op) { op->removeAttr("iota_dimension"); }),
            "'stablehlo.iota' op has no attribute for 'iota_dimension' of its "
            "portable form");
  EXPECT_EQ(changed("%0 = stablehlo.abs %a : tensor<4x4xf32>",
                    [](Operation *op) { op->setOperand(0, op->getResult(0)); }),
            "'stablehlo.abs' op uses a value before it is defined");
}

TEST_F(PortableTest, OtherDialectsAreCarried) {
  OwningOpRef<ModuleOp> module = parse(R"(
func.func @f(%a: tensor<f32>) -> tensor<i32> attributes {u, m = affine_map<(i) -> (i)>} {
  %0 = builtin.unrealized_conversion_cast %a : tensor<f32> to tensor<i32>
  %1 = stablehlo.abs %0 : tensor<i32>
  return %1 : tensor<i32>
}
)");
  for (Version version : {Version{0, 9, 0}, Version::current()}) {
    OwningOpRef<ModuleOp> back = readPortable(
        write(*module, version, /*allowOtherDialects=*/true), &context);
    ASSERT_TRUE(back) << message;
    EXPECT_EQ(print(*back), print(*module));
  }
  EXPECT_EQ(lowestVersion(*module, /*allowOtherDialects=*/true)->str(),
            "1.11.0");
}

TEST_F(PortableTest, Sharding) {
  context.loadDialect<mlir::sdy::SdyDialect>();
  auto buffer =
      llvm::MemoryBuffer::getFile("dialect/vhlo/test/Inputs/sharding.mlir");
  ASSERT_TRUE(bool(buffer));
  OwningOpRef<ModuleOp> module = parse((*buffer)->getBuffer());
  for (Version version : {Version{0, 9, 0}, Version{0, 14, 0},
                          Version{1, 17, 0}, Version::current()}) {
    std::string bytes = write(*module, version, /*allowOtherDialects=*/true);
    EXPECT_EQ(bytes.find("#sdy"), std::string::npos);
    MLIRContext fresh(MLIRContext::Threading::DISABLED);
    OwningOpRef<ModuleOp> back = readPortable(bytes, &fresh);
    ASSERT_TRUE(back);
    EXPECT_EQ(print(*back), print(*module));
  }
}

} // namespace
} // namespace alula::vhlo
