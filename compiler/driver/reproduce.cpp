#include "compiler/driver/reproduce.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace alula::driver;

namespace {
constexpr StringLiteral localScript =
    "#!/bin/sh\n"
    "# The pass that failed, alone: the program is the one before it.\n"
    "cd \"$(dirname \"$0\")\"\n"
    "exec \"${ALULA_OPT:-alula-opt}\" local.mlir -o /dev/null "
    "--pass-pipeline=\"$(sed -n 's/^ *pipeline: \"\\(.*\\)\",$/\\1/p' "
    "local.mlir)\"\n";

/// For a shell.
std::string quote(StringRef word) {
  std::string quoted = "'";
  for (char c : word)
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

/// Without the folders of this machine.
std::string shorten(StringRef word) {
  auto [name, value] = word.split('=');
  if (!value.starts_with("/"))
    return word.str();
  auto [path, rest] = value.split(' ');
  return (name + "=" + sys::path::filename(path) + (rest.empty() ? "" : " ") +
          rest)
      .str();
}

/// Whatever it exits with. Nothing here allocates.
void runAndWait(const std::vector<std::string> &words, bool isQuiet) {
  constexpr size_t most = 1023;
  static char *arguments[most + 1];
  size_t count = std::min(words.size(), most);
  for (size_t i = 0; i < count; ++i)
    arguments[i] = const_cast<char *>(words[i].c_str());
  arguments[count] = nullptr;
  pid_t child = fork();
  if (child == 0) {
    // A crash handler runs with its signal blocked.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    if (isQuiet)
      dup2(null, STDERR_FILENO);
    execv(arguments[0], arguments);
    _exit(127);
  }
  if (child > 0)
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR)
      ;
}

void say(StringRef text) {
  // Nobody is left to tell.
  (void)!::write(STDERR_FILENO, text.data(), text.size());
}
} // namespace

Reproducer::Reproducer(ReproducerOptions given) : options(std::move(given)) {
  auto place = [&](StringRef name) {
    SmallString<128> path(options.folder);
    sys::path::append(path, name);
    return path.str().str();
  };
  beforePath = place("before.mlir");
  inputPath = place("input");
  scriptPath = place("rerun.sh");
  localScriptPath = place("rerun-local.sh");
  stagesPath = place("stages.txt");
  if (options.input == "-")
    options.input = inputPath;
  listStages = {options.self, "--print-stages", "-o", stagesPath};
  for (const std::string &flag : options.flags)
    listStages.push_back(flag);
  for (unsigned i = 0; i < roomCount; ++i)
    plans[i] = makePlan(static_cast<Room>(i));
}

Reproducer::Plan Reproducer::makePlan(Room failing) const {
  Plan plan;
  auto number = static_cast<unsigned>(failing);
  bool isFirst =
      number == (options.completed ? unsigned(*options.completed) + 1 : 0);
  std::string to = "--compile-to=" + getRoomName(failing).str();
  if (!isFirst && number > 0) {
    plan.before = {options.self,
                   options.input,
                   "--crash-reproducer=off",
                   "-o",
                   beforePath,
                   "--compile-to=" +
                       getRoomName(static_cast<Room>(number - 1)).str()};
    append_range(plan.before, options.flags);
  }
  plan.script = "#!/bin/sh\n# " + compilerVersion.str() + ": stage '" +
                getRoomName(failing).str() +
                "' fails; before.mlir is the program before it, stages.txt "
                "what is done.\ncd \"$(dirname \"$0\")\"\n"
                "exec \"${ALULA_COMPILE:-alula-compile}\" before.mlir " +
                to + " --crash-reproducer=off -o /dev/null";
  if (options.isLocal)
    plan.local = {options.self,
                  beforePath,
                  "--crash-reproducer=off",
                  "-o",
                  "/dev/null",
                  to,
                  "--mlir-pass-pipeline-crash-reproducer=" +
                      StringRef(beforePath).drop_back(11).str() + "local.mlir",
                  "--mlir-pass-pipeline-local-reproducer"};
  // A dump brings its flags along, but for those of plugins.
  for (const std::string &flag : options.flags)
    if (isFirst || StringRef(flag).starts_with("--load-plugin")) {
      plan.script += " " + quote(options.isFull ? flag : shorten(flag));
      if (options.isLocal)
        plan.local.push_back(flag);
    }
  plan.script += " \"$@\"\n";
  return plan;
}

bool Reproducer::writeFile(const std::string &path, StringRef bytes,
                           bool isScript) const {
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                  isScript ? 0755 : 0644);
  if (file < 0)
    return false;
  while (!bytes.empty()) {
    ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      break;
    bytes = bytes.drop_front(static_cast<size_t>(written));
  }
  close(file);
  return bytes.empty();
}

void Reproducer::write() const {
  const Plan &plan = plans[room];
  if (mkdir(options.folder.c_str(), 0777) && errno != EEXIST) {
    say("alula-compile: note: no folder for a reproducer: ");
    say(options.folder);
    say("\n");
    return;
  }
  bool isGood = true;
  if (options.input == inputPath)
    isGood = writeFile(inputPath, options.inputBytes);
  if (!plan.before.empty())
    runAndWait(plan.before, /*isQuiet=*/true);
  if (access(beforePath.c_str(), R_OK))
    isGood &= writeFile(beforePath, options.inputBytes);
  if (options.input == inputPath)
    unlink(inputPath.c_str());
  isGood &= writeFile(scriptPath, plan.script, /*isScript=*/true);
  runAndWait(listStages, /*isQuiet=*/true);
  if (!plan.local.empty()) {
    runAndWait(plan.local, /*isQuiet=*/true);
    isGood &= writeFile(localScriptPath, localScript, /*isScript=*/true);
  }
  say(isGood ? "alula-compile: note: how to see this again is in "
             : "alula-compile: note: the disk is full: not all is in ");
  say(options.folder);
  say("\n");
}

void Reproducer::writeOnCrash() {
  sys::AddSignalHandler(
      [](void *reproducer) {
        static volatile sig_atomic_t isRunning = 0;
        if (isRunning)
          return;
        isRunning = 1;
        static_cast<Reproducer *>(reproducer)->write();
      },
      this);
}
