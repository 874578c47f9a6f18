// Reads the configuration string of einsum and unary_einsum.

#include "dialect/stablehlo/einsum_config.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// Labels of the dimensions that `...` stands for begin here, after every
/// character.
constexpr int firstEllipsisLabel = 256;

/// The labels of one operand or of the result; `ellipsisRank` is how many
/// dimensions `...` stands for.
std::optional<SmallVector<int>> expand(StringRef text, int64_t ellipsisRank,
                                       int64_t maxEllipsisRank) {
  SmallVector<int> labels;
  bool sawEllipsis = false;
  while (!text.empty()) {
    if (!sawEllipsis && text.consume_front("...")) {
      sawEllipsis = true;
      for (int64_t i = maxEllipsisRank - ellipsisRank; i < maxEllipsisRank; ++i)
        labels.push_back(firstEllipsisLabel + static_cast<int>(i));
      continue;
    }
    if (!llvm::isAlpha(text.front()))
      return std::nullopt;
    labels.push_back(text.front());
    text = text.drop_front();
  }
  return labels;
}

/// How many dimensions of an operand are not named by letters; nothing if that
/// can't be.
std::optional<int64_t> countUnnamed(StringRef text, int64_t rank) {
  bool hasEllipsis = text.contains("...");
  int64_t named = llvm::count_if(text, [](char c) { return c != '.'; });
  if (hasEllipsis ? named > rank : named != rank)
    return std::nullopt;
  return rank - named;
}
} // namespace

std::optional<EinsumConfig>
stablehlo::parseEinsumConfig(StringRef text, ArrayRef<int64_t> ranks,
                             std::string &error) {
  auto fail = [&](const Twine &message) {
    error = ("einsum_config " + message + ": is \"" + text + "\"").str();
    return std::nullopt;
  };
  std::string compact;
  llvm::copy_if(text, std::back_inserter(compact),
                [](char c) { return c != ' '; });
  auto [operandText, resultText] = StringRef(compact).split("->");
  if (!StringRef(compact).contains("->"))
    return fail("must have the form 'operands->result'");
  SmallVector<StringRef> terms;
  operandText.split(terms, ',');
  if (terms.size() != ranks.size())
    return fail("must name " + Twine(ranks.size()) + " operands");

  SmallVector<int64_t> unnamed;
  int64_t maxUnnamed = 0;
  for (auto [index, term] : llvm::enumerate(terms)) {
    std::optional<int64_t> count = countUnnamed(term, ranks[index]);
    if (!count)
      return fail("must name each dimension of operand " + Twine(index) +
                  " of rank " + Twine(ranks[index]));
    unnamed.push_back(*count);
    maxUnnamed = std::max(maxUnnamed, *count);
  }

  EinsumConfig config;
  for (auto [term, count] : llvm::zip_equal(terms, unnamed)) {
    auto labels = expand(term, count, maxUnnamed);
    if (!labels)
      return fail("must consist of letters and one '...' for each operand");
    config.operands.push_back(std::move(*labels));
  }
  auto labels = expand(resultText, maxUnnamed, maxUnnamed);
  if (!labels)
    return fail("must have a result of letters and at most one '...'");
  for (int label : *labels) {
    bool known = llvm::any_of(config.operands, [&](ArrayRef<int> operand) {
      return llvm::is_contained(operand, label);
    });
    if (!known || llvm::count(*labels, label) > 1)
      return fail("must have each letter of the result once and in an operand");
  }
  config.result = std::move(*labels);
  return config;
}
