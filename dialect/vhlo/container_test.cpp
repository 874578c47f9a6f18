#include "dialect/vhlo/artifact_writer.h"
#include "dialect/vhlo/byte_sink.h"
#include "dialect/vhlo/ir_reader.h"
#include "dialect/vhlo/op_table.h"
#include "dialect/vhlo/sections.h"

#include <gtest/gtest.h>

namespace alula::vhlo {
namespace {

/// The sections of a small good artifact, `module {}`; each may be replaced.
struct File {
  ByteSink strings, dialects, offsets, nodes, ops, properties;
  ByteSink extra;

  File() {
    strings.writeVarInt(2);
    strings.writeVarInt(7);
    strings.writeVarInt(8);
    strings.writeTerminated("builtin");
    strings.writeTerminated("module");
    dialects.writeVarInt(1);
    dialects.writeFlagged(0, false);
    dialects.writeVarInt(1);
    dialects.writeVarInt(0);
    dialects.writeVarInt(1);
    dialects.writeFlagged(1, true);
    nodes.writeVarInt(15); // an unknown location
    offsets = oneNode(1, 0, 1);
    ops = module({});
    properties.writeVarInt(0);
  }

  /// Offsets of a single attribute or type.
  static ByteSink oneNode(uint64_t numAttributes, uint64_t numTypes,
                          uint64_t size) {
    ByteSink out;
    out.writeVarInt(numAttributes);
    out.writeVarInt(numTypes);
    out.writeVarInt(0);
    out.writeVarInt(1);
    out.writeFlagged(size, true);
    return out;
  }

  /// A module with these bytes behind the head of its block's region; if there
  /// are none, with one empty block.
  static ByteSink module(std::initializer_list<uint64_t> numbers) {
    ByteSink region;
    if (numbers.size() == 0) {
      region.writeVarInt(1);
      region.writeVarInt(0);
      region.writeFlagged(0, false);
    }
    for (uint64_t number : numbers)
      region.writeVarInt(number);
    ByteSink out;
    out.writeFlagged(1, false);
    out.writeVarInt(0);
    out.writeByte(hasRegions);
    out.writeVarInt(0);
    out.writeFlagged(1, true);
    out.writeSection(irSection, region);
    return out;
  }

