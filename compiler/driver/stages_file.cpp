#include "compiler/driver/stages_file.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static Error writeChecked(StringRef path, raw_fd_ostream &os,
                          function_ref<void(raw_ostream &)> write) {
  write(os);
  os.flush();
  std::error_code code = os.error();
  os.clear_error();
  return code ? createFileError(path, code) : Error::success();
}

Error alula::driver::writeWhole(StringRef path,
                                function_ref<void(raw_ostream &)> write) {
  bool isSpecial =
      path != "-" && sys::fs::exists(path) && !sys::fs::is_regular_file(path);
  if (!isSpecial)
    return writeToOutput(path, [&](raw_ostream &os) {
      return writeChecked(path, static_cast<raw_fd_ostream &>(os), write);
    });
  std::error_code code;
  raw_fd_ostream os(path, code);
  return code ? createFileError(path, code) : writeChecked(path, os, write);
}

Error alula::driver::writeWholeInFolder(
    StringRef folder, StringRef name, function_ref<void(raw_ostream &)> write) {
  if (folder == "-")
    return writeWhole("-", write);
  SmallString<128> path(folder);
  sys::path::append(path, name);
  if (std::error_code code = sys::fs::create_directories(folder))
    return createFileError(path, code);
  return writeWhole(path, write);
}

std::string alula::driver::escapeFileName(StringRef name) {
  std::string escaped;
  for (char c : name)
    if (isAlnum(c) || c == '_' || c == '-' || (c == '.' && !escaped.empty()))
      escaped += c;
    else
      escaped += "%" + toHex(StringRef(&c, 1));
  return escaped;
}
