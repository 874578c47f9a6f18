#include "dialect/newer/adapt.h"

#include "gtest/gtest.h"

using namespace alula::newer;

static std::string repeat(llvm::StringRef text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i)
    result += text;
  return result;
}

static std::string refusal(llvm::StringRef text) {
  Adaptation result = adapt(text);
  if (!result.refusal)
    return "none";
  return std::to_string(result.refusal->offset) + ": " +
         result.refusal->message;
}

static void expectSame(llvm::StringRef text) {
  EXPECT_EQ(adaptText(text), text);
}

TEST(Adapt, FloatTypes) {
  EXPECT_EQ(adaptText("tensor<4x2xf8E3M4>"), "tensor<4x2x!f.8e3>");
  EXPECT_EQ(adaptText("tensor<0xf8E3M4>"), "tensor<0x!f.8e3>");
  EXPECT_EQ(adaptText("tensor<?xf8E8M0FNU>"), "tensor<?x!f.8E8M0U>");
  EXPECT_EQ(adaptText("tensor<f6E2M3FN>"), "tensor<!f.6E2M3>");
  EXPECT_EQ(adaptText("(f6E3M2FN) -> f4E2M1FN"), "(!f.6E3M2) -> !f.4E2M1");
  EXPECT_EQ(adaptText("!a.buffer<4x8xf4E2M1FN>"), "!a.buffer<4x8x!f.4E2M1>");
}

TEST(Adapt, LeavesOtherWordsAlone) {
  expectSame("\"f8E3M4\" // f8E3M4");
  expectSame("\"a\\\"f8E3M4\"");
  expectSame("%f8E3M4 @f8E3M4 ^f8E3M4 #f8E3M4 !f8E3M4");
  expectSame("{f8E3M4 = 1 : i32}");
  expectSame("tensor<4xf8E4M3FN> myf8E3M4 f8E3M4x");
}

TEST(Adapt, Numbers) {
  EXPECT_EQ(adaptText("1.0 : f8E3M4)"), "#f.8e3<1.0> )");
  EXPECT_EQ(adaptText("[-1.0e+2 : f4E2M1FN]"), "[#f.4E2M1<-1.0e+2> ]");
  EXPECT_EQ(adaptText("0x7F : f8E8M0FNU"), "#f.8E8M0U<0x7F> ");
  EXPECT_EQ(adaptText("(%0 : f8E3M4)"), "(%0 : !f.8e3)");
  EXPECT_EQ(adaptText("%a.1.0 : f8E3M4"), "%a.1.0 : !f.8e3");
}

TEST(Adapt, DenseOfBridgedTypes) {
  EXPECT_EQ(adaptText("dense<[1.0, 2.0]> : tensor<2xf8E3M4>"),
            "#f.dn<[1.0, 2.0]> : tensor<2x!f.8e3>");
  EXPECT_EQ(adaptText("!e = f8E3M4 !t = tensor<2x!e>\ndense<1.0> : !t"),
            "!e = !f.8e3 !t = tensor<2x!e>\n#f.dn<1.0> : !t");
  expectSame("dense<[1.0, 2.0]> : tensor<2xf32>");
  expectSame("dense<1> : !unknown");
}

TEST(Adapt, BoolsWithOneByteEach) {
  EXPECT_EQ(adaptText("dense<\"0x010001\"> : tensor<3xi1>"),
            "#f.dn<\"0x010001\"> : tensor<3xi1>");
  EXPECT_EQ(adaptText("dense<\"0x01\"> : tensor<16xi1>"),
            "#f.dn<\"0x01\"> : tensor<16xi1>");
  expectSame("dense<\"0x05\"> : tensor<3xi1>");
  expectSame("dense<\"0xFF\"> : tensor<16xi1>");
  expectSame("dense<\"0x0101\"> : tensor<2xi8>");
}

