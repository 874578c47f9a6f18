#include "runtime/base/library.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <unistd.h>

namespace alula::runtime {

void *openPart(const char *name) {
  char path[4096];
  Dl_info self;
  if (!dladdr(reinterpret_cast<const void *>(&openPart), &self))
    self.dli_fname = "";
  const char *slash = strrchr(self.dli_fname, '/');
  int length = slash ? int(slash + 1 - self.dli_fname) : 0;
  for (const char *folder : {"", "../lib/"}) {
    snprintf(path, sizeof path, "%.*s%s%s", length, self.dli_fname, folder,
             name);
    if (void *library = dlopen(path, RTLD_NOW))
      return library;
    // What it needs is missing: the last error says what.
    if (access(path, F_OK) == 0)
      return nullptr;
  }
  return dlopen(name, RTLD_NOW);
}

} // namespace alula::runtime
