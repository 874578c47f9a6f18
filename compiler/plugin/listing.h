#pragma once

#include "compiler/plugin/plugin.h"

namespace alula::plugin {

/// What --list-plugins and --list-plugins=json print.
std::string printPlugins(const PluginSet &set);
std::string printPluginsAsJson(const PluginSet &set);

} // namespace alula::plugin
