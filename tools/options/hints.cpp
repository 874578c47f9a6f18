#include "tools/options/hints.h"

#include <algorithm>

namespace alula::options {

/// How many letters are to be added, taken away, changed, or swapped with their
/// neighbour.
static size_t getDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> costs(a.size() + 1,
                                         std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (!i || !j) {
        costs[i][j] = i + j;
        continue;
      }
      auto isSame = [&](char x, char y) {
        auto plain = [](char c) { return c == '_' ? '-' : c; };
        return plain(x) == plain(y);
      };
      size_t cost = costs[i - 1][j - 1] + !isSame(a[i - 1], b[j - 1]);
      cost = std::min({cost, costs[i - 1][j] + 1, costs[i][j - 1] + 1});
      if (i > 1 && j > 1 && isSame(a[i - 1], b[j - 2]) &&
          isSame(a[i - 2], b[j - 1]))
        cost = std::min(cost, costs[i - 2][j - 2] + 1);
      costs[i][j] = cost;
    }
  return costs[a.size()][b.size()];
}

/// The option that the name is nearest to; null if none is near.
static const Option *findNearest(const std::vector<Option> &options,
                                 std::string_view name) {
  const Option *nearest = nullptr;
  size_t least = std::max<size_t>(name.size() / 3, 1) + 1;
  for (const Option &option : options) {
    std::string_view known = option.name;
    if (option.shown == Shown::Nowhere || known.size() < 2)
      continue;
    if (size_t distance = getDistance(name, known); distance < least) {
      least = distance;
      nearest = &option;
    }
  }
  if (nearest || name.size() < 3)
    return nearest;
  // The beginning of one name alone.
  for (const Option &option : options)
    if (option.shown != Shown::Nowhere &&
        std::string_view(option.name).starts_with(name)) {
      if (nearest)
        return nullptr;
      nearest = &option;
    }
  return nearest;
}

std::string explainUnknown(const Tool &tool, std::string_view word) {
  std::string_view name = word;
  name.remove_prefix(name.starts_with("--") ? 2 : 1);
  name = name.substr(0, name.find('='));
  std::string text = "unknown option '" + dash(name) + "'";
  if (name.size() == 1 && word.starts_with("--"))
    text = "unknown option '--" + std::string(name) + "'";
  for (const Foreign &foreign : tool.foreign)
    if (name == foreign.name)
      return text + ", which is IREE's: " + foreign.hint;
  std::vector<Option> options = getAllOptions(tool);
  if (const Option *nearest = findNearest(options, name))
    return text + ": did you mean '" + dash(nearest->name) + "'?";
  return text + "; --help lists them";
}

} // namespace alula::options
