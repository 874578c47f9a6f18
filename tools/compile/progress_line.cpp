#include "tools/compile/progress_line.h"

#include <cstdio>
#include <unistd.h>

using namespace alula;
using namespace alula::tools;

static constexpr std::chrono::milliseconds patience(2000), period(100);

ProgressLine::ProgressLine(driver::Room until)
    : isTerminal(isatty(STDERR_FILENO)), rooms(unsigned(until) + 1),
      start(std::chrono::steady_clock::now()) {
  if (isTerminal)
    thread = std::thread([this] { work(); });
}

ProgressLine::~ProgressLine() {
  {
    std::lock_guard lock(mutex);
    isEnding = true;
  }
  wakeUp.notify_all();
  if (thread.joinable())
    thread.join();
  clear();
}

void ProgressLine::show(const driver::Progress &progress) {
  if (!isTerminal)
    return;
  std::string line = "[" + std::to_string(unsigned(progress.room) + 1) + "/" +
                     std::to_string(rooms) + "] " +
                     driver::getRoomName(progress.room).str();
  if (progress.total)
    line += " " + std::to_string(progress.done + 1) + "/" +
            std::to_string(progress.total);
  if (!progress.step.empty())
    line += ": " + progress.step.substr(0, 50).str();
  std::lock_guard lock(mutex);
  text = line;
}

void ProgressLine::clear() {
  std::lock_guard lock(mutex);
  if (isShown)
    fputs("\r\033[K", stderr);
  isShown = false;
}

void ProgressLine::work() {
  std::unique_lock lock(mutex);
  auto next = patience;
  while (!wakeUp.wait_until(lock, start + next, [this] { return isEnding; })) {
    auto seconds = std::chrono::duration_cast<std::chrono::seconds>(next);
    fprintf(stderr, "\r\033[K%llds %s", (long long)seconds.count(),
            text.c_str());
    fflush(stderr);
    isShown = true;
    next += period;
  }
}
