// What the reader says about artifacts whose container is sound.

#include "dialect/vhlo/artifact_writer.h"
#include "dialect/vhlo/reader.h"

#include "mlir/IR/Diagnostics.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace alula::vhlo {
namespace {

/// An artifact made by hand: a function of one block.
class Draft : public Artifact {
public:
  Draft() {
    containerVersion = 6;
    producer = "StableHLO_v1.0.0";
    dialects = {"builtin", "vhlo", "other"};
    location = builtinAttr(builtin::Attr::UnknownLoc, {});
    i1 = type(TypeCode::Boolean, {});
    f32 = type(TypeCode::FloatF32, {});
    i64 = type(TypeCode::IntegerSI64, {});
    tensor = type(TypeCode::RankedTensor, {1, 4, f32});
    text = attr(AttrCode::String, {string("f")});
  }

  uint64_t string(std::string_view value) {
    strings.push_back(value);
    return strings.size() - 1;
  }
  uint64_t blob(const std::string &bytes) {
    const std::string &owned = ownedText.emplace_back(bytes);
    blobs.push_back(
        {reinterpret_cast<const uint8_t *>(owned.data()), owned.size()});
    return blobs.size() - 1;
  }
  uint32_t node(Family family, bool isType, uint16_t code,
                std::vector<uint64_t> list, uint32_t dialect) {
    Node made;
    made.family = family;
    made.isType = isType;
    made.code = code;
    made.dialect = dialect;
    made.firstWord = words.size();
    made.numWords = list.size();
    words.insert(words.end(), list.begin(), list.end());
    std::vector<Node> &nodes = isType ? types : attributes;
    nodes.push_back(made);
    return uint32_t(nodes.size() - 1);
  }
  uint32_t attr(AttrCode code, std::vector<uint64_t> list) {
    return node(Family::Vhlo, false, uint16_t(code), list, 1);
  }
  uint32_t type(TypeCode code, std::vector<uint64_t> list) {
    return node(Family::Vhlo, true, uint16_t(code), list, 1);
  }
  uint32_t builtinAttr(builtin::Attr code, std::vector<uint64_t> list) {
    return node(Family::Builtin, false, uint16_t(code), list, 0);
  }
  uint32_t builtinType(builtin::Type code, std::vector<uint64_t> list) {
    return node(Family::Builtin, true, uint16_t(code), list, 0);
  }

  Op op(uint32_t dialect, std::string_view name,
        std::vector<uint64_t> inherent = {}) {
    Op made;
    made.name = uint32_t(opNames.size());
    opNames.push_back({dialect, name, true});
    made.location = location;
    if (!inherent.empty()) {
      made.properties = uint32_t(properties.size());
      Properties &added = properties.emplace_back();
      for (uint64_t index : inherent)
        added.items.push_back({PropertyItem::Kind::Attribute, index});
    }
    return made;
  }
  void addResult(Op &made, uint32_t ofType) {
    made.firstResult = uint32_t(valueTypes.size());
    made.numResults = 1;
    valueTypes.push_back(ofType);
  }
  void addOperand(Op &made, uint32_t value) {
    made.firstOperand = uint32_t(operands.size());
    made.numOperands = 1;
    operands.push_back(value);
  }

  /// The module of these operations, as bytes.
  std::string module(std::vector<Op> body) {
    Op top = op(0, "module");
    top.properties = uint32_t(properties.size());
    properties.emplace_back().items = {
        {PropertyItem::Kind::OptionalAttribute, none},
        {PropertyItem::Kind::OptionalAttribute, none}};
    return wrap(top, body);
  }
  std::string wrap(Op top, std::vector<Op> body) {
    Block block;
    block.firstOp = uint32_t(ops.size());
    block.numOps = uint32_t(body.size());
    ops.insert(ops.end(), body.begin(), body.end());
    top.firstRegion = uint32_t(regions.size());
    top.numRegions = 1;
    regions.push_back({uint32_t(blocks.size()), 1});
    blocks.push_back(block);
    root = uint32_t(ops.size());
    ops.push_back(top);
    return writeArtifact(*this);
  }

  uint32_t location, i1, f32, i64, tensor, text;
};

/// The first diagnostic of reading, without where it is.
std::string problem(const std::string &bytes) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
    return success();
  });
  EXPECT_FALSE(readPortable(bytes, &context)) << "read without an error";
  StringRef text = message;
  EXPECT_TRUE(text.consume_front("portable artifact: byte ")) << message;
  return text.split(": ").second.str();
}

/// What is wrong with one node.
std::string problemOf(void (*add)(Draft &)) {
  Draft draft;
  add(draft);
  return problem(draft.module({}));
}

