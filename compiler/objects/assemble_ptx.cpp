#include "compiler/objects/assemble_ptx.h"

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

std::optional<Chip> alula::objects::parseChip(StringRef name) {
  Chip chip = {0, false};
  if (!name.consume_front("sm_") || name.consumeInteger(10, chip.number))
    return std::nullopt;
  chip.isExact = name.consume_front("a");
  return name.empty() ? std::optional(chip) : std::nullopt;
}

std::string alula::objects::findAssembler(StringRef given) {
  if (!given.empty())
    return given.str();
  if (auto path = sys::findProgramByName("ptxas"))
    return *path;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *home = getenv(variable))
      if (auto path =
              sys::findProgramByName("ptxas", {std::string(home) + "/bin"}))
        return *path;
  return "";
}

Expected<std::string>
alula::objects::makeCubin(StringRef program, StringRef text, StringRef chip) {
  SmallString<128> folder;
  if (std::error_code error =
          sys::fs::createUniqueDirectory("alula-ptx", folder))
    return createStringError(error, "there is no folder for files: " +
                                        error.message());
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
    os << text;
    os.close();
    if (error || os.has_error()) {
      error = error ? error : os.error();
      os.clear_error();
      return createStringError(error,
                               "a file can't be written: " + error.message());
    }
  }
  std::string option = "-arch=" + chip.str();
  StringRef words[] = {program, option, input, "-o", output};
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(said),
                                          StringRef(said)};
  std::string why;
  int status =
      sys::ExecuteAndWait(program, words, std::nullopt, redirects, 0, 0, &why);
  if (status == 0) {
    auto cubin = MemoryBuffer::getFile(output);
    if (!cubin || !(*cubin)->getBufferSize())
      return createStringError("'" + program + "' has made no cubin");
    return (*cubin)->getBuffer().str();
  }
  if (status < 0)
    return createStringError("'" + program + "' did not run: " + why);
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
  return createStringError("is refused by ptxas: " + shown);
}

void alula::objects::assemblePtx(StringRef text, StringRef device,
                                 Problems &problems) {
  std::string program = findAssembler();
  if (program.empty())
    return;
  if (auto cubin = makeCubin(program, text, device); !cubin)
    problems.push_back({"obj-ptxas", toString(cubin.takeError())});
}
