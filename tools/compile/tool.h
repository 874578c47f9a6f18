#pragma once

#include "tools/plugin/flags.h"

namespace alula::tools {

/// What alula-compile can be told, by flags of its own and of plugins.
options::Tool makeTool(const PluginFlags &plugins);

} // namespace alula::tools
