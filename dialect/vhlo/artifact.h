#pragma once

#include "dialect/vhlo/byte_cursor.h"
#include "dialect/vhlo/encoding.h"

#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace alula::vhlo {

/// No attribute, no properties.
inline constexpr uint32_t none = UINT32_MAX;

/// One attribute or type: the fields of its row in encoding.inc as words.
/// A list is its count and its items; attributes, types, strings and blobs are
/// indices into the artifact; numbers are their bits.
struct Node {
  size_t offset = 0;
  size_t firstWord = 0;
  size_t numWords = 0;
  uint16_t code = 0;
  Family family = Family::Opaque;
  bool isType = false;
  uint32_t dialect = 0;
};

struct OpName {
  uint32_t dialect = 0;
  std::string_view name;
  bool registered = true;
};

/// An operation. Results are consecutive values, regions are consecutive too.
struct Op {
  size_t offset = 0;
  uint32_t name = 0;
  uint32_t location = none;
  uint32_t attributes = none;
  uint32_t properties = none;
  uint32_t firstResult = 0;
  uint32_t numResults = 0;
  /// Into Artifact::operands.
  uint32_t firstOperand = 0;
  uint32_t numOperands = 0;
  uint32_t firstRegion = 0;
  uint32_t numRegions = 0;
  /// Whether the operation's regions see no values from outside.
  bool isolated = false;
};

struct Block {
  uint32_t firstArgument = 0;
  uint32_t numArguments = 0;
  /// Into Artifact::argumentLocations; one for each argument.
  uint32_t firstLocation = 0;
  uint32_t firstOp = 0;
  uint32_t numOps = 0;
};

struct Region {
  uint32_t firstBlock = 0;
  uint32_t numBlocks = 0;
};

/// One piece of an operation's properties, as the writer takes them. (The
/// reader hands out bytes, since only the operation knows what they are.)
struct PropertyItem {
  enum class Kind : uint8_t {
    Attribute,
    OptionalAttribute,
    Type,
    String,
    VarInt,
    Byte,
  };
  Kind kind;
  uint64_t value;
};

struct Properties {
  size_t offset = 0;
  Bytes bytes;
  std::vector<PropertyItem> items;
};

/// What a bytecode container says, in memory, without MLIR. Everything refers
/// to everything else by index; all indices are checked. Strings and bytes
/// point into the input, or into `ownedText`.
struct Artifact {
  /// Set by who wants to know whether a file is sound, whatever it holds: then
  /// there may be jumps, and the rest of the builtin types.
  bool takesAnyDialect = false;
  uint32_t containerVersion = 0;
  std::string_view producer;
  std::vector<std::string_view> strings;
  std::vector<std::string_view> dialects;
  std::vector<OpName> opNames;
  std::vector<Node> attributes;
  std::vector<Node> types;
  std::vector<uint64_t> words;
  std::vector<Bytes> blobs;
  std::vector<Properties> properties;
  std::vector<Op> ops;
  std::vector<uint32_t> operands;
  std::vector<Block> blocks;
  std::vector<Region> regions;
  /// The type of each value.
  std::vector<uint32_t> valueTypes;
  /// `none` stands for an unknown location.
  std::vector<uint32_t> argumentLocations;
  /// The only operation at the top.
  uint32_t root = 0;
  std::deque<std::string> ownedText;

  std::span<const uint64_t> wordsOf(const Node &node) const {
    return {words.data() + node.firstWord, node.numWords};
  }
  std::string_view text(uint32_t blob) const {
    return {reinterpret_cast<const char *>(blobs[blob].data()),
            blobs[blob].size()};
  }
  /// "dialect.op" for messages.
  std::string nameOf(const Op &op) const;
};

/// Calls `visit` with each attribute and type that `node` refers to.
void forEachReference(const Artifact &artifact, const Node &node,
                      const std::function<void(bool isType, uint32_t)> &visit);

/// Width of the numbers of a type; 0 if it has none. Types that are text are
/// known by their builtin names.
unsigned bitWidth(const Artifact &artifact, const Node &type);

/// Deepest nesting of regions, and of attributes and types, that is read.
inline constexpr size_t maxRegionDepth = 256;
inline constexpr size_t maxNodeDepth = 1024;
/// Most nodes that one attribute or type may have when written out as a tree.
inline constexpr uint64_t maxNodeTree = uint64_t(1) << 24;

/// Reads a whole container. `artifact` points into `file`.
[[nodiscard]] bool readArtifact(Bytes file, Artifact &artifact, Error &error);

/// Whether a file is a container of bytecode that has operations or attributes
/// of a dialect. Reads no more than the names.
[[nodiscard]] bool mentionsDialect(Bytes file, std::string_view dialect);

/// A reference to an attribute or a type.
struct NodeRef {
  bool isType;
  uint32_t index;
};
/// All attributes and types such that each comes after those that it refers
/// to; false where they refer to each other in a circle, or too deeply.
[[nodiscard]] bool orderNodes(const Artifact &artifact,
                              std::vector<NodeRef> &order, Error &error);

} // namespace alula::vhlo
