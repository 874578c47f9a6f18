#include "pjrt/dump.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace alula::pjrt;

Dump::Dump(const std::string &wanted) {
  const char *variable = getenv("ALULA_DUMP_TO");
  std::string folder = !wanted.empty() ? wanted : variable ? variable : "";
  if (folder.empty())
    return;
  static std::atomic<unsigned> count{0};
  char number[64];
  snprintf(number, sizeof number, "/%d.%04u", int(getpid()), ++count);
  path = folder + number;
}

Dump::~Dump() {
  if (path.empty() || name.empty())
    return;
  // A name is the program's own, and a part of no path.
  for (char &character : name)
    if (character == '/' || static_cast<unsigned char>(character) <= ' ')
      character = '_';
  rename(path.c_str(), (path + '.' + name).c_str());
}
