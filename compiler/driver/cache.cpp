#include "compiler/driver/cache.h"

#include "compiler/driver/program_info.h"
#include "compiler/driver/stages_file.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <link.h>

using namespace mlir;
using namespace alula::driver;
namespace fs = llvm::sys::fs;

namespace {
constexpr size_t digestBytes = 16;
/// What it is pruned to.
constexpr uint64_t mostBytes = uint64_t(4) << 30;

/// Of large content: against damage and coincidence, not against an enemy.
std::string digest(StringRef content) {
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::arrayRefFromStringRef(content));
  static_assert(sizeof hash == digestBytes);
  return std::string(reinterpret_cast<const char *>(&hash), sizeof hash);
}

struct Place {
  uintptr_t address;
  std::string buildId;
};

/// The note GNU_BUILD_ID in a segment of notes.
StringRef findBuildId(StringRef notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    memcpy(&note, notes.data(), sizeof note);
    size_t name = llvm::alignTo(note.n_namesz, 4);
    size_t size = sizeof note + name + llvm::alignTo(note.n_descsz, 4);
    if (size > notes.size())
      break;
    StringRef owner = notes.substr(sizeof note, note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && owner == StringRef("GNU\0", 4))
      return notes.substr(sizeof note + name, note.n_descsz);
    notes = notes.drop_front(size);
  }
  return "";
}

int visitObject(dl_phdr_info *object, size_t, void *user) {
  auto &place = *static_cast<Place *>(user);
  auto headers = ArrayRef(object->dlpi_phdr, object->dlpi_phnum);
  if (llvm::none_of(headers, [&](const ElfW(Phdr) & header) {
        uintptr_t begin = object->dlpi_addr + header.p_vaddr;
        return header.p_type == PT_LOAD && begin <= place.address &&
               place.address - begin < header.p_memsz;
      }))
    return 0;
  for (const ElfW(Phdr) & header : headers)
    if (header.p_type == PT_NOTE && place.buildId.empty())
      place.buildId = findBuildId(
          {reinterpret_cast<const char *>(object->dlpi_addr + header.p_vaddr),
           header.p_memsz});
  return 1;
}

/// Of the file that this function is in; empty if it was linked without.
const std::string &getBuildId() {
  static const std::string id = [] {
    Place place{reinterpret_cast<uintptr_t>(&getBuildId), {}};
    dl_iterate_phdr(visitObject, &place);
    return place.buildId;
  }();
  return id;
}

/// Why the artifact may differ for reasons that a key has not; NULL if not.
const char *findObstacle(ModuleOp module, Sources sources,
                         const CompileOptions &options) {
  const Dumps &dumps = options.dumps;
  if (sources.empty())
    return "the program is a folder";
  if (options.until != Room::Emit || options.outputForm != OutputForm::Artifact)
    return "only artifacts are";
  if (!options.record.plugins.empty())
    return "plugins take part";
  bool readsFiles = !options.substitutions.empty() || !options.ptxas.empty() ||
                    !options.cubinChips.empty() || programReadsFiles(module);
  for (StringRef word : options.record.options)
    readsFiles |= getFlagName(word).starts_with("substitute-") ||
                  getFlagName(word).starts_with("preprocess-");
  if (readsFiles)
    return "files or tools of others take part";
  for (const std::string *folder :
       {&dumps.stages, &dumps.sources, &dumps.preprocessed, &dumps.configs,
        &dumps.benchmarks, &dumps.intermediates, &dumps.binaries})
    if (!folder->empty())
      return "stages are written on the way";
  return getBuildId().empty() ? "the compiler was linked without a build id"
                              : nullptr;
}

class KeyMaker {
public:
  void add(StringRef part) {
    uint64_t size = part.size();
    hash.update(StringRef(reinterpret_cast<const char *>(&size), sizeof size));
    hash.update(part);
  }
  void addAll(ArrayRef<std::string> parts) {
    add(std::to_string(parts.size()));
    for (const std::string &part : parts)
      add(part);
  }
  std::string finish() { return llvm::toHex(hash.final(), /*LowerCase=*/true); }

private:
  llvm::SHA256 hash;
};

