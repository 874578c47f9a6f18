// Tools inside libalula_compiler have no plugins linked in.
#include "tools/plugin/flags.h"

llvm::ArrayRef<alula::plugin::StaticPlugin> alula::tools::getLinkedPlugins() {
  return {};
}
