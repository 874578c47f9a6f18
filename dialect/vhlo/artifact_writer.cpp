#include "dialect/vhlo/artifact_writer.h"

#include "dialect/vhlo/byte_sink.h"
#include "dialect/vhlo/sections.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace alula::vhlo {
namespace {

/// Numbers things in the order of the first time each is asked for.
template <typename Key> class FirstUse {
public:
  uint32_t number(const Key &key) {
    auto [place, isNew] = numbers.try_emplace(key, uint32_t(order.size()));
    if (isNew)
      order.push_back(key);
    return place->second;
  }
  const std::vector<Key> &inOrder() const { return order; }

private:
  std::map<Key, uint32_t> numbers;
  std::vector<Key> order;
};

/// A new order of things that have dialects: what is used most has the
/// smallest, that is shortest, numbers; within numbers of one length, things of
/// one dialect stand together.
struct Numbering {
  std::vector<uint32_t> order;
  std::vector<uint32_t> numbers;

  template <typename DialectOf>
  Numbering(const std::vector<size_t> &uses, DialectOf dialectOf)
      : order(uses.size()), numbers(uses.size()) {
    for (uint32_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return uses[a] != uses[b] ? uses[a] > uses[b] : a < b;
    });
    renumber();
    // A flag takes one of the seven bits of the first byte.
    size_t ends[] = {1 << 6, 1 << 13, 1 << 20, SIZE_MAX};
    size_t begin = 0;
    for (size_t end : ends) {
      end = std::min(end, order.size());
      std::sort(order.begin() + ptrdiff_t(begin),
                order.begin() + ptrdiff_t(end), [&](uint32_t a, uint32_t b) {
                  return dialectOf(a) != dialectOf(b)
                             ? dialectOf(a) < dialectOf(b)
                             : numbers[a] < numbers[b];
                });
      begin = end;
    }
    renumber();
  }

private:
  void renumber() {
    for (uint32_t i = 0; i < order.size(); ++i)
      numbers[order[i]] = i;
  }
};

class ArtifactWriter {
public:
  explicit ArtifactWriter(const Artifact &from)
      : artifact(from), version(from.containerVersion),
        attributes(countUses().attributes,
                   [&](uint32_t i) { return artifact.attributes[i].dialect; }),
        types(countUses().types,
              [&](uint32_t i) { return artifact.types[i].dialect; }),
        opNames(countUses().opNames,
                [&](uint32_t i) { return artifact.opNames[i].dialect; }),
        locals(artifact.valueTypes.size()) {}

  std::string run() {
    ByteSink out;
    out.writeBytes("ML\xefR");
    out.writeVarInt(version);
    out.writeTerminated(artifact.producer);
    // Dialects' names come first in the table of strings.
    ByteSink dialects = writeDialects();
    ByteSink offsets;
    ByteSink data = writeNodes(offsets);
    ByteSink ops;
    ops.writeFlagged(1, false);
    writeOp(ops, artifact.ops[artifact.root], 0);
    out.writeSection(dialectSection, dialects);
    out.writeSection(attrTypeOffsetSection, offsets);
    out.writeSection(attrTypeSection, data);
    out.writeSection(irSection, ops);
    if (version >= 5)
      out.writeSection(propertiesSection, writeProperties());
    out.writeSection(stringSection, writeStrings());
    return out.take();
  }

private:
  struct Uses {
    std::vector<size_t> attributes;
    std::vector<size_t> types;
    std::vector<size_t> opNames;
  };

  const Uses &countUses() {
    if (!uses.attributes.empty() || !uses.types.empty())
      return uses;
    uses.attributes.resize(artifact.attributes.size());
    uses.types.resize(artifact.types.size());
    uses.opNames.resize(artifact.opNames.size());
    auto count = [&](bool isType, uint32_t index) {
      ++(isType ? uses.types : uses.attributes)[index];
    };
    for (const Node &node : artifact.attributes)
      forEachReference(artifact, node, count);
    for (const Node &node : artifact.types)
      forEachReference(artifact, node, count);
    for (uint32_t type : artifact.valueTypes)
      count(true, type);
    for (uint32_t location : artifact.argumentLocations)
      if (location != none)
        count(false, location);
    for (const Op &op : artifact.ops) {
      ++uses.opNames[op.name];
      count(false, op.location);
      if (op.attributes != none)
        count(false, op.attributes);
      if (op.properties == none)
        continue;
      for (const PropertyItem &item : artifact.properties[op.properties].items)
        if (item.kind == PropertyItem::Kind::Attribute ||
            (item.kind == PropertyItem::Kind::OptionalAttribute &&
             item.value != none))
          count(false, uint32_t(item.value));
        else if (item.kind == PropertyItem::Kind::Type)
          count(true, uint32_t(item.value));
    }
    return uses;
  }