TEST(Adapt, LocationRanges) {
  EXPECT_EQ(adaptText("loc(\"f\":1:2 to 3:4)"), "loc(\"f\":1:2       )");
  EXPECT_EQ(adaptText("loc(\"n\"(\"f\":1:2 to :44))"),
            "loc(\"n\"(\"f\":1:2       ))");
  expectSame("loc(\"f\":1:2)");
  expectSame("loc(\"f to 3:4\":1:2)");
}

TEST(Adapt, SubChannel) {
  EXPECT_EQ(adaptText("!quant.uniform<i8<-8:7>:f32:{0:2}, {1.0}>"),
            "!f.qsubchannel<i8<-8:7>:f32:{0:2}, {1.0}>");
  expectSame("!quant.uniform<i8:f32:0, {1.0, 2.0}>");
  expectSame("!quant.uniform<i8:f32, 1.0:3>");
}

TEST(Adapt, RefusesDepth) {
  EXPECT_EQ(refusal(repeat("[", 512)), "none");
  EXPECT_EQ(refusal(repeat("[", 513)), "512: nested deeper than 512 levels");
  EXPECT_EQ(refusal(repeat("({[<>]})", 1000)), "none");
  std::string wide = "#a = [" + repeat("[]", 1000) + "]\n";
  EXPECT_EQ(refusal(wide), "none");
}

TEST(Adapt, RefusesChainsOfAliases) {
  std::string text = "#a0 = loc(unknown)\n";
  for (int i = 1; i < 3000; ++i)
    text += "#a" + std::to_string(i) + " = loc(callsite(#a0 at #a" +
            std::to_string(i - 1) + "))\n";
  EXPECT_NE(refusal(text).find("nested deeper than 4096 levels through"),
            std::string::npos);
  // Uses of an alias in the body of the program are no chain.
  std::string uses = "#m = [[1]]\nmodule {\n" +
                     repeat("\"t.a\"() {a = #m} : () -> ()\n", 5000) + "}\n";
  EXPECT_EQ(refusal(uses), "none");
}

TEST(Adapt, RefusesAliasesThatDouble) {
  std::string text = "#a0 = [1]\n";
  for (int i = 1; i < 40; ++i) {
    std::string last = "#a" + std::to_string(i - 1);
    text += "#a" + std::to_string(i) + " = [" + last + ", " + last + "]\n";
  }
  EXPECT_NE(refusal(text).find("alias stands for more than 1048576 parts"),
            std::string::npos);
}

TEST(Adapt, RefusesLongAffineExpressions) {
  EXPECT_EQ(refusal("affine_map<(d0) -> (d0" + repeat(" + d0", 1024) + ")>"),
            "none");
  EXPECT_NE(refusal("affine_map<(d0) -> (d0" + repeat(" mod 2", 1025) + ")>")
                .find("affine expression has more than 1024 operators"),
            std::string::npos);
}

TEST(Adapt, RefusesShapes) {
  EXPECT_EQ(refusal("tensor<36028797018963968xf32>"), "none");
  EXPECT_EQ(refusal("a tensor<1152921504606846976xf32>"),
            "2: tensor type: more than 2^55 elements");
  EXPECT_EQ(refusal("tensor<4294967296x0x?x4294967296xf32>"),
            "0: tensor type: more than 2^55 elements");
  EXPECT_EQ(refusal("tensor<99999999999999999999xf32>"),
            "0: tensor type: dimension does not fit 64 bits: "
            "99999999999999999999");
  EXPECT_EQ(refusal("tensor<" + repeat("1x", 1025) + "f32>"),
            "0: tensor type: rank is more than 1024");
}

TEST(Adapt, RefusesAbsurdIntegers) {
  EXPECT_EQ(refusal("tensor<2xi0>"),
            "9: integer type must have 1 to 128 bits: i0");
  EXPECT_EQ(refusal("(ui16777215)"),
            "1: integer type must have 1 to 128 bits: ui16777215");
  EXPECT_EQ(refusal("i99999999999999999999"),
            "0: integer type must have 1 to 128 bits: i99999999999999999999");
  EXPECT_EQ(refusal("{i0 = i128} affine_map<(i0) -> (i0)> index %i0"), "none");
}

