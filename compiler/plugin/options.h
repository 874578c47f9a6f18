// Options of plugins: types, ranges, values.

#pragma once

#include "compiler/plugin/plugin.h"

namespace alula::plugin {

llvm::StringRef getTypeName(const alula_option &option);

/// The value as the plugin gets it; [plug-option] if it is none of the type or
/// out of range.
llvm::Expected<std::string> readValue(const Plugin &plugin,
                                      const alula_option &option,
                                      llvm::StringRef text);

/// "ID:NAME=VALUE", or "ID:NAME" for true.
llvm::Expected<OptionSetting> readSetting(llvm::StringRef text);

/// A value for each option of the plugin: the last setting, or the default.
llvm::Expected<std::vector<std::string>>
readValues(const Plugin &plugin, llvm::ArrayRef<OptionSetting> settings);

/// That every setting is for an active plugin that has this option.
llvm::Error checkSettings(const PluginSet &plugins,
                          llvm::ArrayRef<OptionSetting> settings);

/// Names and defaults of the plugin's options. [plug-option]
llvm::Error checkOptions(const Plugin &plugin);

} // namespace alula::plugin
