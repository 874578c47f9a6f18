#include "compiler/plugin/options.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace alula::plugin;

namespace {
constexpr StringLiteral typeNames[] = {"bool",   "int",  "uint", "float",
                                       "string", "enum", "list"};

/// "--swap-mul-add: …"
Error complain(const Plugin &plugin, const alula_option &option,
               const Twine &text) {
  return makeProblem("plug-option",
                     "--" + plugin.getId() + "-" + option.name + ": " + text);
}

template <typename Number> bool parse(StringRef text, Number &number) {
  if constexpr (std::is_floating_point_v<Number>)
    return !text.getAsDouble(number);
  else
    return !text.getAsInteger(0, number);
}

template <typename Number>
Expected<std::string> readNumber(const Plugin &plugin,
                                 const alula_option &option, StringRef text) {
  Number value, bound;
  if (!parse(text, value))
    return complain(plugin, option,
                    "must be a number of type " + getTypeName(option) +
                        ": is '" + text + "'");
  bool isLow = option.minimum && parse(StringRef(option.minimum), bound) &&
               value < bound;
  bool isHigh = option.maximum && parse(StringRef(option.maximum), bound) &&
                value > bound;
  if (isLow || isHigh)
    return complain(plugin, option,
                    Twine("must be at ") + (isLow ? "least " : "most ") +
                        (isLow ? option.minimum : option.maximum) + ": is " +
                        text);
  return text.str();
}

const alula_option *findOption(const Plugin &plugin, StringRef name) {
  for (const alula_option &option : plugin.options)
    if (name == option.name)
      return &option;
  return nullptr;
}

std::string listOptions(const Plugin &plugin) {
  if (plugin.options.empty())
    return "it has none";
  std::string text = "it has";
  for (const alula_option &option : plugin.options)
    text += (&option == &plugin.options.front() ? " " : ", ") +
            std::string(option.name);
  return text;
}
} // namespace

StringRef alula::plugin::getTypeName(const alula_option &option) {
  return typeNames[option.type];
}

Expected<std::string> alula::plugin::readValue(const Plugin &plugin,
                                               const alula_option &option,
                                               StringRef text) {
  switch (option.type) {
  case ALULA_OPTION_BOOL:
    if (text == "true" || text == "1")
      return "true";
    if (text == "false" || text == "0")
      return "false";
    return complain(plugin, option, "must be true or false: is '" + text + "'");
  case ALULA_OPTION_INT:
    return readNumber<int64_t>(plugin, option, text);
  case ALULA_OPTION_UINT:
    return readNumber<uint64_t>(plugin, option, text);
  case ALULA_OPTION_FLOAT:
    return readNumber<double>(plugin, option, text);
  case ALULA_OPTION_ENUM: {
    ArrayRef choices(option.choices, option.n_choices);
    if (is_contained(choices, text))
      return text.str();
    return complain(plugin, option,
                    "must be one of " +
                        join(map_range(choices,
                                       [](const char *choice) {
                                         return std::string(choice);
                                       }),
                             ", ") +
                        ": is '" + text + "'");
  }
  default:
    return text.str();
  }
}

Expected<OptionSetting> alula::plugin::readSetting(StringRef text) {
  auto [id, rest] = text.split(':');
  auto [name, value] = rest.split('=');
  if (id.empty() || name.empty())
    return makeProblem("plug-option",
                       "--plugin-opt wants ID:NAME=VALUE: is '" + text + "'");
  return OptionSetting{id.str(), name.str(),
                       rest.contains('=') ? value.str() : "true"};
}

Expected<std::vector<std::string>>
alula::plugin::readValues(const Plugin &plugin,
                          ArrayRef<OptionSetting> settings) {
  std::vector<std::string> values;
  for (const alula_option &option : plugin.options) {
    StringRef text = option.default_value ? option.default_value : "";
    bool isSet = false;
    for (const OptionSetting &setting : settings)
      if (setting.id == plugin.getId() && setting.name == option.name) {
        text = setting.value;
        isSet = true;
      }
    // What is no value of the type stands for "not set" as a default.
    if (!isSet && text.empty()) {
      values.push_back("");
      continue;
    }
    Expected<std::string> value = readValue(plugin, option, text);
    if (!value)
      return value.takeError();
    values.push_back(*value);
  }
  return values;
}

Error alula::plugin::checkSettings(const PluginSet &plugins,
                                   ArrayRef<OptionSetting> settings) {
  for (const OptionSetting &setting : settings) {
    const Plugin *plugin = plugins.find(setting.id);
    std::string what = "--plugin-opt=" + setting.id + ":" + setting.name;
    if (!plugin)
      return makeProblem("plug-option",
                         what + ": no plugin '" + setting.id + "' is loaded");
    if (!plugin->isActive)
      return makeProblem("plug-option",
                         what + ": plugin '" + setting.id +
                             "' is not active: --plugin=" + setting.id);
    if (!findOption(*plugin, setting.name))
      return makeProblem("plug-option", what + ": plugin '" + setting.id +
                                            "' has no such option; " +
                                            listOptions(*plugin));
    if (Expected<std::vector<std::string>> values =
            readValues(*plugin, setting);
        !values)
      return values.takeError();
  }
  return Error::success();
}

Error alula::plugin::checkOptions(const Plugin &plugin) {
  for (const alula_option &option : plugin.options) {
    StringRef name = option.name ? option.name : "";
    bool isGood = !name.empty() && all_of(name, [](char c) {
      return isLower(c) || isDigit(c) || c == '-' || c == '_';
    });
    if (!isGood || option.type >= std::size(typeNames))
      return makeProblem("plug-option", "plugin '" + plugin.getId() +
                                            "': option '" + name +
                                            "' has no good name or type");
    if (findOption(plugin, name) != &option)
      return makeProblem("plug-duplicate", "plugin '" + plugin.getId() +
                                               "' has two options '" + name +
                                               "'");
  }
  if (Expected<std::vector<std::string>> values = readValues(plugin, {});
      !values)
    return values.takeError();
  return Error::success();
}
