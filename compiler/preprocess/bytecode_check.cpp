// Reads what a tool has answered with our own reader first, whose counts never
// reach further than the bytes do.

#include "compiler/preprocess/bytecode_check.h"

#include <algorithm>

using namespace alula;

namespace {
/// Brackets in the text of an attribute: MLIR's parser calls itself for each.
constexpr unsigned maxTextDepth = 200;
/// As MLIR has it; its reader doesn't ask.
constexpr uint64_t maxIntegerWidth = (1 << 24) - 1;
/// A code of encoding.inc.
constexpr uint16_t sparseElements = 20;

bool isTooDeep(std::string_view text) {
  unsigned depth = 0, most = 0;
  for (char c : text) {
    if (c == '<' || c == '(' || c == '[' || c == '{')
      most = std::max(most, ++depth);
    else if (depth && (c == '>' || c == ')' || c == ']' || c == '}'))
      --depth;
  }
  return most > maxTextDepth;
}

std::string describe(const vhlo::Artifact &artifact, const vhlo::Node &node) {
  std::string_view dialect = artifact.dialects[node.dialect];
  return (node.isType ? "a type of dialect '" : "an attribute of dialect '") +
         std::string(dialect) + "'";
}

/// Number and size in bits of the elements of a tensor or vector type.
struct Elements {
  uint64_t count = 1;
  unsigned bits = 0;
};

std::optional<Elements> readShape(const vhlo::Artifact &artifact,
                                  uint64_t index) {
  using Type = vhlo::builtin::Type;
  constexpr uint16_t vector = 19;
  const vhlo::Node &type = artifact.types[size_t(index)];
  auto words = artifact.wordsOf(type);
  bool isBuiltin = type.family == vhlo::Family::Builtin;
  if (isBuiltin && Type(type.code) == Type::EncodedTensor)
    words = words.subspan(1);
  else if (!(isBuiltin && Type(type.code) == Type::RankedTensor) &&
           !(type.family == vhlo::Family::Other && type.code == vector))
    return std::nullopt;
  Elements elements;
  for (uint64_t dim : words.subspan(1, size_t(words[0])))
    if (int64_t(dim) < 0 ||
        __builtin_mul_overflow(elements.count, dim, &elements.count))
      return std::nullopt;
  const vhlo::Node *element = &artifact.types[size_t(words.back())];
  unsigned parts = 1;
  if (element->family == vhlo::Family::Builtin &&
      Type(element->code) == Type::Complex) {
    element = &artifact.types[size_t(artifact.wordsOf(*element)[0])];
    parts = 2;
  }
  elements.bits = vhlo::bitWidth(artifact, *element) * parts;
  return elements;
}

/// Whether so many bytes are so many elements, or one for all.
bool isWhole(const Elements &elements, size_t size) {
  if (elements.bits == 1)
    return size == 1 || (elements.count <= 8 * uint64_t(size) &&
                         elements.count + 8 > 8 * uint64_t(size));
  uint64_t each = (uint64_t(elements.bits) + 7) / 8, all;
  return each &&
         (size == each ||
          (!__builtin_mul_overflow(each, elements.count, &all) && size == all));
}

/// Data that is less than its type says is read all the same.
std::string checkData(const vhlo::Artifact &artifact, const vhlo::Node &node) {
  using Attr = vhlo::builtin::Attr;
  auto words = artifact.wordsOf(node);
  bool isGood = true;
  switch (Attr(node.code)) {
  case Attr::DenseElements: {
    auto elements = readShape(artifact, words[0]);
    isGood =
        elements && isWhole(*elements, artifact.blobs[size_t(words[1])].size());
    break;
  }
  case Attr::DenseStrings: {
    auto elements = readShape(artifact, words[0]);
    isGood = elements && words[2] == (words[1] ? 1 : elements->count);
    break;
  }
  case Attr::DenseArray: {
    uint64_t bits = vhlo::bitWidth(artifact, artifact.types[size_t(words[0])]);
    size_t size = artifact.blobs[size_t(words[2])].size();
    isGood = bits && words[1] <= size && words[1] * ((bits + 7) / 8) == size;
    break;
  }
  default:
    break;
  }
  return isGood ? "" : "the data of an attribute is not what its type says";
}

/// What is wrong with a node, empty if nothing is.
std::string checkNode(const vhlo::Artifact &artifact, const vhlo::Node &node) {
  switch (node.family) {
  case vhlo::Family::Text:
    if (isTooDeep(artifact.text(uint32_t(artifact.wordsOf(node)[0]))))
      return describe(artifact, node) + " is nested too deeply";
    break;
  case vhlo::Family::Opaque:
    return describe(artifact, node) + " is encoded in a way that is not known";
  case vhlo::Family::Builtin:
    if (node.isType && node.code == uint16_t(vhlo::builtin::Type::Integer) &&
        (artifact.wordsOf(node)[0] >> 2 > maxIntegerWidth ||
         artifact.wordsOf(node)[0] >> 2 == 0))
      return "an integer type has " +
             std::to_string(artifact.wordsOf(node)[0] >> 2) + " bits";
    return node.isType ? "" : checkData(artifact, node);
  case vhlo::Family::Other:
    // Nobody makes them, and MLIR's reader does not look at them.
    if (!node.isType && node.code == sparseElements)
      return "sparse elements can't be read from bytecode";
    break;
  default:
    break;
  }
  return "";
}
} // namespace

std::optional<std::string>
alula::preprocess::checkBytecode(llvm::StringRef bytes) {
  vhlo::Artifact artifact;
  artifact.takesAnyDialect = true;
  vhlo::Error error;
  std::vector<vhlo::NodeRef> order;
  auto at = [](size_t offset, const std::string &text) {
    return "byte " + std::to_string(offset) + ": " + text;
  };
  vhlo::Bytes file(reinterpret_cast<const uint8_t *>(bytes.data()),
                   bytes.size());
  if (!readArtifact(file, artifact, error) ||
      !orderNodes(artifact, order, error) ||
      !checkResources(file, artifact, error))
    return at(error.offset, error.text);
  for (const auto *nodes : {&artifact.types, &artifact.attributes})
    for (const vhlo::Node &node : *nodes)
      if (std::string problem = checkNode(artifact, node); !problem.empty())
        return at(node.offset, problem);
  return std::nullopt;
}
