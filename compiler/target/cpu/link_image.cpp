// Links kernels with lld in this process.

#include "compiler/target/cpu/link_image.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

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
  return os.has_error() ? llvm::errorCodeToError(os.error())
                        : llvm::Error::success();
}

/// lld keeps its state in globals: one link at a time.
bool link(llvm::ArrayRef<const char *> arguments, std::string &messages) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  llvm::raw_string_ostream os(messages);
  lld::Result result = lld::lldMain(arguments, llvm::nulls(), os,
                                    {{lld::Gnu, &lld::elf::link}});
  return result.retCode == 0;
}
} // namespace

llvm::Expected<std::string>
alula::cpu::linkImage(const std::vector<std::string> &objects,
                      const std::vector<std::string> &entries,
                      const Machine &machine) {
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
  std::vector<std::string> arguments = {
      "ld.lld",       "-shared",         "-Bsymbolic",
      "--no-undefined", "--gc-sections", "--build-id=none",
      "--hash-style=gnu", "-z",          "text",
      "-z",           "norelro",         "-z",
      "max-page-size=4096", "-z",
      "rodynamic",    "-z",             "noseparate-code",
      "--strip-all", "--version-script",
      inFolder("exports"), "-o",         inFolder("image")};
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
  std::string messages;
  if (!link(pointers, messages))
    return llvm::createStringError("kernels for " + machine.name +
                                   " don't link: " + messages);
  auto image = llvm::MemoryBuffer::getFile(inFolder("image"), /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (!image)
    return llvm::errorCodeToError(image.getError());
  return (*image)->getBuffer().str();
}
