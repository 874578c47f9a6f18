#pragma once

#include "compiler/plugin/plugin.h"

namespace alula::plugin {

/// Asks for the table and copies as much of it as there is into `plugin`, then
/// checks it. [plug-abi], [plug-build-key], [plug-two-mlirs], [plug-option]
llvm::Error readTable(alula_plugin_query_function query, HostVersion host,
                      Plugin &plugin);

} // namespace alula::plugin
