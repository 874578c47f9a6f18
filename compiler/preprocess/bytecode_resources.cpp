// The resources of a bytecode file: their place in it, and what a blob says of
// itself.

#include "compiler/preprocess/bytecode_check.h"

#include "dialect/vhlo/sections.h"

using namespace alula;
using vhlo::ByteCursor;

namespace {
enum Kind : uint8_t { Blob, Bool, String };

class ResourceChecker {
public:
  ResourceChecker(const vhlo::Artifact &artifact, ByteCursor places,
                  ByteCursor data)
      : artifact(artifact), places(places), data(data) {}

  bool run() {
    size_t numExternal;
    uint32_t owner;
    if (!places.readCount(numExternal, 2, "the number of resource groups"))
      return false;
    for (size_t i = 0; i < numExternal; ++i)
      if (!places.readIndex(owner, artifact.strings.size(), "string index") ||
          !readGroup())
        return false;
    while (!places.empty()) {
      if (!places.readIndex(owner, artifact.dialects.size(), "dialect index"))
        return false;
      // The only dialect whose resources anybody here can read.
      if (artifact.dialects[owner] != "builtin")
        return places.fail("there are resources of dialect '" +
                           std::string(artifact.dialects[owner]) + "'");
      if (!readGroup())
        return false;
    }
    return data.empty() || data.fail("there is more than the resources");
  }

private:
  bool readGroup() {
    size_t count;
    if (!places.readCount(count, 3, "the number of resources"))
      return false;
    for (size_t i = 0; i < count; ++i) {
      uint32_t key;
      uint64_t size;
      uint8_t kind;
      if (!places.readIndex(key, artifact.strings.size(), "string index") ||
          !places.readVarInt(size, "a resource's size") ||
          !places.readByte(kind, "a resource's kind"))
        return false;
      if (size > data.remaining())
        return places.fail("a resource ends behind its section");
      size_t end = data.offset() + size_t(size);
      if (!readValue(kind, end))
        return false;
      if (data.offset() != end)
        return data.fail("a resource has another size than it says");
    }
    return true;
  }

  bool readValue(uint8_t kind, size_t end) {
    uint8_t flag;
    uint32_t text;
    switch (kind) {
    case Blob:
      return readBlob(end);
    case Bool:
      return data.readByte(flag, "a resource");
    case String:
      return data.readIndex(text, artifact.strings.size(), "string index");
    default:
      return places.fail("a resource is of kind " + std::to_string(kind));
    }
  }

  bool readBlob(size_t end) {
    constexpr uint64_t maxAlignment = 4096;
    uint64_t alignment, size;
    if (!data.readVarInt(alignment, "a resource's alignment") ||
        !data.readVarInt(size, "a resource's size"))
      return false;
    if (alignment == 0 || alignment > maxAlignment ||
        (alignment & (alignment - 1)))
      return data.fail("a resource is aligned to " + std::to_string(alignment));
    while (data.offset() % alignment) {
      uint8_t padding;
      if (!data.readByte(padding, "padding"))
        return false;
    }
    vhlo::Bytes bytes;
    return (data.offset() <= end && size == end - data.offset() &&
            data.readBytes(size_t(size), bytes, "a resource")) ||
           data.fail("a resource has another size than it says");
  }

  const vhlo::Artifact &artifact;
  ByteCursor places, data;
};
} // namespace

bool alula::preprocess::checkResources(vhlo::Bytes file,
                                       const vhlo::Artifact &artifact,
                                       vhlo::Error &error) {
  ByteCursor cursor(file, 0, file.size(), error);
  vhlo::Bytes magic;
  uint64_t version;
  std::string_view producer;
  if (!cursor.readBytes(4, magic, "the magic number") ||
      !cursor.readVarInt(version, "the version") ||
      !cursor.readTerminated(producer, "the producer"))
    return false;
  std::optional<ByteCursor::Section> data, places;
  while (!cursor.empty()) {
    ByteCursor::Section section;
    if (!cursor.readSection(section))
      return false;
    if (section.id == vhlo::resourceSection)
      data = section;
    else if (section.id == vhlo::resourceOffsetSection)
      places = section;
  }
  if (data.has_value() != places.has_value())
    return cursor.fail("resources and their places must come together");
  return !data ||
         ResourceChecker(artifact, cursor.inside(*places), cursor.inside(*data))
             .run();
}