  /// Writes entries in groups of one dialect each.
  template <typename DialectOf, typename WriteEntry>
  static void writeGroups(ByteSink &out, const std::vector<uint32_t> &order,
                          DialectOf dialectOf, WriteEntry writeEntry) {
    for (size_t begin = 0; begin < order.size();) {
      uint32_t dialect = dialectOf(order[begin]);
      size_t end = begin;
      while (end < order.size() && dialectOf(order[end]) == dialect)
        ++end;
      out.writeVarInt(dialect);
      out.writeVarInt(end - begin);
      for (; begin < end; ++begin)
        writeEntry(order[begin]);
    }
  }

  ByteSink writeDialects() {
    ByteSink out;
    out.writeVarInt(artifact.dialects.size());
    for (std::string_view dialect : artifact.dialects) {
      uint32_t name = strings.number(dialect);
      if (version >= 1)
        out.writeFlagged(name, /*versioned=*/false);
      else
        out.writeVarInt(name);
    }
    if (version >= 4)
      out.writeVarInt(artifact.opNames.size());
    writeGroups(
        out, opNames.order,
        [&](uint32_t i) { return artifact.opNames[i].dialect; },
        [&](uint32_t i) {
          uint32_t name = strings.number(artifact.opNames[i].name);
          if (version >= 5)
            out.writeFlagged(name, artifact.opNames[i].registered);
          else
            out.writeVarInt(name);
        });
    return out;
  }

  ByteSink writeNodes(ByteSink &offsets) {
    ByteSink data;
    offsets.writeVarInt(artifact.attributes.size());
    offsets.writeVarInt(artifact.types.size());
    auto writeAll = [&](const Numbering &numbering,
                        const std::vector<Node> &nodes) {
      writeGroups(
          offsets, numbering.order,
          [&](uint32_t i) { return nodes[i].dialect; },
          [&](uint32_t i) {
            size_t before = data.str().size();
            writeNode(data, nodes[i]);
            offsets.writeFlagged(data.str().size() - before,
                                 nodes[i].family != Family::Text);
          });
    };
    writeAll(attributes, artifact.attributes);
    writeAll(types, artifact.types);
    return data;
  }

  void writeNode(ByteSink &out, const Node &node) {
    std::span<const uint64_t> words = artifact.wordsOf(node);
    if (node.family == Family::Text) {
      out.writeTerminated(artifact.text(uint32_t(words[0])));
      return;
    }
    const Encoding *row = findEncoding(node.family, node.isType, node.code);
    out.writeVarInt(node.code);
    size_t next = 0;
    for (const char *field = row->fields; *field; ++field) {
      const char *group = field;
      size_t size = 1;
      if (*field == '(') {
        group = field + 1;
        const char *close = std::strchr(field, ')');
        size = size_t(close - group);
        field = close;
      }
      uint64_t count = 1;
      if (field[1] == '*') {
        ++field;
        count = words[next++];
        if (*group != 'r')
          out.writeVarInt(count);
      }
      for (uint64_t i = 0; i < count; ++i)
        for (size_t j = 0; j < size; ++j)
          writeItem(out, group[j], words, next);
    }
  }

  void writeItem(ByteSink &out, char kind, std::span<const uint64_t> words,
                 size_t &next) {
    uint64_t word = words[next++];
    switch (kind) {
    case 'A':
      out.writeVarInt(attributes.numbers[word]);
      break;
    case 'T':
      out.writeVarInt(types.numbers[word]);
      break;
    case 'S':
    case 'r':
      out.writeVarInt(strings.number(artifact.strings[word]));
      break;
    case 'v':
      out.writeVarInt(word);
      break;
    case 'z':
    case 'd':
      out.writeSigned(int64_t(word));
      break;
    case 'B':
      out.writeByte(uint8_t(word));
      break;
    case 'b':
      out.writeVarInt(artifact.blobs[word].size());
      out.writeBytes(artifact.blobs[word]);
      break;
    case 'i':
    case 'f':
      writeNumber(out, words.subspan(next, word),
                  bitWidth(artifact, artifact.types[words[0]]));
      next += word;
      break;
    case 'o':
      if (word)
        out.writeFlagged(attributes.numbers[words[next++]], true);
      else
        out.writeVarInt(0);
      break;
    case '?':
      out.writeVarInt(word);
      if (word)
        out.writeVarInt(attributes.numbers[words[next++]]);
      break;
    }
  }

  static void writeNumber(ByteSink &out, std::span<const uint64_t> words,
                          unsigned bits) {
    if (bits <= 8) {
      out.writeByte(uint8_t(words[0]));
      return;
    }
    if (bits > 64)
      out.writeVarInt(words.size());
    for (uint64_t word : words)
      out.writeSigned(int64_t(word));
  }

