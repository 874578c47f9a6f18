#include "compiler/objects/substitute.h"

#include "dialect/dispatch/ops.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace alula::objects;
using alula::dispatch::ExecutableOp;
using alula::dispatch::ObjectAttr;

namespace {
class Substituter {
public:
  Substituter(ModuleOp program, const Substitutions &substitutions,
              bool missingIsError)
      : program(program), substitutions(substitutions),
        missingIsError(missingIsError) {
    for (auto executable : program.getOps<ExecutableOp>())
      names.push_back(executable.getSymName().str());
  }

  LogicalResult run() {
    bool good = true;
    for (const std::string &folder : substitutions.folders)
      good &= succeeded(takeFolder(folder));
    for (const Substitution &file : substitutions.files)
      good &= succeeded(take(file));
    return success(good);
  }

private:
  /// NAME.o, MODULE_NAME.o, NAME.MACHINE.o: as dumps name them.
  LogicalResult takeFolder(StringRef folder) {
    std::error_code error;
    std::vector<std::string> files;
    for (llvm::sys::fs::directory_iterator at(folder, error), end;
         at != end && !error; at.increment(error))
      if (isObjectPath(at->path()))
        files.push_back(at->path());
    if (error)
      return program.emitError() << "[obj-missing] can't read the folder "
                                 << folder << ": " << error.message();
    llvm::sort(files);
    bool good = true;
    for (const std::string &path : files) {
      auto [name, machine] = llvm::sys::path::stem(path).split('.');
      if (!llvm::is_contained(names, name))
        if (StringRef module = program.getSymName().value_or("module");
            name.consume_front(module))
          name.consume_front("_");
      std::string target = machine.empty() ? "" : "cpu:" + machine.str();
      good &= succeeded(take({name.str(), path, target, ""}));
    }
    return success(good);
  }

  LogicalResult take(const Substitution &file) {
    auto executable = program.lookupSymbol<ExecutableOp>(file.executable);
    if (!executable) {
      auto diagnostic =
          missingIsError ? program.emitError() : program.emitWarning();
      diagnostic << "[obj-name] no executable '" << file.executable
                 << "' to substitute by " << file.path << ": there are "
                 << (names.empty() ? "none" : llvm::join(names, ", "));
      return success(!missingIsError);
    }
    if (!isObjectPath(file.path))
      return program.emitError()
             << "[obj-container] @" << file.executable
             << ": what substitutes it must end in .o, .bc, .ptx or .mlir: "
             << file.path;
    Builder builder(program.getContext());
    auto text = [&](StringRef value) {
      return value.empty() ? StringAttr() : builder.getStringAttr(value);
    };
    SmallVector<Attribute> objects;
    if (executable.getObjects())
      llvm::append_range(objects, *executable.getObjects());
    objects.push_back(ObjectAttr::get(
        program.getContext(), text(file.target), text(file.path),
        text(file.entry), StringAttr(), StringAttr(), StringAttr()));
    executable.setObjectsAttr(builder.getArrayAttr(objects));
    executable->setAttr("dispatch.substituted", builder.getUnitAttr());
    return success();
  }

  ModuleOp program;
  const Substitutions &substitutions;
  bool missingIsError;
  std::vector<std::string> names;
};
} // namespace

bool alula::objects::isObjectPath(StringRef path) {
  StringRef extension = llvm::sys::path::extension(path);
  return extension == ".o" || extension == ".bc" || extension == ".ptx";
}

std::optional<Substitution> alula::objects::parseSubstitution(StringRef text) {
  auto [name, path] = text.split('=');
  Substitution substitution;
  size_t comma = path.rfind(",entry=");
  if (comma != StringRef::npos) {
    substitution.entry = path.drop_front(comma + strlen(",entry=")).str();
    path = path.take_front(comma);
    if (substitution.entry.empty())
      return std::nullopt;
  }
  substitution.executable = name.str();
  substitution.path = path.str();
  if (name.empty() || path.empty())
    return std::nullopt;
  return substitution;
}

LogicalResult alula::objects::substituteExecutables(
    ModuleOp program, const Substitutions &substitutions, bool missingIsError) {
  return Substituter(program, substitutions, missingIsError).run();
}