TEST(ReaderErrors, Name) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string message;
  Location where = UnknownLoc::get(&context);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    where = diagnostic.getLocation();
    return success();
  });
  EXPECT_FALSE(readPortable("ML\xefR", &context, "a.bc"));
  EXPECT_EQ(message, "portable artifact: byte 4: unexpected end of data in "
                     "the container's version");
  EXPECT_EQ(cast<FileLineColLoc>(where).getFilename(), "a.bc");
  EXPECT_FALSE(isPortableArtifact("ML\xefRzzz"));
}

TEST(ReaderErrors, Types) {
  EXPECT_EQ(problemOf([](Draft &d) {
              d.type(TypeCode::RankedTensor, {1, uint64_t(-5), d.f32});
            }),
            "vhlo RankedTensor type: dimension 0 is -5");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.type(TypeCode::RankedTensor,
                     {2, uint64_t(1) << 40, uint64_t(1) << 40, d.f32});
            }),
            "vhlo RankedTensor type: the product of the dimensions is above "
            "36028797018963968");
  EXPECT_EQ(problemOf([](Draft &d) {
              std::vector<uint64_t> words = {2000};
              words.resize(2001, 1);
              words.push_back(d.f32);
              d.type(TypeCode::RankedTensor, words);
            }),
            "vhlo RankedTensor type: rank 2000 is above 1024");
  EXPECT_EQ(problemOf([](Draft &d) { d.type(TypeCode::Witness, {}); }),
            "vhlo Witness type: shape witnesses have no meaning in StableHLO");
  EXPECT_EQ(problemOf([](Draft &d) { d.type(TypeCode::Complex, {d.tensor}); }),
            "vhlo Complex type: invalid element type for complex");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.type(TypeCode::UniformQuantized, {9, d.i64, d.f32, 0, 0, 0, 0});
            }),
            "vhlo UniformQuantized type: flags are 9");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.builtinType(builtin::Type::Integer, {uint64_t(1) << 40});
            }),
            "builtin Integer type: width is 274877906944, signedness 0");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.type(TypeCode::RankedBuffer, {0, d.type(TypeCode::Token, {})});
            }),
            "vhlo RankedBuffer type: a buffer can't hold '!stablehlo.token'");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.node(Family::Text, true, 0, {d.blob("nonsense")}, 2);
            }),
            "'nonsense' is not a type that is known here: expected "
            "non-function type");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.node(Family::Text, true, 0, {d.blob(std::string(600, '<'))}, 2);
            }),
            "the text of a type: nested deeper than 512 levels");
}

TEST(ReaderErrors, Attributes) {
  EXPECT_EQ(problemOf([](Draft &d) { d.attr(AttrCode::Boolean, {2}); }),
            "vhlo Boolean attribute: unknown value 2");
  EXPECT_EQ(problemOf([](Draft &d) { d.attr(AttrCode::Precision, {7}); }),
            "vhlo Precision attribute: unknown value 7");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.attr(AttrCode::CustomCallApiVersion, {uint64_t(1) << 40});
            }),
            "vhlo CustomCallApiVersion attribute: unknown value "
            "1099511627776");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.attr(AttrCode::Dictionary, {2, d.text, d.text, d.text, d.text});
            }),
            "vhlo Dictionary attribute: 'f' stands twice");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.attr(AttrCode::Dictionary, {1, d.location, d.text});
            }),
            "vhlo Dictionary attribute: expected a name, found loc(unknown)");
  EXPECT_EQ(problemOf([](Draft &d) {
              uint32_t empty = d.attr(AttrCode::String, {d.string("")});
              d.attr(AttrCode::Dictionary, {1, empty, d.text});
            }),
            "vhlo Dictionary attribute: a name is empty");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.attr(AttrCode::Tensor, {d.tensor, d.blob("abc")});
            }),
            "vhlo Tensor attribute: 'tensor<4xf32>' can't have 3 bytes");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.attr(AttrCode::Tensor, {d.f32, d.blob("abcd")});
            }),
            "vhlo Tensor attribute: expected a tensor type of static shape");
  EXPECT_EQ(problemOf([](Draft &d) {
              uint32_t bools = d.type(TypeCode::RankedTensor, {1, 20, d.i1});
              d.attr(AttrCode::Tensor, {bools, d.blob("ab")});
            }),
            "vhlo Tensor attribute: 'tensor<20xi1>' can't have 2 bytes");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.attr(AttrCode::ResultAccuracy, {0, 0, 0, d.text});
            }),
            "vhlo ResultAccuracy attribute: expected a result accuracy mode, "
            "found \"f\"");
  EXPECT_EQ(problemOf([](Draft &d) { d.attr(AttrCode::Float, {d.i64, 1, 0}); }),
            "vhlo Float attribute: a float attribute of type 'i64' can't be "
            "held here");
  EXPECT_EQ(
      problemOf([](Draft &d) { d.attr(AttrCode::Integer, {d.f32, 1, 0}); }),
      "vhlo Integer attribute: expected an integer type, found 'f32'");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.builtinAttr(builtin::Attr::NameLoc, {d.text, d.text});
            }),
            "builtin NameLoc attribute: expected a location, found \"f\"");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.builtinAttr(builtin::Attr::FileLineColRange,
                            {d.text, 5, 1, 2, 3, 4, 5});
            }),
            "builtin FileLineColRange attribute: a range has 5 numbers");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.builtinAttr(builtin::Attr::DenseArray,
                            {d.i64, 9, d.blob("12345678")});
            }),
            "builtin DenseArray attribute: 9 elements need more than 8 bytes");
  EXPECT_EQ(problemOf([](Draft &d) {
              d.node(Family::Text, false, 0, {d.blob("#no.such<1>")}, 2);
            }),
            "'#no.such<1>' is not an attribute that is known here: "
            "#\"no\"<\"such<1>\"> : 'none' attribute created with "
            "unregistered dialect. If this is intended, please call "
            "allowUnregisteredDialects() on the MLIRContext, or use "
            "-allow-unregistered-dialect with the MLIR opt tool used");
}

