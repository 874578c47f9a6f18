#include "tools/progress/progress_line.h"

#include <cstdio>
#include <unistd.h>

namespace alula::tools {

static constexpr std::chrono::milliseconds patience(2000), period(100);

ProgressLine::ProgressLine(std::function<std::string()> describe)
    : isTerminal(isatty(STDERR_FILENO)), describe(std::move(describe)),
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
    fprintf(stderr, "\r\033[K%llds %s", static_cast<long long>(seconds.count()),
            describe().c_str());
    fflush(stderr);
    isShown = true;
    next += period;
  }
}

} // namespace alula::tools
