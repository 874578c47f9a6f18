#include "dialect/vhlo/artifact.h"
#include "dialect/vhlo/ir_reader.h"
#include "dialect/vhlo/node_reader.h"
#include "dialect/vhlo/sections.h"

#include <algorithm>

namespace alula::vhlo {
namespace {

/// Reads the sections that the operations need, in the order of need.
class ArtifactReader {
public:
  ArtifactReader(Bytes whole, Artifact &into, Error &error)
      : file(whole), cursor(whole, 0, whole.size(), error), artifact(into) {}

  bool run() {
    return runToDialects() && readOffsets() && readNodes() &&
           readProperties() && readOps();
  }

  bool runToDialects() {
    return readHeader() && readTopLevel() && readStrings() && readDialects();
  }

private:
  bool readHeader() {
    constexpr uint32_t newest = 6;
    Bytes magic;
    if (file.size() < 4 || file[0] != 'M' || file[1] != 'L' ||
        file[2] != 0xef || file[3] != 'R')
      return cursor.fail("these are not the first bytes of MLIR bytecode");
    uint64_t version;
    if (!cursor.readBytes(4, magic, "the magic number") ||
        !cursor.readVarInt(version, "the container's version"))
      return false;
    if (version > newest)
      return cursor.failAt(4, "container version " + std::to_string(version) +
                                  " is newer than " + std::to_string(newest) +
                                  ", the newest known");
    artifact.containerVersion = uint32_t(version);
    return cursor.readTerminated(artifact.producer, "the producer's name");
  }

  bool readTopLevel() {
    while (!cursor.empty()) {
      size_t where = cursor.offset();
      ByteCursor::Section section;
      if (!cursor.readSection(section))
        return false;
      if (section.id >= numSections)
        return cursor.failAt(where,
                             "unknown section " + std::to_string(section.id));
      if (found[section.id])
        return cursor.failAt(where, "a second " +
                                        std::string(sectionName(section.id)) +
                                        " section");
      found[section.id] = true;
      sections[section.id] = section;
    }
    for (uint8_t id : {stringSection, dialectSection, attrTypeSection,
                       attrTypeOffsetSection, irSection, propertiesSection})
      if (!found[id] &&
          (id != propertiesSection || artifact.containerVersion >= 5))
        return cursor.fail("there is no " + std::string(sectionName(id)) +
                           " section");
    return true;
  }

  /// String lengths stand in reverse order before the characters; each string
  /// ends with a zero.
  bool readStrings() {
    ByteCursor in = cursor.inside(sections[stringSection]);
    size_t count;
    // A length and a terminating zero each.
    if (!in.readCount(count, 2, "the number of strings"))
      return false;
    artifact.strings.resize(count);
    std::vector<size_t> sizes(count);
    uint64_t total = 0;
    for (size_t i = count; i-- > 0;) {
      uint64_t size;
      if (!in.readVarInt(size, "a string's size"))
        return false;
      if (size == 0 ||
          size > in.remaining() - std::min<uint64_t>(total, in.remaining()))
        return in.fail("a string's size is " + std::to_string(size) +
                       ", outside of the string section");
      sizes[i] = size_t(size);
      total += size;
    }
    if (total != in.remaining())
      return in.fail("the strings have " + std::to_string(total) +
                     " characters, the string section has " +
                     std::to_string(in.remaining()));
    for (size_t i = 0; i < count; ++i) {
      Bytes bytes;
      if (!in.readBytes(sizes[i], bytes, "a string"))
        return false;
      if (bytes.back() != 0)
        return in.fail("string " + std::to_string(i) +
                       " does not end with a zero");
      artifact.strings[i] = {reinterpret_cast<const char *>(bytes.data()),
                             bytes.size() - 1};
    }
    return true;
  }

  bool readDialects() {
    ByteCursor in = cursor.inside(sections[dialectSection]);
    size_t count;
    if (!in.readCount(count, 1, "the number of dialects"))
      return false;
    for (size_t i = 0; i < count; ++i)
      if (!readDialect(in))
        return false;
    if (artifact.containerVersion >= 4) {
      size_t numOps;
      if (!in.readCount(numOps, 1, "the number of operation names"))
        return false;
      artifact.opNames.reserve(numOps);
    }
    auto readName = [&](uint32_t dialect) {
      bool registered = true;
      uint64_t name;
      size_t where = in.offset();
      if (artifact.containerVersion >= 5) {
        if (!in.readFlagged(name, registered, "an operation's name"))
          return false;
      } else if (!in.readVarInt(name, "an operation's name")) {
        return false;
      }
      if (name >= artifact.strings.size())
        return in.failAt(where, "string index " + std::to_string(name) +
                                    " is out of range: there are " +
                                    std::to_string(artifact.strings.size()));
      artifact.opNames.push_back(
          {dialect, artifact.strings[size_t(name)], registered});
      return true;
    };
    while (!in.empty())
      if (!readGroup(in, readName))
        return false;
    return true;
  }

