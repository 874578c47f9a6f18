// GNU make: "--jobserver-auth=fifo:PATH" or "--jobserver-auth=R,W" among the
// words of MAKEFLAGS. A token is a byte.

#include "compiler/preprocess/job_server.h"

#include "llvm/ADT/SmallVector.h"

#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace alula::preprocess;

/// An open file of our own that does not block; make's own must stay as it is.
/// -1 if `path` is no pipe: make closes it for those that it does not know.
static int openPipe(const std::string &path, int mode) {
  struct stat status;
  if (stat(path.c_str(), &status) || !S_ISFIFO(status.st_mode))
    return -1;
  return open(path.c_str(), mode | O_NONBLOCK | O_CLOEXEC);
}

static std::string getOwnFile(llvm::StringRef number) {
  unsigned descriptor;
  if (number.getAsInteger(10, descriptor))
    return "";
  return "/proc/self/fd/" + std::to_string(descriptor);
}

JobServer JobServer::fromEnvironment() {
  const char *flags = getenv("MAKEFLAGS");
  return JobServer(flags ? flags : "");
}

JobServer::JobServer(llvm::StringRef makeFlags) {
  llvm::StringRef where;
  llvm::SmallVector<llvm::StringRef> words;
  makeFlags.split(words, ' ');
  // The last one counts.
  for (llvm::StringRef word : words)
    if (word.consume_front("--jobserver-auth=") ||
        word.consume_front("--jobserver-fds="))
      where = word;
  if (where.empty())
    return;
  std::string from, to;
  if (where.consume_front("fifo:")) {
    from = to = where.str();
  } else {
    from = getOwnFile(where.split(',').first);
    to = getOwnFile(where.split(',').second);
  }
  // A fifo without a writer would be at its end.
  read = openPipe(from, from == to ? O_RDWR : O_RDONLY);
  write = openPipe(to, from == to ? O_RDWR : O_WRONLY);
  if (read >= 0 && write >= 0)
    return;
  for (int *each : {&read, &write}) {
    if (*each >= 0)
      close(*each);
    *each = -1;
  }
}

JobServer::JobServer(JobServer &&other)
    : read(std::exchange(other.read, -1)),
      write(std::exchange(other.write, -1)), tokens(std::move(other.tokens)) {
  other.tokens.clear();
}

JobServer::~JobServer() {
  hold(0);
  if (read >= 0) {
    close(read);
    close(write);
  }
}

bool JobServer::hold(unsigned tools) {
  if (read < 0)
    return true;
  // One is ours already: make runs us.
  size_t needed = tools ? tools - 1 : 0;
  while (tokens.size() > needed)
    giveBack();
  while (tokens.size() < needed)
    if (!take())
      return false;
  return true;
}

bool JobServer::take() {
  char token;
  ssize_t size;
  do
    size = ::read(read, &token, 1);
  while (size < 0 && errno == EINTR);
  if (size == 1)
    tokens += token;
  return size == 1;
}

void JobServer::giveBack() {
  char token = tokens.back();
  tokens.pop_back();
  while (::write(write, &token, 1) < 0 && errno == EINTR)
    ;
}
