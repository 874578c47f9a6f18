#include "compiler/objects/target_key.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace alula::objects;

Expected<TargetPattern> TargetPattern::parse(StringRef text) {
  auto fail = [&](const Twine &why) {
    return createStringError("target pattern '" + text + "': " + why);
  };
  TargetPattern pattern;
  SmallVector<StringRef> fields;
  text.split(fields, ',');
  SmallVector<StringRef> words;
  fields.front().split(words, '+');
  auto [kind, name] = words.front().split(':');
  if (!kind.empty() && kind != "cpu" && kind != "cuda")
    return fail("there is cpu and cuda");
  if (words.front().contains(':') && name.empty())
    return fail("a name must follow the colon");
  pattern.kind = kind;
  pattern.name = name;
  for (StringRef feature : drop_begin(words)) {
    if (feature.empty())
      return fail("a feature must follow each +");
    pattern.features.push_back(feature.str());
  }
  for (StringRef field : drop_begin(fields)) {
    int bytes = 0;
    if (!field.consume_front("vector_bytes=") || field.getAsInteger(10, bytes))
      return fail("after a comma there is vector_bytes=N: is '" + field + "'");
    pattern.vectorBytes = bytes;
  }
  return pattern;
}

std::optional<unsigned> TargetPattern::match(const TargetKey &key) const {
  unsigned fields = 0;
  if (!kind.empty()) {
    if (kind != key.kind)
      return std::nullopt;
    ++fields;
  }
  if (!name.empty()) {
    if (name != key.name && name != key.architecture)
      return std::nullopt;
    // A machine is more than its architecture.
    fields += name == key.architecture ? 1 : 2;
  }
  for (const std::string &feature : features) {
    if (!is_contained(key.features, feature))
      return std::nullopt;
    ++fields;
  }
  if (vectorBytes) {
    if (*vectorBytes != key.vectorBytes)
      return std::nullopt;
    ++fields;
  }
  return fields;
}
