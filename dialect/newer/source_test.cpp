#include "dialect/newer/attributes.h"
#include "dialect/newer/dialect.h"
#include "dialect/newer/source.h"
#include "dialect/newer/types.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Quant/QuantOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace alula::newer;
using namespace mlir;

namespace {

class SourceTest : public testing::Test {
protected:
  SourceTest() {
    context.allowUnregisteredDialects();
    context.getOrLoadDialect<quant::QuantizationDialect>();
    context.getOrLoadDialect<NewerDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return;
      if (auto loc = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
        errors += std::to_string(loc.getLine()) + ":" +
                  std::to_string(loc.getColumn()) + ": ";
      errors += diagnostic.str() + "\n";
    });
  }

  /// The text after a round trip.
  std::string print(StringRef text) {
    OwningOpRef<ModuleOp> module = parseSource(text, &context);
    if (!module)
      return errors;
    std::string printed;
    llvm::raw_string_ostream os(printed);
    printOperation(*module, os);
    return printed;
  }

  /// What one operation with the attribute `a` prints for it.
  std::string roundTrip(StringRef attribute) {
    std::string printed =
        print(("\"t.op\"() {a = " + attribute + "} : () -> ()").str());
    StringRef inner = printed;
    size_t begin = inner.find("{a = "), end = inner.rfind("} : ()");
    return begin == StringRef::npos ? printed
                                    : inner.slice(begin + 5, end).str();
  }

  std::string error(StringRef attribute) {
    errors.clear();
    roundTrip(attribute);
    return errors;
  }

  Attribute parse(StringRef attribute) {
    OwningOpRef<ModuleOp> module = parseSource(
        ("\"t.op\"() {a = " + attribute + "} : () -> ()").str(), &context);
    return module ? module->getBody()->front().getAttr("a") : Attribute();
  }

  MLIRContext context;
  std::string errors;
};

} // namespace

TEST_F(SourceTest, BridgedTypesComeBackAsWritten) {
  for (StringRef text :
       {"tensor<4xf8E3M4>", "tensor<0x?xf8E8M0FNU>", "f6E2M3FN",
        "(tensor<f6E3M2FN>) -> tensor<2xf4E2M1FN>",
        "dense<1.500000e+00> : tensor<4xf8E3M4>",
        "dense<[[1.000000e+00, -0.000000e+00], [0x70, 0x78]]> : "
        "tensor<2x2xf8E3M4>",
        "dense<> : tensor<2x0xf4E2M1FN>",
        "dense<5.000000e-01> : tensor<f4E2M1FN>", "1.500000e+00 : f8E3M4",
        "0x78 : f8E3M4", "[-2.000000e+00 : f4E2M1FN, 5.000000e-01 : f8E8M0FNU]",
        "\"!f.f8E3M4 #f.dense< f8E3M4\"",
        "!quant.uniform<i8:f32:{0:2, 1:3}, {{1.000000e-01:1, "
        "2.000000e+00}, {3.000000e+00, 4.000000e+00:-2}}>",
        "!quant.uniform<u4<1:14>:bf16:{}, {1.000000e+00:3}>"})
    EXPECT_EQ(roundTrip(text), text);
}

TEST_F(SourceTest, LiteralsHoldCodes) {
  auto dense =
      dyn_cast_or_null<DenseBridgedAttr>(parse("dense<[1.0, 0x7F, -0.5]> : "
                                               "tensor<3xf8E3M4>"));
  ASSERT_TRUE(dense);
  EXPECT_EQ(dense.getRawCodes(), ArrayRef<uint8_t>({0x30, 0x7F, 0xA0}));
  EXPECT_TRUE(isBridgedFloat(dense.getElementType()));
  EXPECT_EQ(cast<ElementsAttr>(Attribute(dense)).getValues<uint8_t>()[2], 0xA0);
  // A string of bytes, masked to the width.
  dense = dyn_cast_or_null<DenseBridgedAttr>(
      parse("dense<\"0xFF01\"> : tensor<2xf4E2M1FN>"));
  ASSERT_TRUE(dense);
  EXPECT_EQ(dense.getRawCodes(), ArrayRef<uint8_t>({0x0F, 0x01}));
  dense = dyn_cast_or_null<DenseBridgedAttr>(
      parse("dense<[2.0, 2.0]> : tensor<2xf6E2M3FN>"));
  ASSERT_TRUE(dense);
  EXPECT_TRUE(dense.isSplat());
  EXPECT_EQ(parse("dense<2.0> : tensor<2xf6E2M3FN>"), dense);
}

TEST_F(SourceTest, NumbersHoldCodes) {
  auto number = dyn_cast_or_null<BridgedFloatAttr>(parse("1.5 : f8E3M4"));
  ASSERT_TRUE(number);
  EXPECT_EQ(number.getCode(), 0x38);
  EXPECT_EQ(number.getValue(), 1.5);
  EXPECT_EQ(cast<TypedAttr>(Attribute(number)).getType(),
            BridgedFloatType::get(&context, FloatFormat::F8E3M4));
}

