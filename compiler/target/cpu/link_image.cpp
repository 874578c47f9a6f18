// Links kernels with lld in this process.

#include "compiler/target/cpu/link_image.h"

#include "compiler/objects/guard.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace alula::cpu;

namespace {
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error)
    return llvm::errorCodeToError(error);
  os << bytes;
  os.close();
  error = os.error();
  // Else the stream ends the process.
  os.clear_error();
  if (!error)
    return llvm::Error::success();
  return llvm::createStringError(error, "can't write '" + path +
                                            "': " + error.message());
}

/// A named pipe that `read` empties. lld writes it from memory; for a file it
/// would have LLVM watch the process's signals and keep a note for good.
class NamedPipe {
public:
  explicit NamedPipe(const std::string &path) {
    if (mkfifo(path.c_str(), 0600))
      return;
    reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    writer = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (isOpen())
      fcntl(reader, F_SETFL, 0);
  }
  NamedPipe(const NamedPipe &) = delete;
  NamedPipe &operator=(const NamedPipe &) = delete;
  ~NamedPipe() {
    closeWriter();
    if (reader >= 0)
      close(reader);
  }

  bool isOpen() const { return reader >= 0 && writer >= 0; }
  /// Without it `read` ends when everybody else has written.
  void closeWriter() {
    if (writer >= 0)
      close(writer);
    writer = -1;
  }
  std::string read() {
    std::string bytes;
    std::vector<char> piece(1 << 16);
    for (;;) {
      ssize_t count = ::read(reader, piece.data(), piece.size());
      if (count > 0)
        bytes.append(piece.data(), static_cast<size_t>(count));
      else if (count == 0 || errno != EINTR)
        return bytes;
    }
  }

private:
  int reader = -1, writer = -1;
};

/// lld keeps its state in globals: one link at a time. What it makes on a
/// thread goes only when that thread ends: each link has its own.
bool link(llvm::ArrayRef<const char *> arguments, bool isGuarded,
          NamedPipe &pipe, std::string &image, std::string &messages) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  llvm::raw_string_ostream os(messages);
  lld::Result result = {};
  bool survives = true;
  std::thread linker([&] {
    auto run = [&] {
      result = lld::lldMain(arguments, llvm::nulls(), os,
                            {{lld::Gnu, &lld::elf::link}});
    };
    if (isGuarded)
      survives = alula::objects::runGuarded(run);
    else
      run();
    pipe.closeWriter();
  });
  image = pipe.read();
  linker.join();
  if (!survives || !result.canRunAgain)
    os << "the linker has crashed";
  return survives && result.retCode == 0;
}
} // namespace

llvm::Expected<std::string>
alula::cpu::linkImage(const std::vector<std::string> &objects,
                      const std::vector<std::string> &entries,
                      const Machine &machine, bool isGuarded,
                      bool keepsNames) {
  llvm::SmallString<128> folder;
  if (auto error = llvm::sys::fs::createUniqueDirectory("alula-link", folder))
    return llvm::errorCodeToError(error);
  auto cleanUp = llvm::make_scope_exit(
      [&] { (void)llvm::sys::fs::remove_directories(folder); });
  auto inFolder = [&](const llvm::Twine &name) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return std::string(path);
  };

  // Names in the folder don't reach the image: same objects, same bytes.
  std::string script = "{ global:";
  for (const std::string &entry : entries)
    script += " \"" + entry + "\";";
  script += " local: *; };\n";
  // clang-format off
  std::vector<std::string> arguments = {
      "ld.lld", "-shared", "-Bsymbolic", "--no-undefined", "--gc-sections",
      "--build-id=none", "--hash-style=gnu",
      // All on the calling thread.
      "--threads=1",
      // One small segment after the other.
      "-z", "text", "-z", "norelro", "-z", "max-page-size=4096", "-z",
      "rodynamic", "-z", "noseparate-code",
      "--version-script", inFolder("exports"), "-o", inFolder("image")};
  // clang-format on
  if (!keepsNames)
    arguments.push_back("--strip-all");
  if (auto error = writeFile(inFolder("exports"), script))
    return std::move(error);
  for (size_t i = 0; i < objects.size(); ++i) {
    std::string path = inFolder(llvm::Twine(i) + ".o");
    if (auto error = writeFile(path, objects[i]))
      return std::move(error);
    arguments.push_back(path);
  }

  llvm::SmallVector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  NamedPipe pipe(inFolder("image"));
  if (!pipe.isOpen())
    return llvm::createStringError(
        std::error_code(errno, std::generic_category()),
        "no pipe for the linker in " + folder.str());
  std::string image, messages;
  if (!link(pointers, isGuarded, pipe, image, messages))
    return llvm::createStringError("kernels for " + machine.name +
                                   " don't link: " + messages);
  return image;
}
