#include "tools/compile/stage_text.h"

using namespace alula;
using namespace alula::tools;

void StageText::set(const driver::Progress &progress) {
  std::string line = "[" + std::to_string(unsigned(progress.room) + 1) + "/" +
                     std::to_string(unsigned(last) + 1) + "] " +
                     driver::getRoomName(progress.room).str();
  if (progress.total)
    line += " " + std::to_string(progress.done + 1) + "/" +
            std::to_string(progress.total);
  if (!progress.step.empty())
    line += ": " + progress.step.substr(0, 50).str();
  std::lock_guard lock(mutex);
  text = line;
}

std::string StageText::get() {
  std::lock_guard lock(mutex);
  return text;
}