TEST_F(SourceTest, BoolsOfEitherForm) {
  Attribute bools = parse("dense<[true, false, true]> : tensor<3xi1>");
  EXPECT_EQ(parse("dense<\"0x010001\"> : tensor<3xi1>"), bools);
  EXPECT_EQ(parse("dense<\"0x05\"> : tensor<3xi1>"), bools);
  EXPECT_EQ(parse("dense<\"0x01\"> : tensor<16xi1>"),
            parse("dense<true> : tensor<16xi1>"));
  // Past a hundred elements the printer turns to hex.
  std::string hex;
  for (int i = 0; i < 101; ++i)
    hex += i % 3 ? "01" : "00";
  std::string text = "dense<\"0x" + hex + "\"> : tensor<101xi1>";
  EXPECT_EQ(roundTrip(text), text);
}

TEST_F(SourceTest, RangesOfLocations) {
  OwningOpRef<ModuleOp> module =
      parseSource("\"t.op\"() : () -> () loc(\"f.py\":1:2 to 3:4)", &context);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->getBody()->front().getLoc(),
            Location(FileLineColLoc::get(&context, "f.py", 1, 2)));
}

TEST_F(SourceTest, BuildsLiteralsFromValues) {
  auto type = RankedTensorType::get(
      {3}, BridgedFloatType::get(&context, FloatFormat::F4E2M1FN));
  auto dense = DenseBridgedAttr::get(type, ArrayRef<double>{0.75, 100, -2});
  EXPECT_EQ(dense.getRawCodes(), ArrayRef<uint8_t>({0x2, 0x7, 0xC}));
  EXPECT_EQ(dense.getType(), type);
}

TEST_F(SourceTest, ErrorsOfLiterals) {
  EXPECT_EQ(error("dense<1> : tensor<2xf8E3M4>"),
            "1:21: dense literal: expected a float with a decimal point\n");
  EXPECT_EQ(error("dense<-0x1> : tensor<2xf8E3M4>"),
            "1:21: dense literal: hexadecimal float has a minus sign\n");
  EXPECT_EQ(error("dense<0x40> : tensor<2xf6E2M3FN>"),
            "1:21: dense literal: hexadecimal float out of range for "
            "'!f.f6E2M3FN'\n");
  EXPECT_EQ(error("dense<[1.0]> : tensor<2xf8E3M4>"),
            "1:26: dense literal: 1 elements in dimension 0 of "
            "'tensor<2x!f.f8E3M4>'\n");
  EXPECT_EQ(error("dense<[1.0, [2.0]]> : tensor<2xf8E3M4>"),
            "1:27: dense literal: nested deeper than the rank of "
            "'tensor<2x!f.f8E3M4>'\n");
  EXPECT_EQ(error("dense<[1.0, 2.0]> : tensor<2x1xf8E3M4>"),
            "1:22: dense literal: element at depth 1 of "
            "'tensor<2x1x!f.f8E3M4>'\n");
  EXPECT_EQ(error("dense<[1.0 2.0]> : tensor<2xf8E3M4>"),
            "1:26: dense literal: expected ',' or ']'\n");
  EXPECT_EQ(error("dense<1.0 2> : tensor<2xf8E3M4>"),
            "1:25: dense literal: expected '>'\n");
  EXPECT_EQ(error("dense<> : tensor<2xf8E3M4>"),
            "1:21: dense literal: holds 0 elements, but "
            "'tensor<2x!f.f8E3M4>' has 2\n");
  EXPECT_EQ(error("dense<\"0x010203\"> : tensor<2xf8E3M4>"),
            "1:21: dense literal: hex string holds 3 bytes, but "
            "'tensor<2x!f.f8E3M4>' has 2 elements of one byte each\n");
  EXPECT_EQ(error("dense<\"abc\"> : tensor<2xf8E3M4>"),
            "1:21: dense literal: expected a string of hex digits that starts "
            "with 0x\n");
  EXPECT_EQ(error("dense<1.0> : tensor<?xf8E3M4>"),
            "1:15: dense literal: shape must be static: "
            "'tensor<?x!f.f8E3M4>'\n");
  EXPECT_EQ(error("dense<1.0> : f8E3M4"),
            "1:15: dense literal: type must be shaped\n");
  EXPECT_EQ(error("#f.dn<1.0> : tensor<2xf32>"),
            "1:15: dense literal: not a bridged element type: "
            "'tensor<2xf32>'\n");
  EXPECT_EQ(error("#f.dn<true> : tensor<2xi1>"),
            "1:21: dense literal: expected a string of hex digits for "
            "'tensor<2xi1>'\n");
  EXPECT_EQ(error("#f.x<1.0> : i32"), "1:15: unknown attribute: #f.x<1.0>\n");
  EXPECT_EQ(error("#f.number<1.0> : f32"),
            "1:15: number: not a bridged type\n");
  EXPECT_EQ(error("-0x1 : f8E3M4"),
            "1:22: dense literal: hexadecimal float has a minus sign\n");
  EXPECT_EQ(error("!f.x"), "1:15: unknown type: !f.x\n");
}

