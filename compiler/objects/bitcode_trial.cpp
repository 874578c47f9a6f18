#include "compiler/objects/bitcode_trial.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SHA256.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace {
/// Good bitcode of megabytes takes a part of a second.
constexpr rlim_t cpuSeconds = 20;
constexpr int waitSeconds = 60;
constexpr uint64_t mostBytes = uint64_t(4) << 30;

std::string read(StringRef bitcode) {
  LLVMContext context;
  auto module = parseBitcodeFile(MemoryBufferRef(bitcode, "bitcode"), context);
  if (!module)
    return toString(module.takeError());
  return verifyModule(**module) ? "its code does not verify" : "";
}

void limit(decltype(RLIMIT_AS) what, rlim_t most) {
  rlimit now;
  if (getrlimit(what, &now) == 0) {
    now.rlim_cur = std::min<rlim_t>(now.rlim_max, most);
    setrlimit(what, &now);
  }
}

/// Bytes of this process's address space.
uint64_t countBytes() {
  unsigned long long pages = 0;
  if (FILE *file = fopen("/proc/self/statm", "r")) {
    if (fscanf(file, "%llu", &pages) != 1)
      pages = 0;
    fclose(file);
  }
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

/// What the child does: writes what is wrong and ends with 0.
[[noreturn]] void tryHere(StringRef bitcode, int out, bool limitsMemory,
                          uint64_t bytesNow) {
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGXCPU, SIGINT,
                     SIGTERM, SIGHUP})
    ::signal(signal, SIG_DFL);
  int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, cpuSeconds);
  if (limitsMemory)
    limit(RLIMIT_AS, bytesNow + mostBytes);
  std::string damage = read(bitcode);
  for (StringRef rest = damage; !rest.empty();) {
    ssize_t count = write(out, rest.data(), rest.size());
    if (count <= 0)
      _exit(1);
    rest = rest.drop_front(static_cast<size_t>(count));
  }
  _exit(0);
}

/// What comes out of the pipe before the time is over.
bool readAll(int in, std::string &text) {
  auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(waitSeconds);
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                    end - std::chrono::steady_clock::now())
                    .count();
    pollfd waits = {in, POLLIN, 0};
    int ready = left > 0 ? poll(&waits, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready <= 0)
      return false;
    char buffer[4096];
    ssize_t count = ::read(in, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return true;
    text.append(buffer, static_cast<size_t>(count));
  }
}

std::string tryInChild(StringRef bitcode) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||           \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  // Shadow memory has no limit.
  constexpr bool limitsMemory = false;
#else
  constexpr bool limitsMemory = true;
#endif
  int ends[2];
  if (pipe2(ends, O_CLOEXEC))
    return "";
  uint64_t bytesNow = countBytes();
  pid_t child = fork();
  if (child == 0)
    tryHere(bitcode, ends[1], limitsMemory, bytesNow);
  close(ends[1]);
  std::string text;
  bool isInTime = child < 0 || readAll(ends[0], text);
  close(ends[0]);
  // Without a child it is read here, as well as it can be.
  if (child < 0)
    return "";
  if (!isInTime)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return text;
  if (!isInTime || (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU ||
                                            WTERMSIG(status) == SIGKILL)))
    return "LLVM comes to no end with it";
  return status == 0 ? text : "LLVM can't read it";
}
} // namespace

std::string alula::objects::findDamage(StringRef bitcode) {
  static std::mutex mutex;
  static std::map<std::array<uint8_t, 32>, std::string> known;
  auto key = SHA256::hash(arrayRefFromStringRef(bitcode));
  std::lock_guard lock(mutex);
  auto found = known.find(key);
  if (found != known.end())
    return found->second;
  if (known.size() >= 64)
    known.clear();
  return known[key] = tryInChild(bitcode);
}
