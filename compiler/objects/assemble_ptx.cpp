// NVIDIA's assembler as a second opinion, where it is installed.

#include "compiler/objects/ptx_text.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace alula::objects;

static std::string findAssembler() {
  if (auto path = sys::findProgramByName("ptxas"))
    return *path;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *home = getenv(variable))
      if (auto path =
              sys::findProgramByName("ptxas", {std::string(home) + "/bin"}))
        return *path;
  return "";
}

void alula::objects::assemblePtx(StringRef text, StringRef device,
                                 Problems &problems) {
  std::string program = findAssembler();
  if (program.empty())
    return;
  SmallString<128> folder;
  if (sys::fs::createUniqueDirectory("alula-ptx", folder))
    return;
  auto cleanUp =
      make_scope_exit([&] { (void)sys::fs::remove_directories(folder); });
  auto inFolder = [&](StringRef name) {
    SmallString<128> path(folder);
    sys::path::append(path, name);
    return std::string(path);
  };
  std::string input = inFolder("kernels.ptx"), said = inFolder("said"),
              output = inFolder("kernels.cubin");
  {
    std::error_code error;
    raw_fd_ostream os(input, error);
    if (error)
      return;
    os << text;
  }
  std::string option = "-arch=" + device.str();
  StringRef words[] = {program, option, input, "-o", output};
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(said),
                                          StringRef(said)};
  int status = sys::ExecuteAndWait(program, words, std::nullopt, redirects);
  if (status == 0)
    return;
  auto buffer = MemoryBuffer::getFile(said);
  StringRef lines = buffer ? (*buffer)->getBuffer().trim() : StringRef();
  std::string shown;
  for (unsigned i = 0; i < 20 && !lines.empty(); ++i) {
    auto [line, rest] = lines.split('\n');
    // The file's name is ours, and means nothing to anybody.
    size_t end = line.find(input);
    if (end != StringRef::npos)
      line = line.drop_front(end + input.size()).ltrim(", ");
    shown += (shown.empty() ? "" : "; ") + line.str();
    lines = rest;
  }
  problems.push_back({"obj-ptxas", "is refused by ptxas: " + shown});
}
