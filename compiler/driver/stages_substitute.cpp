// Executables of files in the place of the compiler's.

#include "compiler/driver/program.h"
#include "compiler/driver/stages_executables.h"
#include "compiler/preprocess/check_contract.h"
#include "compiler/preprocess/envelope.h"
#include "compiler/preprocess/splice.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace alula;
using namespace alula::driver;
using alula::dispatch::ExecutableOp;

namespace {
class Substituter {
public:
  Substituter(ModuleOp module, Room stage, const CompileOptions &options)
      : module(module), stage(stage), options(options) {}

  LogicalResult run() {
    if (llvm::none_of(options.substitutions, [&](const Substitution &each) {
          return each.stage == stage;
        }))
      return success();
    names = nameExecutables(module);
    for (const Substitution &each : options.substitutions)
      if (each.stage == stage &&
          failed(each.executable.empty() ? takeFolder(each.path)
                                         : takeFile(each)))
        return failure();
    for (auto &[original, envelope] : replacements)
      if (stage == Room::Dispatch &&
          failed(preprocess::finishBodies(*envelope)))
        return failure();
    for (auto &[original, envelope] : replacements)
      put(original, *envelope);
    return success();
  }

private:
  void put(ExecutableOp original, ModuleOp envelope) {
    if (stage == Room::Dispatch) {
      preprocess::splice(original, preprocess::readContract(original),
                         envelope);
      return;
    }
    ExecutableOp executable = preprocess::unwrap(envelope);
    preprocess::restoreOwn(original, executable);
    executable->moveBefore(original);
    original.erase();
  }

  InFlightDiagnostic fail() {
    return emitError(module.getLoc()) << "[substitute] ";
  }

  StringRef getKind() const {
    return stage == Room::Dispatch ? ".source" : ".config";
  }

  LogicalResult takeFile(const Substitution &each) {
    auto executable = module.lookupSymbol<ExecutableOp>(each.executable);
    if (executable)
      return replace(executable, each.path);
    std::string known;
    for (auto &[name, file] : names)
      known += (known.empty() ? "'" : ", '") + name.str() + "'";
    return fail() << each.path << ": there is no executable '"
                  << each.executable << "': there are "
                  << (known.empty() ? "none" : known);
  }

  LogicalResult takeFolder(StringRef folder) {
    bool isEmpty = true;
    for (auto &[name, file] : names)
      for (StringRef ending : {".mlir", ".mlirbc"}) {
        llvm::SmallString<128> path(folder);
        llvm::sys::path::append(path, file + getKind() + ending);
        if (!llvm::sys::fs::exists(path))
          continue;
        isEmpty = false;
        if (failed(replace(module.lookupSymbol<ExecutableOp>(name), path)))
          return failure();
        break;
      }
    if (isEmpty)
      return fail() << folder << ": holds no executable of this program: there "
                    << "would be "
                    << (names.empty()
                            ? "none"
                            : names.front().second + getKind().str() + ".mlir");
    return success();
  }

  LogicalResult replace(ExecutableOp original, StringRef path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return fail() << path << ": " << buffer.getError().message();
    OwningOpRef<ModuleOp> envelope =
        readProgram(std::move(*buffer), module.getContext());
    if (!envelope)
      return fail() << path << ": can't be read";
    auto resumption = takeRecord(*envelope);
    if (!resumption)
      return fail() << path << ": " << toString(resumption.takeError());
    if (*resumption && (*resumption)->stage != stage)
      return fail() << path << ": must have been through stage '"
                    << getRoomName(stage) << "': has been through '"
                    << getRoomName((*resumption)->stage) << "'";
    if (preprocess::serialize(*envelope, false) ==
        preprocess::serialize(*preprocess::wrap(original), false))
      return success();
    if (auto problem = preprocess::checkEnvelope(
            *envelope, preprocess::readContractInProgram(original)))
      return fail() << path << ": [" << problem->tag << "] " << problem->text;
    replacements.emplace_back(original, std::move(envelope));
    return success();
  }

  ModuleOp module;
  Room stage;
  const CompileOptions &options;
  llvm::MapVector<StringAttr, std::string> names;
  std::vector<std::pair<ExecutableOp, OwningOpRef<ModuleOp>>> replacements;
};
} // namespace

LogicalResult
alula::driver::substituteExecutables(ModuleOp module, Room stage,
                                     const CompileOptions &options) {
  return Substituter(module, stage, options).run();
}
