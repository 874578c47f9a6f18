#include "compiler/objects/embed.h"

#include "compiler/objects/bitcode_trial.h"
#include "compiler/objects/file_kind.h"
#include "dialect/dispatch/ops.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using alula::dispatch::ExecutableOp;
using alula::dispatch::ObjectAttr;

namespace {
constexpr StringLiteral objectsName = "dispatch.objects";

struct Reader {
  const std::vector<std::string> &searchPaths;
  StringAttr tool;

  FailureOr<ObjectAttr> read(ExecutableOp executable, ObjectAttr object) const {
    MLIRContext *context = executable.getContext();
    auto text = [&](const Twine &value) {
      return StringAttr::get(context, value);
    };
    StringAttr data = object.getData(), usedTool = object.getTool();
    if (!data) {
      auto found = find(executable, object);
      if (failed(found))
        return failure();
      data = text((*found)->getBuffer());
      if (!usedTool)
        usedTool = tool;
    }
    auto fail = [&](StringRef tag, const Twine &why) {
      return executable.emitError()
             << "[" << tag << "] @" << executable.getSymName() << ": '"
             << object.getFileName() << "': " << why;
    };
    if (data.empty())
      return fail("obj-empty", "is empty");
    std::string hash = alula::objects::hashContent(data.getValue());
    if (object.getSha256() && object.getSha256().getValue() != hash)
      return fail("obj-hash", "its content has changed: sha256 is " + hash +
                                  ", was " + object.getSha256().getValue());
    StringAttr target = object.getTarget();
    if (!target) {
      std::string pattern = alula::objects::inferPattern(data.getValue());
      using alula::objects::FileKind;
      if (pattern.empty() && alula::objects::getFileKind(data.getValue()) ==
                                 FileKind::Bitcode)
        if (std::string damage = alula::objects::findDamage(data.getValue());
            !damage.empty())
          return fail("obj-damaged", "is damaged: " + damage);
      if (pattern.empty())
        return fail("obj-container",
                    "is for no target: is " +
                        alula::objects::describeFile(data.getValue()));
      target = text(pattern);
    }
    return ObjectAttr::get(context, target, object.getPath(), object.getEntry(),
                           usedTool, text(hash), data);
  }

  FailureOr<std::unique_ptr<llvm::MemoryBuffer>> find(ExecutableOp executable,
                                                      ObjectAttr object) const {
    StringRef path = object.getPath() ? object.getPath().getValue() : "";
    if (path.empty()) {
      executable.emitError() << "[obj-missing] @" << executable.getSymName()
                             << ": an object must have a path or data";
      return failure();
    }
    SmallVector<std::string> tried = {path.str()};
    if (!llvm::sys::path::is_absolute(path))
      for (const std::string &folder : searchPaths) {
        llvm::SmallString<128> inFolder(folder);
        llvm::sys::path::append(inFolder, path);
        tried.push_back(inFolder.str().str());
      }
    std::string reason;
    for (const std::string &file : tried) {
      auto buffer = llvm::MemoryBuffer::getFile(
          file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
      if (buffer)
        return std::move(*buffer);
      if (reason.empty() ||
          buffer.getError() != std::errc::no_such_file_or_directory)
        reason = buffer.getError().message();
    }
    executable.emitError() << "[obj-missing] @" << executable.getSymName()
                           << ": can't read " << llvm::join(tried, ", nor ")
                           << ": " << reason;
    return failure();
  }
};
} // namespace

/// Objects that a declaration brings are the executable's.
static LogicalResult hoistObjects(ExecutableOp executable) {
  ModuleOp bodies = executable.getInnerModule();
  if (!bodies)
    return success();
  SmallVector<Attribute> objects;
  if (executable.getObjects())
    llvm::append_range(objects, *executable.getObjects());
  size_t own = objects.size();
  for (Operation &op : *bodies.getBody()) {
    Attribute brought = op.removeAttr(objectsName);
    if (!brought)
      continue;
    auto list = dyn_cast<ArrayAttr>(brought);
    if (!list || !llvm::all_of(list, llvm::IsaPred<ObjectAttr>))
      return op.emitError()
             << "[obj-import] @" << executable.getSymName() << ": "
             << objectsName << " must be a list of objects: is " << brought;
    llvm::append_range(objects, list);
  }
  if (objects.size() != own)
    executable.setObjectsAttr(ArrayAttr::get(executable.getContext(), objects));
  return success();
}

/// The same code for the same target is there once.
static bool isRepeated(ArrayRef<Attribute> objects, ObjectAttr object) {
  return llvm::any_of(objects, [&](Attribute each) {
    auto other = cast<ObjectAttr>(each);
    return other.getSha256() && other.getSha256() == object.getSha256() &&
           other.getTarget() == object.getTarget() &&
           other.getEntry() == object.getEntry();
  });
}

std::string alula::objects::hashContent(StringRef bytes) {
  auto hash = llvm::SHA256::hash(llvm::ArrayRef(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  return llvm::toHex(hash, /*LowerCase=*/true);
}

LogicalResult
alula::objects::embedObjects(ModuleOp program,
                             const std::vector<std::string> &searchPaths,
                             StringRef tool) {
  Reader reader{searchPaths, tool.empty()
                                 ? StringAttr()
                                 : StringAttr::get(program.getContext(), tool)};
  bool good = true;
  for (auto executable : program.getOps<ExecutableOp>()) {
    good &= succeeded(hoistObjects(executable));
    if (!executable.getObjects())
      continue;
    SmallVector<Attribute> objects;
    for (auto object : executable.getObjects()->getAsRange<ObjectAttr>()) {
      auto read = reader.read(executable, object);
      good &= succeeded(read);
      if (failed(read))
        objects.push_back(object);
      else if (!isRepeated(objects, *read))
        objects.push_back(*read);
    }
    executable.setObjectsAttr(ArrayAttr::get(program.getContext(), objects));
  }
  return success(good);
}
