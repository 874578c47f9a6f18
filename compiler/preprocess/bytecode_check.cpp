// Reads what a tool has answered with our own reader first, whose counts never
// reach further than the bytes do.

#include "compiler/preprocess/bytecode_check.h"

#include "dialect/vhlo/artifact.h"

#include <algorithm>

using namespace alula;

namespace {
/// Brackets in the text of an attribute: MLIR's parser calls itself for each.
constexpr unsigned maxTextDepth = 200;
/// As MLIR has it; its reader doesn't ask.
constexpr uint64_t maxIntegerWidth = (1 << 24) - 1;

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
      !orderNodes(artifact, order, error))
    return at(error.offset, error.text);
  for (const auto *nodes : {&artifact.types, &artifact.attributes})
    for (const vhlo::Node &node : *nodes)
      if (std::string problem = checkNode(artifact, node); !problem.empty())
        return at(node.offset, problem);
  return std::nullopt;
}
