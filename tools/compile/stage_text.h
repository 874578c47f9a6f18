// What the compiler is at, as a line.

#pragma once

#include "compiler/driver/options.h"

#include <mutex>
#include <string>

namespace alula::tools {

/// Set by the thread that compiles, read by the one that shows it.
class StageText {
public:
  explicit StageText(driver::Room last) : last(last) {}

  void setLast(driver::Room room) { last = room; }
  void set(const driver::Progress &progress);
  std::string get();

private:
  driver::Room last;
  std::mutex mutex;
  std::string text;
};

} // namespace alula::tools
