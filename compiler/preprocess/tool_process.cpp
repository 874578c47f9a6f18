// Supervises tools from one thread: it polls their pipes and their processes.
// LLVM's ExecuteAndWait has one alarm for all threads, leaves grandchildren
// behind, and tells a status of 127 from a failed start by nothing.

#include "compiler/preprocess/tool_process.h"

#include "compiler/preprocess/excerpt.h"
#include "compiler/preprocess/job_server.h"

#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace alula::preprocess;
using Clock = std::chrono::steady_clock;

namespace {
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd(fd) {
    // Who closed our own standard streams must not get ours mixed up with the
    // tool's.
    if (fd < 0 || fd > 2)
      return;
    this->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    ::close(fd);
  }
  Descriptor(Descriptor &&other) : fd(std::exchange(other.fd, -1)) {}
  Descriptor &operator=(Descriptor &&other) {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Descriptor() { close(); }

  void close() {
    if (fd >= 0)
      ::close(fd);
    fd = -1;
  }
  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }

private:
  int fd = -1;
};

/// A file in memory that holds `text` and stays as it is: a tool that reads
/// none of it is no broken pipe, and one that reads late blocks nobody.
Descriptor openInput(llvm::StringRef text) {
  Descriptor file(memfd_create("input", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file)
    return file;
  while (!text.empty()) {
    ssize_t size = write(file.get(), text.data(), text.size());
    if (size < 0 && errno == EINTR)
      continue;
    if (size < 0)
      return Descriptor();
    text = text.drop_front(size);
  }
  lseek(file.get(), 0, SEEK_SET);
  fcntl(file.get(), F_ADD_SEALS,
        F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
  return file;
}

struct Pipe {
  Descriptor read, write;

  /// Only our end does not block.
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
      return false;
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
    return read && write &&
           fcntl(read.get(), F_SETFL, O_NONBLOCK | O_RDONLY) == 0;
  }
};

/// What posix_spawn wants: pointers into strings, and none at the end.
std::vector<char *> pointTo(const std::vector<std::string> &strings) {
  std::vector<char *> pointers;
  for (const std::string &string : strings)
    pointers.push_back(const_cast<char *>(string.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> mergeEnvironment(std::vector<std::string> merged) {
  size_t own = merged.size();
  for (char **variable = environ; *variable; ++variable) {
    llvm::StringRef inherited(*variable);
    llvm::StringRef name = inherited.split('=').first;
    bool isReplaced = false;
    for (size_t i = 0; i < own && !isReplaced; ++i)
      isReplaced = llvm::StringRef(merged[i]).split('=').first == name;
    if (!isReplaced)
      merged.push_back(inherited.str());
  }
  return merged;
}

/// Starts a tool in a group of its own with the usual signals and no other
/// open files. Returns errno, or 0.
int spawn(const ToolRun &run, int input, int output, int errors, pid_t &pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, 0);
  posix_spawn_file_actions_adddup2(&files, output, 1);
  posix_spawn_file_actions_adddup2(&files, errors, 2);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
#endif
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                            POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> environment = mergeEnvironment(run.environment);
  int error =
      posix_spawn(&pid, run.path.c_str(), &files, &attributes,
                  pointTo(run.words).data(), pointTo(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

/// A tool that is alive, or ended but not yet let go.
class Tool {
public:
  Tool(unsigned index, const ToolLimits &limits)
      : index(index), limits(limits), errors(limits.errorBytes) {}

  ~Tool() {
    if (pid > 0)
      letGo();
  }

  /// Returns false and sets the result if it can't be started.
  bool start(const ToolRun &run) {
    begin = Clock::now();
    Descriptor input = openInput(run.input);
    Pipe outputPipe, errorPipe;
    if (!input || !outputPipe.open() || !errorPipe.open()) {
      result.code = errno;
      return false;
    }
    pid_t started = 0;
    result.code = spawn(run, input.get(), outputPipe.write.get(),
                        errorPipe.write.get(), started);
    if (result.code)
      return false;
    pid = started;
    process = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    output = std::move(outputPipe.read);
    errorOutput = std::move(errorPipe.read);
    if (limits.timeout.count() > 0)
      next = begin + limits.timeout;
    return true;
  }

  void addPolls(std::vector<pollfd> &polls) const {
    for (const Descriptor *each : {&output, &errorOutput})
      if (*each)
        polls.push_back({each->get(), POLLIN, 0});
    if (process && !exit)
      polls.push_back({process.get(), POLLIN, 0});
  }

  /// When something must happen though nothing is heard of it.
  std::optional<Clock::time_point> getDeadline() const {
    if (exit || process)
      return next;
    // A kernel that can't tell us when it ends: look again and again.
    auto soon = Clock::now() + std::chrono::milliseconds(10);
    return next && *next < soon ? next : soon;
  }

  /// Asks the group to end.
  void terminate() {
    if (isTerminating)
      return;
    isTerminating = true;
    kill(-pid, SIGTERM);
    next = Clock::now() + limits.grace;
  }

  /// Does what there is to do; true once it has ended.
  bool advance() {
    readAll();
    lookForExit();
    auto now = Clock::now();
    bool isDue = next && *next <= now;
    if (exit) {
      readAll();
      return isTerminating || isDue || (!output && !errorOutput);
    }
    if (!isDue)
      return false;
    if (isTerminating) {
      kill(-pid, SIGKILL);
      next.reset();
      return false;
    }
    result.end = ToolEnd::Timeout;
    terminate();
    return false;
  }

  /// Of a tool that has ended.
  ToolResult takeResult() {
    if (exit && result.end == ToolEnd::Spawn && !waitError) {
      result.end =
          exit->si_code == CLD_EXITED ? ToolEnd::Exit : ToolEnd::Signal;
      result.code = exit->si_status;
      result.dumpedCore = exit->si_code == CLD_DUMPED;
    } else if (waitError) {
      result.code = waitError;
    }
    result.seconds =
        std::chrono::duration<double>(Clock::now() - begin).count();
    result.errors = errors.take();
    return std::move(result);
  }

  const unsigned index;

private:
  void readAll() {
    read(output, [&](llvm::StringRef text) {
      if (result.end == ToolEnd::OutputLimit)
        return;
      if (text.size() <= limits.outputBytes - result.output.size()) {
        result.output += text;
        return;
      }
      result.output.clear();
      result.end = ToolEnd::OutputLimit;
      terminate();
    });
    read(errorOutput, [&](llvm::StringRef text) { errors.add(text); });
  }

  /// A bounded number of bytes: the others have pipes too.
  void read(Descriptor &from, llvm::function_ref<void(llvm::StringRef)> add) {
    if (!from)
      return;
    char buffer[65536];
    for (int i = 0; i < 64; ++i) {
      ssize_t size = ::read(from.get(), buffer, sizeof buffer);
      if (size < 0 && errno == EINTR)
        continue;
      if (size < 0 && errno == EAGAIN)
        return;
      if (size <= 0) {
        from.close();
        return;
      }
      add(llvm::StringRef(buffer, size));
    }
  }

  /// Leaves the process a zombie: its number, and the group's, stay its own.
  void lookForExit() {
    if (exit)
      return;
    siginfo_t info{};
    int status;
    do
      status = waitid(P_PID, pid, &info, WEXITED | WNOWAIT | WNOHANG);
    while (status < 0 && errno == EINTR);
    if (status == 0 && info.si_pid == 0)
      return;
    // Someone else waited for it, or children are not to be waited for.
    if (status < 0)
      waitError = errno;
    exit = info;
    next = Clock::now() + limits.drain;
  }

  /// Ends what is left of the group before its number may be another's.
  void letGo() {
    if (!waitError)
      kill(-pid, SIGKILL);
    siginfo_t info;
    while (waitid(P_PID, pid, &info, WEXITED) < 0 && errno == EINTR)
      ;
    pid = 0;
  }

  const ToolLimits &limits;
  pid_t pid = 0;
  Descriptor process, output, errorOutput;
  Clock::time_point begin;
  /// The time limit, then the end of grace or of draining.
  std::optional<Clock::time_point> next;
  std::optional<siginfo_t> exit;
  int waitError = 0;
  bool isTerminating = false;
  ToolResult result;
  Excerpt errors;
};

class Supervisor {
public:
  Supervisor(unsigned count, const ToolLimits &limits,
             llvm::function_ref<ToolRun(unsigned)> prepare,
             llvm::function_ref<bool(unsigned, ToolResult &&)> finish,
             const std::function<bool()> &isCancelled)
      : count(count), limits(limits), prepare(prepare), finish(finish),
        isCancelled(isCancelled) {}

  void run() {
    while (true) {
      if (!isStopping && isCancelled && isCancelled())
        stop();
      startSome();
      if (alive.empty())
        return;
      wait();
      for (size_t i = 0; i < alive.size();)
        if (alive[i]->advance())
          end(i);
        else
          ++i;
    }
  }

private:
  bool wantsMore() const {
    return !isStopping && next < count &&
           alive.size() < std::max(1u, limits.jobs);
  }

  void startSome() {
    while (wantsMore() &&
           jobServer.hold(static_cast<unsigned>(alive.size() + 1))) {
      auto tool = std::make_unique<Tool>(next, limits);
      if (tool->start(prepare(next++)))
        alive.push_back(std::move(tool));
      else if (!finish(tool->index, tool->takeResult()))
        stop();
    }
    jobServer.hold(static_cast<unsigned>(alive.size()));
  }

  void wait() {
    std::vector<pollfd> polls;
    std::optional<Clock::time_point> deadline;
    for (auto &tool : alive) {
      tool->addPolls(polls);
      if (auto each = tool->getDeadline();
          each && (!deadline || *each < *deadline))
        deadline = each;
    }
    if (wantsMore() && jobServer.getDescriptor() >= 0)
      polls.push_back({jobServer.getDescriptor(), POLLIN, 0});
    // Nobody wakes us when the answer changes.
    using std::chrono::milliseconds;
    milliseconds time(isCancelled ? 100 : 60000);
    if (deadline)
      time = std::min(
          time, std::chrono::ceil<milliseconds>(*deadline - Clock::now()));
    poll(polls.data(), polls.size(),
         static_cast<int>(std::max<int64_t>(0, time.count())));
  }

  void end(size_t i) {
    std::unique_ptr<Tool> tool = std::move(alive[i]);
    alive.erase(alive.begin() + i);
    unsigned index = tool->index;
    ToolResult result = tool->takeResult();
    // Gone before anybody is told.
    tool.reset();
    if (!isStopping && !finish(index, std::move(result)))
      stop();
  }

  void stop() {
    isStopping = true;
    for (auto &tool : alive)
      tool->terminate();
  }

  unsigned count, next = 0;
  const ToolLimits &limits;
  llvm::function_ref<ToolRun(unsigned)> prepare;
  llvm::function_ref<bool(unsigned, ToolResult &&)> finish;
  const std::function<bool()> &isCancelled;
  std::vector<std::unique_ptr<Tool>> alive;
  bool isStopping = false;
  JobServer jobServer = JobServer::fromEnvironment();
};
} // namespace

void alula::preprocess::runTools(
    unsigned count, const ToolLimits &limits,
    llvm::function_ref<ToolRun(unsigned)> prepare,
    llvm::function_ref<bool(unsigned, ToolResult &&)> finish,
    const std::function<bool()> &isCancelled) {
  Supervisor(count, limits, prepare, finish, isCancelled).run();
}
