#include "tools/compile/object_flags.h"

#include "compiler/objects/ptx_text.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using alula::driver::Room;

namespace {
Error makeUsageError(const Twine &text) {
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           "[obj-usage] " + text);
}

bool isProgram(StringRef path) {
  return path.ends_with(".mlir") || path.ends_with(".mlirbc");
}

/// Dumps hold much: what counts is what goes furthest back.
bool hasSources(StringRef folder) {
  std::error_code error;
  for (sys::fs::directory_iterator at(folder, error), end; at != end && !error;
       at.increment(error))
    if (isProgram(at->path()) && StringRef(at->path()).contains(".source."))
      return true;
  return false;
}
} // namespace

Error alula::tools::ObjectFlags::apply(driver::CompileOptions &options) const {
  options.objects.searchPaths.assign(searchPaths.begin(), searchPaths.end());
  options.objects.missingIsError = missing == Missing::Error;
  options.objects.cudaDriver = cudaDriver;
  if (!cudaDriver.empty() && !objects::findPtxVersion(cudaDriver))
    return makeUsageError("--cuda-driver: must be from 11.0 to 13.1: is '" +
                          cudaDriver + "'");
  for (const std::string &text : substitutions) {
    auto substitution = objects::parseSubstitution(text);
    if (!substitution)
      return makeUsageError("--substitute-executable: must be name=file: is '" +
                            text + "'");
    if (isProgram(substitution->path))
      options.substitutions.push_back(
          {Room::Dispatch, substitution->executable, substitution->path});
    else
      options.objects.sources.files.push_back(std::move(*substitution));
  }
  for (const std::string &folder : folders) {
    if (hasSources(folder))
      options.substitutions.push_back({Room::Dispatch, "", folder});
    else
      options.objects.sources.folders.push_back(folder);
  }
  for (const std::string &text : ownObjects) {
    auto substitution = objects::parseSubstitution(text);
    if (!substitution)
      return makeUsageError(
          "--substitute-executable-object: must be name=file: "
          "is '" +
          text + "'");
    options.objects.objects.files.push_back(std::move(*substitution));
  }
  options.objects.objects.folders.assign(ownFolders.begin(), ownFolders.end());
  return Error::success();
}
