#include "dialect/vhlo/node_reader.h"

#include <cassert>
#include <cstring>

namespace alula::vhlo {
namespace {

/// Runs along the fields of one row.
class NodeReader {
public:
  NodeReader(Artifact &into, ByteCursor &from, Node &made)
      : artifact(into), cursor(from), node(made) {}

  bool readFields(const char *fields) {
    for (const char *field = fields; *field; ++field) {
      const char *group = field;
      size_t size = 1;
      if (*field == '(') {
        group = field + 1;
        const char *close = std::strchr(field, ')');
        size = size_t(close - group);
        field = close;
      }
      if (field[1] == '*') {
        ++field;
        if (!readList(group, size))
          return false;
      } else if (!readItem(*group)) {
        return false;
      }
    }
    if (!cursor.empty())
      return cursor.fail(std::to_string(cursor.remaining()) +
                         " bytes are left over behind " + described());
    return true;
  }

private:
  std::string described() const {
    const Encoding *row = findEncoding(node.family, node.isType, node.code);
    return std::string(node.isType ? "a " : "an attribute ") +
           (row ? row->name : "?") + (node.isType ? " type" : "");
  }

  void push(uint64_t word) { artifact.words.push_back(word); }
  size_t numWords() const { return artifact.words.size() - node.firstWord; }

  bool readList(const char *group, size_t size) {
    size_t where = artifact.words.size();
    if (*group == 'r') {
      push(0);
      uint64_t count = 0;
      while (!cursor.empty()) {
        if (!readItem('S'))
          return false;
        ++count;
      }
      artifact.words[where] = count;
      return true;
    }
    size_t count;
    if (!cursor.readCount(count, size, "a list's size"))
      return false;
    push(count);
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0; j < size; ++j)
        if (!readItem(group[j]))
          return false;
    return true;
  }

  bool readIndexWord(size_t count, const char *what) {
    uint32_t index;
    if (!cursor.readIndex(index, count, what))
      return false;
    push(index);
    return true;
  }

  bool readItem(char kind) {
    uint64_t value;
    int64_t number;
    switch (kind) {
    case 'A':
      return readIndexWord(artifact.attributes.size(), "attribute index");
    case 'T':
      return readIndexWord(artifact.types.size(), "type index");
    case 'S':
      return readIndexWord(artifact.strings.size(), "string index");
    case 'v':
      if (!cursor.readVarInt(value, "a number"))
        return false;
      push(value);
      return true;
    case 'z':
    case 'd':
      if (!cursor.readSigned(number, "a number"))
        return false;
      push(uint64_t(number));
      return true;
    case 'B': {
      uint8_t byte;
      if (!cursor.readByte(byte, "a byte"))
        return false;
      push(byte);
      return true;
    }
    case 'b':
      return readBlob();
    case 'i':
    case 'f':
      return readNumber();
    }
    assert((kind == 'o' || kind == '?') && "encodings have no other kind");
    return readOptional(kind);
  }

  bool readBlob() {
    size_t size;
    Bytes bytes;
    if (!cursor.readCount(size, 1, "a blob's size") ||
        !cursor.readBytes(size, bytes, "a blob"))
      return false;
    push(artifact.blobs.size());
    artifact.blobs.push_back(bytes);
    return true;
  }

  /// `o` packs the presence into the index, `?` has a number of its own.
  bool readOptional(char kind) {
    size_t where = cursor.offset();
    uint64_t value;
    bool present;
    if (kind == 'o') {
      if (!cursor.readFlagged(value, present, "an optional attribute"))
        return false;
    } else {
      if (!cursor.readVarInt(value, "an optional attribute"))
        return false;
      present = value != 0;
      if (present && !cursor.readVarInt(value, "an optional attribute"))
        return false;
    }
    push(present);
    if (!present)
      return true;
    if (value >= artifact.attributes.size())
      return cursor.failAt(where,
                           "attribute index " + std::to_string(value) +
                               " is out of range: there are " +
                               std::to_string(artifact.attributes.size()));
    push(value);
    return true;
  }

  /// A number whose width its type says: one byte up to 8 bits, one zigzag
  /// up to 64, a counted list of 64-bit words above.
  bool readNumber() {
    const Node &type = artifact.types[size_t(artifact.words[node.firstWord])];
    unsigned bits = bitWidth(artifact, type);
    if (bits == 0)
      return cursor.fail("a number's type " +
                         std::to_string(artifact.words[node.firstWord]) +
                         " has no known width");
    if (bits <= 8) {
      uint8_t byte;
      if (!cursor.readByte(byte, "a number"))
        return false;
      push(1);
      push(byte);
      return true;
    }
    size_t count = 1;
    if (bits > 64 && !cursor.readCount(count, 1, "a number's size"))
      return false;
    if (count == 0 || count > (bits + 63) / 64)
      return cursor.fail("a number of " + std::to_string(bits) + " bits has " +
                         std::to_string(count) + " words");
    push(count);
    for (size_t i = 0; i < count; ++i)
      if (!readItem('z'))
        return false;
    return true;
  }

  Artifact &artifact;
  ByteCursor &cursor;
  Node &node;
};

} // namespace

bool readNode(Artifact &artifact, ByteCursor &cursor, Node &node,
              bool hasCustomEncoding) {
  const char *what = node.isType ? "a type" : "an attribute";
  node.firstWord = artifact.words.size();
  std::string_view dialect = artifact.dialects[node.dialect];
  if (!hasCustomEncoding) {
    std::string_view text;
    if (!cursor.readTerminated(text, what))
      return false;
    node.family = Family::Text;
    artifact.words.push_back(artifact.blobs.size());
    artifact.blobs.push_back(
        {reinterpret_cast<const uint8_t *>(text.data()), text.size()});
    node.numWords = 1;
    return true;
  }
  for (Family family :
       {Family::Builtin, Family::Vhlo, Family::Sdy, Family::Stablehlo})
    if (dialect == dialectOf(family))
      node.family = family;
  if (node.family == Family::Opaque)
    return true;
  size_t where = cursor.offset();
  uint64_t code;
  if (!cursor.readVarInt(code, what))
    return false;
  const Encoding *row = findEncoding(node.family, node.isType, code);
  if (!row && node.family == Family::Builtin && artifact.takesAnyDialect) {
    row = findEncoding(Family::Other, node.isType, code);
    if (row)
      node.family = Family::Other;
  }
  if (!row && node.family != Family::Vhlo) {
    // Codes that no StableHLO program needs, such as affine maps: an error
    // once they are imported, which names the dialect.
    node.family = Family::Opaque;
    return true;
  }
  if (!row)
    return cursor.failAt(where,
                         "unknown vhlo " +
                             std::string(node.isType ? "type" : "attribute") +
                             " code " + std::to_string(code) + ": StableHLO " +
                             Version::current().str() + " has none such");
  node.code = row->code;
  if (!NodeReader(artifact, cursor, node).readFields(row->fields))
    return false;
  node.numWords = artifact.words.size() - node.firstWord;
  return true;
}

} // namespace alula::vhlo