  std::string bytes() const {
    ByteSink out;
    out.writeBytes("ML\xefR");
    out.writeVarInt(6);
    out.writeTerminated("StableHLO_v1.0.0");
    out.writeSection(stringSection, strings);
    out.writeSection(dialectSection, dialects);
    out.writeSection(attrTypeOffsetSection, offsets);
    out.writeSection(attrTypeSection, nodes);
    out.writeSection(irSection, ops);
    out.writeSection(propertiesSection, properties);
    out.writeBytes(extra.str());
    return out.take();
  }
};

Bytes asBytes(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

/// What is wrong with a file; empty if nothing is.
std::string problem(const std::string &text) {
  Artifact artifact;
  Error error;
  std::vector<NodeRef> order;
  if (readArtifact(asBytes(text), artifact, error) &&
      orderNodes(artifact, order, error))
    return "";
  EXPECT_LE(error.offset, text.size());
  return error.text;
}

TEST(ByteCursor, ReadsWhatByteSinkWrites) {
  std::vector<uint64_t> values = {0, 1, 127, 128, 16383, 16384};
  for (int bit = 20; bit < 64; ++bit) {
    values.push_back(uint64_t(1) << bit);
    values.push_back((uint64_t(1) << bit) - 1);
  }
  values.push_back(UINT64_MAX);
  for (uint64_t value : values) {
    ByteSink sink;
    sink.writeVarInt(value);
    sink.writeSigned(int64_t(value));
    Error error;
    ByteCursor cursor(asBytes(sink.str()), 0, sink.str().size(), error);
    uint64_t back;
    int64_t signedBack;
    ASSERT_TRUE(cursor.readVarInt(back, "a number"));
    ASSERT_TRUE(cursor.readSigned(signedBack, "a number"));
    EXPECT_EQ(back, value);
    EXPECT_EQ(signedBack, int64_t(value));
    EXPECT_TRUE(cursor.empty());
  }
}

TEST(ByteCursor, SizesOfVarInts) {
  auto size = [](uint64_t value) {
    ByteSink sink;
    sink.writeVarInt(value);
    return sink.str().size();
  };
  EXPECT_EQ(size(127), 1u);
  EXPECT_EQ(size(128), 2u);
  EXPECT_EQ(size((uint64_t(1) << 56) - 1), 8u);
  EXPECT_EQ(size(uint64_t(1) << 56), 9u);
}

TEST(Container, ReadsTheSmallest) { EXPECT_EQ(problem(File().bytes()), ""); }

TEST(Container, EveryTruncationIsRefused) {
  std::string whole = File().bytes();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(problem(whole.substr(0, size)), "") << size;
}

TEST(Container, Header) {
  EXPECT_EQ(problem(""), "these are not the first bytes of MLIR bytecode");
  EXPECT_EQ(problem("ML\xefX"),
            "these are not the first bytes of MLIR bytecode");
  EXPECT_EQ(problem("ML\xefR"),
            "unexpected end of data in the container's version");
  EXPECT_EQ(problem("ML\xefR\x0f"),
            "container version 7 is newer than 6, the newest known");
  EXPECT_EQ(problem("ML\xefR\x0dStableHLO"),
            "the producer's name has no terminating zero");
}

TEST(Container, Sections) {
  std::string head = std::string("ML\xefR\x0dx", 6) + '\0';
  EXPECT_EQ(problem(head), "there is no string section");
  EXPECT_EQ(problem(head + "\x09\x01"), "unknown section 9");
  EXPECT_EQ(problem(head + '\0' + "\x03"),
            "section 0 needs 1 bytes, only 0 remain");
  EXPECT_EQ(problem(head + "\x80\x01\x07"),
            "section alignment 3 is not a power of two");
  EXPECT_EQ(problem(head + "\x80\x01\x41" + "a"),
            "a section's padding byte is 97, not 203");
  File twice;
  twice.extra.writeSection(stringSection, twice.strings);
  EXPECT_EQ(problem(twice.bytes()), "a second string section");
}

TEST(Container, Strings) {
  File file;
  file.strings = {};
  file.strings.writeVarInt(100);
  EXPECT_EQ(problem(file.bytes()),
            "the number of strings is 100, more than the remaining 0 bytes "
            "can hold");
  file.strings = {};
  file.strings.writeVarInt(1);
  file.strings.writeVarInt(50);
  file.strings.writeTerminated("abc");
  EXPECT_EQ(problem(file.bytes()),
            "a string's size is 50, outside of the string section");
  file.strings = {};
  file.strings.writeVarInt(1);
  file.strings.writeVarInt(3);
  file.strings.writeTerminated("abc");
  EXPECT_EQ(problem(file.bytes()),
            "the strings have 3 characters, the string section has 4");
  file.strings = {};
  file.strings.writeVarInt(1);
  file.strings.writeVarInt(3);
  file.strings.writeBytes("abc");
  EXPECT_EQ(problem(file.bytes()), "string 0 does not end with a zero");
}

TEST(Container, Dialects) {
  File file;
  file.dialects = {};
  file.dialects.writeVarInt(1);
  file.dialects.writeFlagged(2, false);
  EXPECT_EQ(problem(file.bytes()),
            "string index 2 is out of range: there are 2");
  file.dialects = {};
  file.dialects.writeVarInt(1);
  file.dialects.writeFlagged(0, true);
  file.dialects.writeSection(stringSection, {});
  EXPECT_EQ(problem(file.bytes()),
            "expected the version of dialect 'builtin', found section 0");
}

TEST(Container, Attributes) {
  File file;
  file.offsets = File::oneNode(1, 0, 7);
  EXPECT_EQ(problem(file.bytes()),
            "an attribute or type of 7 bytes ends behind its section");
  file.offsets = File::oneNode(0, 0, 1);
  EXPECT_EQ(problem(file.bytes()),
            "there are more than the announced 0 attributes and types");
  file.offsets = File::oneNode(1, 1, 1);
  EXPECT_EQ(problem(file.bytes()),
            "only 1 of 2 attributes and types are there");
  file = File();
  file.nodes.writeVarInt(0);
  file.offsets = File::oneNode(1, 0, 2);
  EXPECT_EQ(problem(file.bytes()),
            "1 bytes are left over behind an attribute UnknownLoc");
  // An array that holds itself.
  file.nodes = {};
  file.nodes.writeVarInt(0);
  file.nodes.writeVarInt(1);
  file.nodes.writeVarInt(0);
  file.offsets = File::oneNode(1, 0, 3);
  EXPECT_EQ(problem(file.bytes()), "attribute 0 refers to itself");
}

TEST(Container, Operations) {
  File file;
  file.ops = {};
  file.ops.writeFlagged(2, false);
  EXPECT_EQ(problem(file.bytes()), "the top level must be one operation");
  file = File();
  file.ops.writeByte(0);
  EXPECT_EQ(problem(file.bytes()),
            "1 bytes are left over behind the operations");
  file.ops = File::module({uint64_t(1) << 60});
  EXPECT_EQ(problem(file.bytes()),
            "there are more blocks than the section's 16 bytes can hold");
  file.ops = File::module({1, 2, 0});
  EXPECT_EQ(problem(file.bytes()),
            "a region announces 2 values more than it defines");
  file.ops = File::module({1, 0, 0, 5});
  EXPECT_EQ(problem(file.bytes()),
            "1 bytes are left over behind an operation's regions");
  file.ops = File::module({1, 0, 1 << 1 | 1, 3});
  EXPECT_EQ(problem(file.bytes()),
            "a region defines more values than it announces");
  file.ops = {};
  file.ops.writeFlagged(1, false);
  file.ops.writeVarInt(0);
  file.ops.writeByte(hasSuccessors);
  file.ops.writeVarInt(0);
  EXPECT_EQ(problem(file.bytes()),
            "'builtin.module' has successor blocks: StableHLO has only "
            "structured control flow");
  file.ops = {};
  file.ops.writeFlagged(1, false);
  file.ops.writeVarInt(0);
  file.ops.writeByte(hasResults);
  file.ops.writeVarInt(0);
  file.ops.writeVarInt(1);
  EXPECT_EQ(problem(file.bytes()), "the operation at the top has results");
}

TEST(Container, TooManyOperations) {
  // The size is looked at before the bytes, so they needn't be there.
  uint8_t byte = 0;
  Error error;
  ByteCursor cursor(Bytes(&byte, 1), 0, UINT32_MAX, error);
  Artifact artifact;
  EXPECT_FALSE(readIr(artifact, cursor));
  EXPECT_EQ(error.text, "the operation section is larger than 4 GiB");
}

TEST(Container, DeepRegions) {
  // Regions inside each other; isolated ones would need sections.
  ByteSink ops;
  ops.writeFlagged(1, false);
  for (int depth = 0; depth < 300; ++depth) {
    ops.writeVarInt(0);
    ops.writeByte(hasRegions);
    ops.writeVarInt(0);
    ops.writeFlagged(1, false);
    ops.writeVarInt(1);
    ops.writeVarInt(0);
    ops.writeFlagged(1, false);
  }
  File file;
  file.ops = ops;
  EXPECT_EQ(problem(file.bytes()), "regions are nested deeper than 256 levels");
}

/// An artifact with nodes added by hand.
struct Nodes : Artifact {
  Nodes() {
    strings = {"builtin", "vhlo", "module"};
    dialects = {"builtin", "vhlo"};
    opNames = {{0, "module", true}};
    add(Family::Builtin, false, uint16_t(builtin::Attr::UnknownLoc), {});
    containerVersion = 6;
    producer = "test";
    Op op;
    op.location = 0;
    ops.push_back(op);
  }

  uint32_t add(Family family, bool isType, uint16_t code,
               std::initializer_list<uint64_t> list) {
    Node node;
    node.family = family;
    node.isType = isType;
    node.code = code;
    node.dialect = family == Family::Vhlo;
    node.firstWord = words.size();
    node.numWords = list.size();
    words.insert(words.end(), list);
    std::vector<Node> &nodes = isType ? types : attributes;
    nodes.push_back(node);
    return uint32_t(nodes.size() - 1);
  }
};

TEST(Nodes, DeepAndWide) {
  Nodes deep;
  uint32_t last = 0;
  for (int i = 0; i < 1100; ++i)
    last = deep.add(Family::Builtin, false, uint16_t(builtin::Attr::Array),
                    {1, last});
  EXPECT_NE(problem(writeArtifact(deep)).find("is nested deeper than 1024"),
            std::string::npos);
  Nodes wide;
  last = 0;
  for (int i = 0; i < 40; ++i)
    last = wide.add(Family::Builtin, false, uint16_t(builtin::Attr::Array),
                    {2, last, last});
  EXPECT_NE(problem(writeArtifact(wide))
                .find("spells out to more than 16777216 parts"),
            std::string::npos);
}

TEST(Nodes, Numbers) {
  Nodes nodes;
  uint32_t function = nodes.add(Family::Builtin, true,
                                uint16_t(builtin::Type::Function), {0, 0});
  nodes.add(Family::Builtin, false, uint16_t(builtin::Attr::Integer),
            {function, 1, 5});
  EXPECT_EQ(problem(writeArtifact(nodes)),
            "a number's type 0 has no known width");
  Nodes wide;
  uint32_t i128 = wide.add(Family::Builtin, true,
                           uint16_t(builtin::Type::Integer), {128 << 2});
  wide.add(Family::Builtin, false, uint16_t(builtin::Attr::Integer),
           {i128, 2, 5, 6});
  EXPECT_EQ(problem(writeArtifact(wide)), "");
  Nodes tooWide;
  i128 = tooWide.add(Family::Builtin, true, uint16_t(builtin::Type::Integer),
                     {128 << 2});
  tooWide.add(Family::Builtin, false, uint16_t(builtin::Attr::Integer),
              {i128, 3, 5, 6, 7});
  EXPECT_EQ(problem(writeArtifact(tooWide)),
            "a number of 128 bits has 3 words");
}

TEST(Nodes, UnknownCode) {
  File file;
  file.strings = {};
  file.strings.writeVarInt(2);
  file.strings.writeVarInt(7);
  file.strings.writeVarInt(5);
  file.strings.writeTerminated("vhlo");
  file.strings.writeTerminated("module");
  file.nodes = {};
  file.nodes.writeVarInt(99);
  EXPECT_EQ(problem(file.bytes()),
            "unknown vhlo attribute code 99: StableHLO 1.20.0 has none such");
}

TEST(Nodes, EveryContainerVersionComesBack) {
  for (uint32_t version = 0; version <= 6; ++version) {
    Nodes nodes;
    nodes.containerVersion = version;
    nodes.add(Family::Vhlo, true, uint16_t(TypeCode::Boolean), {});
    std::string bytes = writeArtifact(nodes);
    EXPECT_EQ(problem(bytes), "") << version;
    Artifact back;
    Error error;
    ASSERT_TRUE(readArtifact(asBytes(bytes), back, error));
    EXPECT_EQ(back.containerVersion, version);
    EXPECT_EQ(back.producer, "test");
    EXPECT_EQ(back.types.size(), 1u);
    EXPECT_EQ(writeArtifact(back), bytes);
  }
}

TEST(OpTable, SizesAndOrder) {
  size_t numForms = 0;
  std::string_view last;
  for (const OpSpec &op : allOps()) {
    EXPECT_LT(last, std::string_view(op.name));
    last = op.name;
    numForms += op.hasSecondForm() ? 2 : 1;
    EXPECT_EQ(findOp(op.name), &op);
    std::string_view lastAttribute;
    for (const AttrSpec &row : op.attributes()) {
      EXPECT_LT(lastAttribute, std::string_view(row.name)) << op.name;
      lastAttribute = row.name;
    }
  }
  // The figures of StableHLO 1.20.
  EXPECT_EQ(allOps().size(), 120u);
  EXPECT_EQ(numForms, 145u);
  EXPECT_EQ(findOp("add_v1"), nullptr);
}

TEST(OpTable, Forms) {
  const OpSpec *tan = findOp("tan");
  ASSERT_TRUE(tan);
  EXPECT_EQ(tan->formAt({1, 3, 0}), 0u);
  EXPECT_EQ(tan->formAt({1, 4, 0}), 1u);
  EXPECT_EQ(tan->formAt({1, 9, 5}), 1u);
  EXPECT_EQ(tan->formAt({1, 10, 0}), 2u);
  EXPECT_EQ(splitVersionedName("custom_call_v12")->form, 12u);
  EXPECT_FALSE(splitVersionedName("custom_call"));
  EXPECT_FALSE(splitVersionedName("custom_call_v"));
  EXPECT_FALSE(splitVersionedName("custom_call_v1x"));
}

TEST(Container, MentionsDialect) {
  EXPECT_TRUE(mentionsDialect(asBytes(File().bytes()), "builtin"));
  EXPECT_FALSE(mentionsDialect(asBytes(File().bytes()), "vhlo"));
  EXPECT_FALSE(mentionsDialect(asBytes("ML\xefR"), "builtin"));
}

TEST(Version, Text) {
  EXPECT_EQ(Version::parse("1.20.0"), Version::current());
  EXPECT_EQ((Version{0, 9, 3}).str(), "0.9.3");
  for (const char *text :
       {"", "1", "1.2", "1.2.3.4", "1.2.x", "-1.2.3", "1. 2.3"})
    EXPECT_FALSE(Version::parse(text)) << text;
  EXPECT_EQ(portableVersion(File().bytes()), (Version{1, 0, 0}));
  EXPECT_FALSE(portableVersion("ML\xefR"));
  EXPECT_FALSE(portableVersion(std::string("ML\xefR\x0dMLIR19", 11) + '\0'));
  EXPECT_EQ((Version{0, 9, 0}).containerVersion(), 0u);
  EXPECT_EQ((Version{0, 11, 0}).containerVersion(), 1u);
  EXPECT_EQ((Version{0, 13, 0}).containerVersion(), 3u);
  EXPECT_EQ((Version{0, 14, 9}).containerVersion(), 4u);
  EXPECT_EQ((Version{0, 15, 0}).containerVersion(), 6u);
}

} // namespace
} // namespace alula::vhlo