  bool readDialect(ByteCursor &in) {
    uint64_t name;
    bool versioned = false;
    size_t where = in.offset();
    if (artifact.containerVersion >= 1) {
      if (!in.readFlagged(name, versioned, "a dialect's name"))
        return false;
    } else if (!in.readVarInt(name, "a dialect's name")) {
      return false;
    }
    if (name >= artifact.strings.size())
      return in.failAt(where, "string index " + std::to_string(name) +
                                  " is out of range: there are " +
                                  std::to_string(artifact.strings.size()));
    artifact.dialects.push_back(artifact.strings[size_t(name)]);
    if (!versioned)
      return true;
    // No dialect of portable artifacts has a version of its own: skipped.
    ByteCursor::Section section;
    if (!in.readSection(section))
      return false;
    if (section.id != dialectVersionsSection)
      return in.fail("expected the version of dialect '" +
                     std::string(artifact.dialects.back()) +
                     "', found section " + std::to_string(section.id));
    return true;
  }

  /// Calls `readEntry(dialect)` for each entry of one group of a dialect.
  template <typename ReadEntry>
  bool readGroup(ByteCursor &in, ReadEntry readEntry) {
    uint32_t dialect;
    size_t count;
    if (!in.readIndex(dialect, artifact.dialects.size(), "dialect index") ||
        !in.readCount(count, 1, "the size of a dialect's group"))
      return false;
    for (size_t i = 0; i < count; ++i)
      if (!readEntry(dialect))
        return false;
    return true;
  }

  bool readOffsets() {
    ByteCursor in = cursor.inside(sections[attrTypeOffsetSection]);
    ByteCursor::Section data = sections[attrTypeSection];
    size_t numAttributes;
    size_t numTypes;
    if (!in.readCount(numAttributes, 1, "the number of attributes") ||
        !in.readCount(numTypes, 1, "the number of types"))
      return false;
    artifact.attributes.resize(numAttributes);
    artifact.types.resize(numTypes);
    extents.resize(numAttributes + numTypes);
    size_t next = 0;
    size_t offset = data.begin;
    auto readExtent = [&](uint32_t dialect) {
      uint64_t size;
      bool custom;
      size_t where = in.offset();
      if (!in.readFlagged(size, custom, "an attribute's size"))
        return false;
      if (next == extents.size())
        return in.failAt(where, "there are more than the announced " +
                                    std::to_string(extents.size()) +
                                    " attributes and types");
      if (size > data.end - offset)
        return in.failAt(where, "an attribute or type of " +
                                    std::to_string(size) +
                                    " bytes ends behind its section");
      Node &node = next < numAttributes ? artifact.attributes[next]
                                        : artifact.types[next - numAttributes];
      node.isType = next >= numAttributes;
      node.dialect = dialect;
      node.offset = offset;
      extents[next++] = {size_t(size), custom};
      offset += size_t(size);
      return true;
    };
    // The group that completes the attributes ends there.
    while (!in.empty())
      if (!readGroup(in, readExtent))
        return false;
    if (next != extents.size())
      return in.fail("only " + std::to_string(next) + " of " +
                     std::to_string(extents.size()) +
                     " attributes and types are there");
    return true;
  }

  bool readNodes() {
    // Types first: the width of a number is its type's.
    size_t numAttributes = artifact.attributes.size();
    for (size_t i = 0; i < artifact.types.size(); ++i)
      if (!readOne(artifact.types[i], extents[numAttributes + i]))
        return false;
    for (size_t i = 0; i < numAttributes; ++i)
      if (!readOne(artifact.attributes[i], extents[i]))
        return false;
    return true;
  }

  struct Extent {
    size_t size;
    bool custom;
  };
  bool readOne(Node &node, Extent extent) {
    ByteCursor in = cursor.inside({0, node.offset, node.offset + extent.size});
    return readNode(artifact, in, node, extent.custom);
  }

  bool readProperties() {
    if (!found[propertiesSection])
      return true;
    ByteCursor in = cursor.inside(sections[propertiesSection]);
    size_t count;
    if (!in.readCount(count, 1, "the number of properties"))
      return false;
    artifact.properties.resize(count);
    for (Properties &properties : artifact.properties) {
      size_t size;
      if (!in.readCount(size, 1, "the size of an operation's properties"))
        return false;
      properties.offset = in.offset();
      if (!in.readBytes(size, properties.bytes, "an operation's properties"))
        return false;
    }
    return true;
  }

  bool readOps() {
    ByteCursor in = cursor.inside(sections[irSection]);
    return readIr(artifact, in);
  }

  Bytes file;
  ByteCursor cursor;
  Artifact &artifact;
  bool found[numSections] = {};
  ByteCursor::Section sections[numSections];
  std::vector<Extent> extents;
};

} // namespace

bool readArtifact(Bytes file, Artifact &artifact, Error &error) {
  return ArtifactReader(file, artifact, error).run();
}

bool mentionsDialect(Bytes file, std::string_view dialect) {
  Artifact artifact;
  Error error;
  return ArtifactReader(file, artifact, error).runToDialects() &&
         std::find(artifact.dialects.begin(), artifact.dialects.end(),
                   dialect) != artifact.dialects.end();
}

} // namespace alula::vhlo