TEST(ReaderErrors, Operations) {
  Draft future;
  EXPECT_EQ(problem(future.module({future.op(1, "constant_v99", {0})})),
            "'vhlo.constant_v99': form 99 is newer than form 1, the newest of "
            "StableHLO 1.20.0; the artifact says 'StableHLO_v1.0.0'");
  Draft unknown;
  EXPECT_EQ(problem(unknown.module({unknown.op(1, "frobnicate_v1")})),
            "'vhlo.frobnicate_v1': no StableHLO version up to 1.20.0 has this "
            "operation; the artifact says 'StableHLO_v1.0.0'");
  Draft other;
  EXPECT_EQ(problem(other.module({other.op(2, "thing")})),
            "'other.thing': no such operation is known here");
  Draft top;
  EXPECT_EQ(problem(top.wrap(top.op(1, "func_v1"), {})),
            "the operation at the top is 'vhlo.func_v1', not "
            "'builtin.module'");
  Draft missing;
  EXPECT_EQ(problem(missing.module({missing.op(1, "iota_v1")})),
            "'vhlo.iota_v1': attribute 'iota_dimension' is missing");
  Draft tooShort;
  EXPECT_EQ(problem(tooShort.module(
                {tooShort.op(1, "cholesky_v1", {0, tooShort.text})})),
            "'vhlo.cholesky_v1': 1 bytes are left over behind its properties");
  Draft wrong;
  EXPECT_EQ(problem(wrong.module({wrong.op(1, "iota_v1", {wrong.text})})),
            "'vhlo.iota_v1': attribute 'iota_dimension' failed to satisfy "
            "constraint: 64-bit signless integer attribute");
  Draft notList;
  EXPECT_EQ(
      problem(notList.module({notList.op(1, "transpose_v1", {notList.text})})),
      "'vhlo.transpose_v1': attribute 'permutation' is \"f\", expected "
      "a short tensor of i64");
  Draft hugeSplat;
  uint32_t huge = hugeSplat.type(TypeCode::RankedTensor,
                                 {1, uint64_t(1) << 40, hugeSplat.i64});
  uint32_t ones = hugeSplat.attr(
      AttrCode::Tensor,
      {huge, hugeSplat.blob(std::string("\2\0\0\0\0\0\0\0", 8))});
  EXPECT_EQ(
      problem(hugeSplat.module({hugeSplat.op(1, "transpose_v1", {ones})})),
      "'vhlo.transpose_v1': attribute 'permutation' is dense<2> : "
      "tensor<1099511627776xi64>, expected a short tensor of i64");
  Draft early;
  Op use = early.op(1, "abs_v1");
  Op make = early.op(1, "abs_v1");
  early.addResult(use, early.tensor);
  early.addResult(make, early.tensor);
  early.addOperand(use, make.firstResult);
  early.addOperand(make, use.firstResult);
  EXPECT_EQ(problem(early.module({use, make})),
            "'vhlo.abs_v1': operand 0 is used before it is defined");
  Draft place;
  Op lost = place.op(1, "partition_id_v1");
  lost.location = place.text;
  EXPECT_EQ(problem(place.module({lost})),
            "'vhlo.partition_id_v1': expected a location, found \"f\"");
  Draft list;
  Op listed = list.op(1, "partition_id_v1");
  listed.attributes = list.text;
  EXPECT_EQ(problem(list.module({listed})),
            "'vhlo.partition_id_v1': expected a dictionary of attributes, "
            "found \"f\"");
}

} // namespace
} // namespace alula::vhlo
