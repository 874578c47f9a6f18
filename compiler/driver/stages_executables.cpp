#include "compiler/driver/stages_executables.h"

#include "compiler/driver/machines.h"
#include "compiler/driver/stages_dump.h"
#include "compiler/driver/stages_file.h"
#include "compiler/preprocess/envelope.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace alula::driver;
using alula::dispatch::ExecutableOp;

llvm::MapVector<StringAttr, std::string>
alula::driver::nameExecutables(ModuleOp module) {
  constexpr size_t longest = 180;
  llvm::MapVector<StringAttr, std::string> names;
  llvm::StringSet<> taken;
  // One by itself still knows the name of its program.
  auto program = module->getAttrOfType<StringAttr>("dispatch.module");
  StringRef home = program ? program.getValue() : "";
  std::string prefix =
      module.getName().value_or(home.empty() ? "module" : home).str() + "_";
  for (auto executable : module.getOps<ExecutableOp>()) {
    std::string full = prefix + executable.getSymName().str();
    std::string name = escapeFileName(full);
    if (name.size() > longest)
      name = name.substr(0, longest) + "~" +
             llvm::utohexstr(llvm::xxh3_64bits(full), /*LowerCase=*/true);
    // "~" is in no escaped name.
    for (unsigned i = 2; !taken.insert(StringRef(name).lower()).second; ++i)
      name = escapeFileName(full).substr(0, longest) + "~" + std::to_string(i);
    names.insert({executable.getSymNameAttr(), name});
  }
  return names;
}

static LogicalResult report(ModuleOp module, llvm::Error error) {
  if (!error)
    return success();
  return emitError(module.getLoc())
         << "'builtin.module': can't write " << toString(std::move(error));
}

/// A flag of a folder was given "-", and there are several files.
static LogicalResult checkStandardOutput(ModuleOp module, StringRef flag,
                                         StringRef folder, size_t count) {
  if (folder != "-" || count == 1)
    return success();
  return emitError(module.getLoc())
         << "[stage-usage] " << flag << "=-: standard output takes one file: "
         << "there are " << count;
}

LogicalResult alula::driver::writeExecutables(
    ModuleOp module, const ExecutableFiles &files,
    const CompileOptions &options,
    llvm::function_ref<bool(ExecutableOp)> isWanted) {
  if (files.folder.empty())
    return success();
  SmallVector<ExecutableOp> chosen;
  for (auto executable : module.getOps<ExecutableOp>())
    if (!isWanted || isWanted(executable))
      chosen.push_back(executable);
  if (failed(
          checkStandardOutput(module, files.flag, files.folder, chosen.size())))
    return failure();
  auto names = nameExecutables(module);
  for (ExecutableOp executable : chosen) {
    OwningOpRef<ModuleOp> envelope = preprocess::wrap(executable);
    copyMachine(module, *envelope);
    std::string name = names[executable.getSymNameAttr()] + files.kind.str() +
                       (options.dumps.bytecode ? ".mlirbc" : ".mlir");
    if (failed(report(
            module,
            writeWholeInFolder(files.folder, name, [&](llvm::raw_ostream &os) {
              writeStage(*envelope, files.stage, options, name, os,
                         "--executable-only ");
            }))))
      return failure();
  }
  return success();
}

std::map<std::string, std::string>
alula::driver::printExecutables(ModuleOp module) {
  std::map<std::string, std::string> texts;
  for (auto executable : module.getOps<ExecutableOp>())
    texts[executable.getSymName().str()] =
        preprocess::serialize(*preprocess::wrap(executable), false);
  return texts;
}

LogicalResult alula::driver::writeBinaries(ModuleOp module,
                                           const CompileOptions &options,
                                           MakeArtifact makeArtifact) {
  StringRef folder = options.dumps.binaries;
  if (folder.empty())
    return success();
  auto executables = llvm::to_vector(module.getOps<ExecutableOp>());
  if (failed(checkStandardOutput(module, "--dump-executable-binaries-to",
                                 folder, executables.size())))
    return failure();
  // As if each were given to --executable-only after this stage.
  CompileOptions alone = options;
  alone.dumps = {};
  alone.until = Room::Emit;
  alone.completed = Room::Kernel;
  alone.onProgress = nullptr;
  alone.onTime = nullptr;
  alone.onLog = nullptr;
  alone.externalFile.clear();
  auto names = nameExecutables(module);
  for (ExecutableOp executable : executables) {
    OwningOpRef<ModuleOp> envelope = preprocess::wrap(executable);
    copyMachine(module, *envelope);
    std::string artifact;
    if (failed(makeArtifact(*envelope, alone, artifact)) ||
        failed(report(module,
                      writeWholeInFolder(
                          folder, names[executable.getSymNameAttr()] + ".alula",
                          [&](llvm::raw_ostream &os) { os << artifact; }))))
      return failure();
  }
  return success();
}

std::function<void(StringRef, StringRef, StringRef)>
IntermediateFiles::listen(StringRef machine) {
  if (folder.empty())
    return nullptr;
  return [this, machine = machine.str()](StringRef kernel, StringRef ending,
                                         StringRef bytes) {
    std::string name = names[StringAttr::get(module.getContext(), kernel)];
    llvm::Error error =
        writeWholeInFolder(folder, name + "." + machine + ending.str(),
                           [&](llvm::raw_ostream &os) { os << bytes; });
    if (error && problem.empty())
      problem = toString(std::move(error));
    else
      llvm::consumeError(std::move(error));
  };
}

LogicalResult IntermediateFiles::check() {
  if (problem.empty())
    return success();
  return emitError(module.getLoc())
         << "'builtin.module': can't write " << problem;
}

LogicalResult alula::driver::checkExecutableAlone(ModuleOp module) {
  size_t count = llvm::range_size(module.getOps<ExecutableOp>());
  if (count != 1)
    return emitError(module.getLoc())
           << "[stage-usage] --executable-only: the program must be one "
              "executable: there are "
           << count;
  for (auto function : module.getOps<FunctionOpInterface>())
    if (!function.isExternal())
      return function.emitError()
             << "[stage-usage] --executable-only: the program must be an "
                "executable alone: there is function @"
             << function.getName();
  return success();
}
