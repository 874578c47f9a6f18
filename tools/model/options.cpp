#include "tools/model/options.h"

#include <charconv>

namespace alula::model {

static constexpr const char *group = "What is loaded, and how";

std::span<const options::Option> getOptions() {
  static constexpr options::Option rows[] = {
      {"function", "NAME", group,
       "the function; default: the only one, or main"},
      {"threads", "N", group, "0: one for each CPU"},
      {"device", "cpu|null", group,
       "where it runs; null does everything but kernels"},
      {"variant", "NAME", group, "instead of the best one for this machine"},
      {"constants", "FOLDER", group,
       "where constants outside the artifact lie; default: beside it"},
      {"custom-call", "NAME=LIBRARY.so[:SYMBOL]", group,
       "the function of type alula_custom_call that the artifact calls NAME"},
      {"executable-plugin", "LIBRARY.so[?KEY=VALUE[&KEY=VALUE]]", group,
       "functions that kernels import, or a machine to run them; the last one "
       "is asked first"},
      {"global", "NAME=VALUE", group, "set a global first"},
      {"max-global-bytes", "N", group,
       "refuse artifacts whose globals take more; default: 4 GiB and the size "
       "of the files"},
  };
  return rows;
}

template <class T> static bool parse(std::string_view text, T &number) {
  const char *end = text.data() + text.size();
  auto [last, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc() && last == end && !text.empty();
}

bool parseNumber(std::string_view text, uint32_t &number) {
  return parse(text, number);
}

Taken setOption(std::string_view name, std::string_view value,
                Options &options) {
  std::string text(value);
  if (name == "function")
    options.function = text;
  else if (name == "device")
    options.device = text;
  else if (name == "variant")
    options.variant = text;
  else if (name == "constants")
    options.constants = text;
  else if (name == "global")
    options.globals.push_back(text);
  else if (name == "custom-call")
    options.customCalls.push_back(text);
  else if (name == "executable-plugin")
    options.plugins.push_back(text);
  else if (name == "max-global-bytes")
    return parse(value, options.maxGlobalBytes) ? Taken::Yes : Taken::Wrong;
  else if (name == "threads")
    return parseNumber(value, options.threads) ? Taken::Yes : Taken::Wrong;
  else
    return Taken::No;
  return Taken::Yes;
}

} // namespace alula::model