TEST(Adapt, RefusesNumbersOfManyDigits) {
  EXPECT_EQ(refusal(repeat("1", 4096) + " 0." + repeat("1", 4096)), "none");
  EXPECT_EQ(refusal("-" + repeat("1", 4097)),
            "1: number of more than 4096 digits: 4097");
  EXPECT_EQ(refusal("1." + repeat("1", 1000000)),
            "2: number of more than 4096 digits: 1000000");
  EXPECT_EQ(refusal("0x" + repeat("f", 1000000)),
            "0: number of more than 4096 digits: 1000002");
  EXPECT_EQ(refusal("dense<\"0x" + repeat("f", 1000000) + "\">"), "none");
}

TEST(Adapt, RefusesAbsurdResultNumbers) {
  EXPECT_EQ(refusal("(%0#65536, %a#1, #a)"), "none");
  EXPECT_EQ(refusal("(%0#2147483648)"),
            "3: result number is more than 65536: #2147483648");
}

TEST(Adapt, RefusesSparseLiterals) {
  EXPECT_EQ(refusal("a = sparse<0, 1.0> : tensor<2xf32>"),
            "4: sparse literals are not supported");
  expectSame("#sparse<0>");
}

TEST(Adapt, RefusesNumbersForBools) {
  EXPECT_EQ(refusal("array<i1: true, false>"), "none");
  EXPECT_EQ(refusal("array<i16: 1>"), "none");
  EXPECT_EQ(refusal("array<i1: true, 0>"),
            "16: array of i1 must hold true and false");
}

TEST(Adapt, RefusesNumbersForPairsAndPairsForNumbers) {
  EXPECT_EQ(refusal("dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>"), "none");
  EXPECT_EQ(refusal("dense<[(1.0, 2.0), (0.0, -1.0)]> : "
                    "tensor<2xcomplex<f32>>"),
            "none");
  EXPECT_EQ(refusal("dense<[[1, 2]]> : tensor<1x2xi32>"), "none");
  EXPECT_EQ(refusal("dense<\"0x0000803F\"> : tensor<2xcomplex<f32>>"), "none");
  EXPECT_EQ(refusal("dense<> : tensor<0xcomplex<f32>>"), "none");
  EXPECT_EQ(refusal("dense<(1, 2)> : !unknown"), "none");
  for (llvm::StringRef elements : {"1.0", "true", "[1.0, (1.0, 2.0)]", "-1"})
    EXPECT_EQ(
        refusal(("x = dense<" + elements + "> : tensor<2xcomplex<f32>>").str()),
        "4: dense literal: elements of a complex type must be pairs of "
        "numbers");
  EXPECT_EQ(refusal("!c = complex<f64>\ndense<1.0> : tensor<4x!c>"),
            "18: dense literal: elements of a complex type must be pairs of "
            "numbers");
  EXPECT_EQ(refusal("dense<[(1, 2)]> : tensor<3xi32>"),
            "0: dense literal: only elements of a complex type may be pairs of "
            "numbers");
}

TEST(Adapt, SurvivesAnything) {
  for (llvm::StringRef text : {"\"",
                               "\"\\",
                               "tensor<",
                               "tensor<4",
                               "tensor<4x",
                               "dense<",
                               "dense<>",
                               "dense<> :",
                               "array<i1",
                               "#",
                               "!",
                               "#a =",
                               "!quant.uniform<",
                               "\"f\":",
                               "\"f\":1:2 to",
                               "\"f\":1:2 to 3:",
                               ">>>",
                               "-",
                               "->",
                               "0x",
                               "//",
                               "{-# #-}"})
    EXPECT_EQ(adaptText(text).size(), text.size());
}
