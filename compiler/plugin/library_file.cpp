#include "compiler/plugin/library_file.h"

#include "compiler/plugin/plugin.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <dlfcn.h>

using namespace llvm;
using namespace alula::plugin;

namespace {
#if defined(__x86_64__)
constexpr uint16_t ownMachine = ELF::EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t ownMachine = ELF::EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t ownMachine = ELF::EM_RISCV;
#else
#error "which machine is this?"
#endif

#if __has_feature(address_sanitizer) || defined(__SANITIZE_ADDRESS__)
constexpr StringLiteral ownSanitizer = "AddressSanitizer";
#elif __has_feature(thread_sanitizer) || defined(__SANITIZE_THREAD__)
constexpr StringLiteral ownSanitizer = "ThreadSanitizer";
#else
constexpr StringLiteral ownSanitizer = "";
#endif

StringRef findSanitizer(StringRef symbol) {
  if (symbol == "__asan_init")
    return "AddressSanitizer";
  if (symbol == "__tsan_init")
    return "ThreadSanitizer";
  if (symbol == "__msan_init")
    return "MemorySanitizer";
  return "";
}

/// Whether a symbol of the library's is one of our LLVM's or MLIR's.
bool isOurs(StringRef name) {
  if (!name.starts_with("_ZN4llvm") && !name.starts_with("_ZN4mlir") &&
      !name.starts_with("_ZNK4llvm") && !name.starts_with("_ZNK4mlir"))
    return false;
  return dlsym(RTLD_DEFAULT, name.str().c_str()) != nullptr;
}

Error checkHeader(StringRef path, const object::ELFObjectFileBase &file) {
  if (file.getEMachine() != ownMachine || !file.isLittleEndian() ||
      file.getBytesInAddress() != sizeof(void *))
    return makeProblem("plug-open", path + ": is for another machine (" +
                                        file.getFileFormatName() + ")");
  if (file.getEType() != ELF::ET_DYN)
    return makeProblem("plug-open", path + ": is no shared library");
  return Error::success();
}

Error takeSymbol(StringRef path, const object::ELFSymbolRef &symbol,
                 LibraryFile &found, unsigned &doubles,
                 std::string &firstDouble) {
  Expected<StringRef> name = symbol.getName();
  if (!name)
    return makeProblem("plug-open", path + ": " + toString(name.takeError()));
  Expected<uint32_t> flags = symbol.getFlags();
  if (!flags)
    return makeProblem("plug-open", path + ": " + toString(flags.takeError()));
  StringRef sanitizer = findSanitizer(*name);
  if (!sanitizer.empty() && sanitizer != ownSanitizer)
    return makeProblem("plug-open", path + ": is built with " + sanitizer +
                                        ", and this program is not");
  if (*flags & object::SymbolRef::SF_Undefined) {
    found.usesOptions |= name->contains("N4llvm2cl6OptionE");
    return Error::success();
  }
  found.hasEntry |= *name == "alula_plugin_query";
  found.hasPassEntry |= *name == "mlirGetPassPluginInfo";
  if (symbol.getBinding() == ELF::STB_GLOBAL && isOurs(*name) && !doubles++)
    firstDouble = *name;
  return Error::success();
}
} // namespace

Expected<LibraryFile> alula::plugin::readLibraryFile(StringRef path) {
  if (sys::fs::is_directory(path))
    return makeProblem("plug-open", path + ": is a folder");
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeProblem("plug-open", path + ": " + buffer.getError().message());
  auto parsed = object::ObjectFile::createELFObjectFile(**buffer);
  if (!parsed) {
    consumeError(parsed.takeError());
    return makeProblem("plug-open", path + ": is no ELF file");
  }
  auto &file = cast<object::ELFObjectFileBase>(**parsed);
  if (Error error = checkHeader(path, file))
    return error;
  LibraryFile found;
  unsigned doubles = 0;
  std::string firstDouble;
  for (const object::ELFSymbolRef &symbol : file.getDynamicSymbolIterators())
    if (Error error = takeSymbol(path, symbol, found, doubles, firstDouble))
      return error;
  if (doubles)
    return makeProblem(
        "plug-two-mlirs",
        path + ": carries an LLVM or MLIR of its own and shows " +
            Twine(doubles) + " of its functions (" + firstDouble +
            "), which ours has too; link the shared libraries, or hide them: "
            "-Wl,--exclude-libs,ALL");
  return found;
}

std::string alula::plugin::findLooseness(StringRef path) {
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(path, status))
    return code.message();
  if (status.permissions() & sys::fs::others_write)
    return "everybody may write it";
  return "";
}