  /// Locals start with `base` values that are visible from outside.
  void writeOp(ByteSink &out, const Op &op, uint32_t base) {
    out.writeVarInt(opNames.numbers[op.name]);
    uint8_t parts = 0;
    auto add = [&](bool isThere, OpParts part) {
      parts = uint8_t(parts | (isThere ? part : 0));
    };
    add(op.attributes != none, hasAttributes);
    add(op.properties != none, hasProperties);
    add(op.numResults != 0, hasResults);
    add(op.numOperands != 0, hasOperands);
    add(op.numRegions != 0, hasRegions);
    out.writeByte(parts);
    out.writeVarInt(attributes.numbers[op.location]);
    if (op.attributes != none)
      out.writeVarInt(attributes.numbers[op.attributes]);
    if (op.properties != none)
      out.writeVarInt(properties.number(encodeProperties(op)));
    if (op.numResults != 0) {
      out.writeVarInt(op.numResults);
      for (uint32_t i = 0; i < op.numResults; ++i)
        out.writeVarInt(types.numbers[artifact.valueTypes[op.firstResult + i]]);
    }
    if (op.numOperands != 0) {
      out.writeVarInt(op.numOperands);
      for (uint32_t i = 0; i < op.numOperands; ++i)
        out.writeVarInt(locals[artifact.operands[op.firstOperand + i]]);
    }
    if (op.numRegions == 0)
      return;
    out.writeFlagged(op.numRegions, op.isolated);
    if (!op.isolated || version < 2) {
      writeRegions(out, op, op.isolated ? 0 : base);
      return;
    }
    ByteSink inside;
    writeRegions(inside, op, 0);
    out.writeSection(irSection, inside);
  }

  void writeRegions(ByteSink &out, const Op &op, uint32_t base) {
    for (uint32_t i = 0; i < op.numRegions; ++i)
      writeRegion(out, artifact.regions[op.firstRegion + i], base);
  }

  void writeRegion(ByteSink &out, const Region &region, uint32_t base) {
    out.writeVarInt(region.numBlocks);
    if (region.numBlocks == 0)
      return;
    std::span<const Block> blocks(artifact.blocks.data() + region.firstBlock,
                                  region.numBlocks);
    uint32_t next = base;
    for (const Block &block : blocks) {
      for (uint32_t i = 0; i < block.numArguments; ++i)
        locals[block.firstArgument + i] = next++;
      for (const Op &op : opsOf(block))
        for (uint32_t i = 0; i < op.numResults; ++i)
          locals[op.firstResult + i] = next++;
    }
    out.writeVarInt(next - base);
    for (const Block &block : blocks) {
      out.writeFlagged(block.numOps, block.numArguments != 0);
      if (block.numArguments != 0)
        writeArguments(out, block);
      for (const Op &op : opsOf(block))
        writeOp(out, op, next);
    }
  }

  std::span<const Op> opsOf(const Block &block) const {
    return {artifact.ops.data() + block.firstOp, block.numOps};
  }

  void writeArguments(ByteSink &out, const Block &block) {
    out.writeVarInt(block.numArguments);
    for (uint32_t i = 0; i < block.numArguments; ++i) {
      uint32_t type =
          types.numbers[artifact.valueTypes[block.firstArgument + i]];
      uint32_t location = artifact.argumentLocations[block.firstLocation + i];
      if (version >= 4)
        out.writeFlagged(type, location != none);
      else
        out.writeVarInt(type);
      if (location != none)
        out.writeVarInt(attributes.numbers[location]);
    }
    if (version >= 3)
      out.writeByte(0);
  }

  std::string encodeProperties(const Op &op) {
    ByteSink out;
    for (PropertyItem item : artifact.properties[op.properties].items) {
      switch (item.kind) {
      case PropertyItem::Kind::Attribute:
        out.writeVarInt(attributes.numbers[item.value]);
        break;
      case PropertyItem::Kind::OptionalAttribute:
        if (item.value == none)
          out.writeVarInt(0);
        else
          out.writeFlagged(attributes.numbers[item.value], true);
        break;
      case PropertyItem::Kind::Type:
        out.writeVarInt(types.numbers[item.value]);
        break;
      case PropertyItem::Kind::String:
        out.writeVarInt(strings.number(artifact.strings[item.value]));
        break;
      case PropertyItem::Kind::VarInt:
        out.writeVarInt(item.value);
        break;
      case PropertyItem::Kind::Byte:
        out.writeByte(uint8_t(item.value));
        break;
      }
    }
    return out.take();
  }

  ByteSink writeProperties() {
    ByteSink out;
    out.writeVarInt(properties.inOrder().size());
    for (const std::string &bytes : properties.inOrder()) {
      out.writeVarInt(bytes.size());
      out.writeBytes(bytes);
    }
    return out;
  }

  ByteSink writeStrings() {
    ByteSink out;
    const std::vector<std::string_view> &all = strings.inOrder();
    out.writeVarInt(all.size());
    for (auto text = all.rbegin(); text != all.rend(); ++text)
      out.writeVarInt(text->size() + 1);
    for (std::string_view text : all)
      out.writeTerminated(text);
    return out;
  }

  const Artifact &artifact;
  uint32_t version;
  Uses uses;
  Numbering attributes;
  Numbering types;
  Numbering opNames;
  FirstUse<std::string_view> strings;
  FirstUse<std::string> properties;
  /// The number of each value within its isolated region.
  std::vector<uint32_t> locals;
};

} // namespace

std::string writeArtifact(const Artifact &artifact) {
  return ArtifactWriter(artifact).run();
}

} // namespace alula::vhlo