/// The processor, if the artifact is for whatever it is.
void addHost(KeyMaker &key, const CompileOptions &options) {
  if (llvm::none_of(options.targets,
                    [](StringRef target) { return target.contains("host"); }))
    return;
  key.add(llvm::sys::getHostCPUName());
  std::vector<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.second)
      features.push_back(feature.first().str());
  llvm::sort(features);
  key.addAll(features);
}

std::string makeKey(ModuleOp module, Sources sources,
                    const CompileOptions &options) {
  KeyMaker key;
  key.add(compilerVersion);
  key.add(getBuildId());
  key.addAll(options.targets);
  addHost(key, options);
  key.addAll(options.record.options);
  key.add(options.completed ? getRoomName(*options.completed) : "");
  key.add(options.executableOnly ? "executable" : "program");
  for (StringRef source : sources)
    key.add(digest(source));
  // What a caller has said of it besides: on how many devices it runs.
  for (NamedAttribute attribute : module->getAttrs())
    if (isa<IntegerAttr>(attribute.getValue())) {
      key.add(attribute.getName().getValue());
      key.add(std::to_string(
          cast<IntegerAttr>(attribute.getValue()).getValue().getSExtValue()));
    }
  return key.finish();
}

/// Files with what LLVM prunes: "llvmcache-" and the key. A digest of what
/// follows, so that a damaged file is none; the artifact's size; the artifact,
/// constants outside of it.
class Folder {
public:
  Folder(StringRef path, StringRef key)
      : path(path), name(("llvmcache-" + key).str()) {}

  bool find(CompileOutput &output) const {
    SmallString<128> file(path);
    llvm::sys::path::append(file, name);
    auto read = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
    uint64_t size;
    if (!read || (*read)->getBufferSize() < digestBytes + sizeof size)
      return false;
    StringRef content = (*read)->getBuffer().drop_front(digestBytes);
    if ((*read)->getBuffer().take_front(digestBytes) != digest(content))
      return false;
    memcpy(&size, content.data(), sizeof size);
    content = content.drop_front(sizeof size);
    output.artifact = content.take_front(size).str();
    output.external = content.drop_front(output.artifact.size()).str();
    touch(file);
    return true;
  }

  llvm::Error store(const CompileOutput &output) const {
    uint64_t size = output.artifact.size();
    std::string content(reinterpret_cast<const char *>(&size), sizeof size);
    content += output.artifact;
    content += output.external;
    if (llvm::Error error =
            writeWholeInFolder(path, name, [&](llvm::raw_ostream &os) {
              os << digest(content) << content;
            }))
      return error;
    llvm::CachePruningPolicy policy;
    policy.Interval = std::chrono::seconds(60);
    policy.Expiration = std::chrono::seconds(0);
    policy.MaxSizeBytes = mostBytes;
    llvm::pruneCache(path, policy);
    return llvm::Error::success();
  }

private:
  /// It was used now: what was not for the longest time goes first. Of files
  /// that are only read nobody is told.
  static void touch(StringRef file) {
    int number;
    if (fs::openFileForWrite(file, number, fs::CD_OpenExisting, fs::OF_Append))
      return;
    fs::setLastAccessAndModificationTime(number,
                                         std::chrono::system_clock::now());
    fs::file_t handle = fs::convertFDToNativeFile(number);
    fs::closeFile(handle);
  }

  StringRef path;
  std::string name;
};
} // namespace

LogicalResult alula::driver::compileOrRecall(ModuleOp module, Sources sources,
                                             const CompileOptions &options,
                                             CompileOutput &output) {
  if (options.cache.empty())
    return compile(module, options, output);
  auto warn = [&](const llvm::Twine &why) {
    mlir::emitWarning(module.getLoc())
        << "[cache] '" << options.cache << "': " << why;
  };
  if (const char *obstacle = findObstacle(module, sources, options)) {
    warn(llvm::Twine("not used: ") + obstacle);
    return compile(module, options, output);
  }
  // The module changes as it is compiled.
  std::string key = makeKey(module, sources, options);
  Folder folder(options.cache, key);
  if (folder.find(output)) {
    if (options.onLog)
      options.onLog("cache: " + key);
    return success();
  }
  if (failed(compile(module, options, output)))
    return failure();
  if (llvm::Error error = folder.store(output))
    warn("the artifact is not kept: " + llvm::toString(std::move(error)));
  return success();
}