TEST_F(SourceTest, ErrorsOfSubChannelTypes) {
  auto quant = [&](StringRef parameters) {
    return error(("!quant.uniform<" + parameters + ">").str());
  };
  EXPECT_EQ(quant("i64:f32:{0:2}, {1.0}"),
            "1:30: quantized type: storage type must be an integer of 1 to 32 "
            "bits: i64\n");
  EXPECT_EQ(quant("u40:f32:{0:2}, {1.0}"),
            "1:30: quantized type: storage type must be an integer of 1 to 32 "
            "bits: u40\n");
  EXPECT_EQ(quant("i8<-200:7>:f32:{0:2}, {1.0}"),
            "1:15: quantized type: storage range must lie inside -128:127: "
            "-200:7\n");
  EXPECT_EQ(quant("i8:f32:{0:0}, {1.0}"),
            "1:15: quantized type: block size must be positive: 0\n");
  EXPECT_EQ(quant("i8:f32:{-1:2}, {1.0}"),
            "1:15: quantized type: quantized dimension must not be negative: "
            "-1\n");
  EXPECT_EQ(quant("i8:f32:{1:2}, {1.0}"),
            "1:15: quantized type: quantized dimension must be less than the "
            "rank of the scales: 1 and 1\n");
  EXPECT_EQ(quant("i8:f32:{0:2}, {-1.0}"),
            "1:15: quantized type: scale must be positive and finite: "
            "-1.000000e+00\n");
  EXPECT_EQ(quant("i8:f32:{0:2}, {1.0:300}"),
            "1:15: quantized type: zero point must lie inside the storage "
            "range -128:127: 300\n");
  EXPECT_EQ(quant("i8:f32:{0:2}, {1.0, {2.0}}"),
            "1:50: quantized type: scales must nest evenly\n");
  EXPECT_EQ(quant("i8:f32:{0:2}, {{1.0}, {2.0, 3.0}}"),
            "1:52: quantized type: scales must nest evenly: 2 and 1 at depth "
            "1\n");
}

TEST_F(SourceTest, SubChannelTypesMadeByCode) {
  Builder builder(&context);
  auto floats = [&](ArrayRef<float> values) {
    return DenseElementsAttr::get(
        RankedTensorType::get({int64_t(values.size())}, builder.getF32Type()),
        values);
  };
  auto bytes = [&](ArrayRef<int8_t> values) {
    return DenseElementsAttr::get(
        RankedTensorType::get({int64_t(values.size())}, builder.getI8Type()),
        values);
  };
  int32_t dims[] = {0};
  int64_t sizes[] = {2, 2};
  SubChannelQuantization good = {/*isSigned=*/true,
                                 builder.getI8Type(),
                                 builder.getF32Type(),
                                 -128,
                                 127,
                                 dims,
                                 ArrayRef(sizes).take_front(),
                                 floats({1}),
                                 bytes({0})};
  auto refusal = [&](const SubChannelQuantization &quantization) {
    errors.clear();
    Location where = builder.getUnknownLoc();
    SubChannelQuantizedType::getChecked([&] { return emitError(where); },
                                        &context, quantization);
    return errors;
  };
  EXPECT_EQ(refusal(good), "");
  SubChannelQuantization bad = good;
  bad.expressedType = builder.getI32Type();
  EXPECT_EQ(refusal(bad),
            "quantized type: expressed type must be a float: 'i32'\n");
  bad = good;
  bad.blockSizes = sizes;
  EXPECT_EQ(refusal(bad), "quantized type: one block size for each quantized "
                          "dimension: 2 for 1\n");
  bad = good;
  bad.zeroPoints = bytes({0, 0});
  EXPECT_EQ(refusal(bad),
            "quantized type: scales and zero points must have one shape\n");
}

TEST_F(SourceTest, TextIsAtMostFourGigabytes) {
  // The size is looked at before the text, so it needn't be there.
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(
          StringRef("module {}", uint64_t(1) << 32), "huge",
          /*RequiresNullTerminator=*/false),
      llvm::SMLoc());
  EXPECT_FALSE(parseSource(sources, &context));
  EXPECT_EQ(errors, "1:1: source text: larger than 4294967295 bytes: "
                    "4294967296\n");
}

TEST_F(SourceTest, LimitsAreErrorsAtTheirPlace) {
  EXPECT_EQ(print("\n  \"t.op\"() : () -> tensor<4294967296x4294967296xi8>"),
            "2:20: tensor type: more than 2^55 elements\n");
  errors.clear();
  EXPECT_EQ(print(std::string(600, '(')),
            "1:513: nested deeper than 512 levels\n");
}

TEST_F(SourceTest, ParserErrorsKeepTheirColumn) {
  EXPECT_EQ(print("\"t.op\"() {a = f8E3M4, b = } : () -> ()"),
            "1:26: expected attribute value\n");
}

TEST_F(SourceTest, LiteralsRefuseWhatTheAdapterNeverSaw) {
  EXPECT_FALSE(parseAttribute(
      "#f.dense<1.0> : tensor<4294967296x4294967296x!f.f8E3M4>", &context));
  EXPECT_NE(errors.find("dense literal: too many elements: "),
            std::string::npos);
}
