// Links kernels with lld in this process.

#include "compiler/target/cpu/link_image.h"

#include "compiler/objects/guard.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <utility>

LLD_HAS_DRIVER(elf)

using namespace alula::cpu;

namespace {
/// What the kernel calls a file descriptor. lld wants names.
std::string nameDescriptor(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

/// Bytes that have a name but no place in a file system: making and removing
/// files takes longer than linking what is in them.
class NamedBytes {
public:
  explicit NamedBytes(llvm::StringRef bytes)
      : descriptor(memfd_create("alula-link", MFD_CLOEXEC)) {
    while (!bytes.empty() && descriptor >= 0) {
      ssize_t count = write(descriptor, bytes.data(), bytes.size());
      if (count >= 0)
        bytes = bytes.drop_front(static_cast<size_t>(count));
      else if (errno != EINTR)
        close();
    }
  }
  NamedBytes(NamedBytes &&other)
      : descriptor(std::exchange(other.descriptor, -1)) {}
  ~NamedBytes() { close(); }

  bool isOpen() const { return descriptor >= 0; }
  std::string getName() const { return nameDescriptor(descriptor); }

private:
  void close() {
    if (int was = std::exchange(descriptor, -1); was >= 0) {
      int problem = errno;
      ::close(was);
      errno = problem;
    }
  }

  int descriptor;
};

/// A pipe that `read` empties. lld writes it from memory; for a file it would
/// have LLVM watch the process's signals and keep a note for good.
class NamedPipe {
public:
  NamedPipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
      return;
    reader = ends[0];
    writer = ends[1];
  }
  NamedPipe(const NamedPipe &) = delete;
  NamedPipe &operator=(const NamedPipe &) = delete;
  ~NamedPipe() {
    closeWriter();
    if (reader >= 0)
      close(reader);
  }

  bool isOpen() const { return reader >= 0; }
  /// Of the end that is written.
  std::string getName() const { return nameDescriptor(writer); }
  /// Without it `read` ends when everybody else has written.
  void closeWriter() {
    if (writer >= 0)
      close(writer);
    writer = -1;
  }
  std::string read() {
    std::string bytes;
    std::vector<char> piece(1 << 16);
    for (;;) {
      ssize_t count = ::read(reader, piece.data(), piece.size());
      if (count > 0)
        bytes.append(piece.data(), static_cast<size_t>(count));
      else if (count == 0 || errno != EINTR)
        return bytes;
    }
  }

private:
  int reader = -1, writer = -1;
};

/// lld keeps its state in globals: one link at a time. What it makes on a
/// thread goes only when that thread ends: each link has its own.
bool link(llvm::ArrayRef<const char *> arguments, bool isGuarded,
          NamedPipe &pipe, std::string &image, std::string &messages) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  llvm::raw_string_ostream os(messages);
  lld::Result result = {};
  bool survives = true;
  std::thread linker([&] {
    auto run = [&] {
      result = lld::lldMain(arguments, llvm::nulls(), os,
                            {{lld::Gnu, &lld::elf::link}});
    };
    if (isGuarded)
      survives = alula::objects::runGuarded(run);
    else
      run();
    pipe.closeWriter();
  });
  image = pipe.read();
  linker.join();
  if (!survives || !result.canRunAgain)
    os << "the linker has crashed";
  return survives && result.retCode == 0;
}
} // namespace

llvm::Expected<std::string>
alula::cpu::linkImage(const std::vector<std::string> &objects,
                      const std::vector<std::string> &entries,
                      const Machine &machine, bool isGuarded, bool keepsNames) {
  std::string script = "{ global:";
  for (const std::string &entry : entries)
    script += " \"" + entry + "\";";
  script += " local: *; };\n";
  NamedPipe pipe;
  std::vector<NamedBytes> inputs;
  inputs.emplace_back(script);
  for (const std::string &object : objects)
    inputs.emplace_back(object);
  if (!pipe.isOpen() || !llvm::all_of(inputs, [](const NamedBytes &input) {
        return input.isOpen();
      }))
    return llvm::createStringError(
        "can't write 'memfd:alula-link': " +
        std::error_code(errno, std::generic_category()).message());

  // These names don't reach the image: same objects, same bytes.
  // clang-format off
  std::vector<std::string> arguments = {
      "ld.lld", "-shared", "-Bsymbolic", "--no-undefined", "--gc-sections",
      "--build-id=none", "--hash-style=gnu",
      // All on the calling thread.
      "--threads=1",
      // One small segment after the other.
      "-z", "text", "-z", "norelro", "-z", "max-page-size=4096", "-z",
      "rodynamic", "-z", "noseparate-code",
      "--version-script", inputs.front().getName(), "-o", pipe.getName()};
  // clang-format on
  if (!keepsNames)
    arguments.push_back("--strip-all");
  for (const NamedBytes &input : llvm::drop_begin(inputs))
    arguments.push_back(input.getName());
  llvm::SmallVector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string image, messages;
  if (!link(pointers, isGuarded, pipe, image, messages))
    return llvm::createStringError("kernels for " + machine.name +
                                   " don't link: " + messages);
  return image;
}

namespace {
/// Code, and constants that it finds by their distance.
constexpr llvm::StringLiteral movableScript = R"(
SECTIONS {
  .blob 0 : { *(.text .text.* .rodata .rodata.* .srodata .srodata.*) }
  .dynsym : { *(.dynsym) }
  .gnu.hash : { *(.gnu.hash) }
  .hash : { *(.hash) }
  .dynstr : { *(.dynstr) }
  .dynamic : { *(.dynamic) }
  /DISCARD/ : { *(.ARM.*) *(.riscv.*) *(.eh_frame) *(.comment) *(.note*) }
}
)";

llvm::Error makeLinkError(const Machine &machine, const llvm::Twine &why) {
  return llvm::createStringError("a blob for " + machine.name +
                                 " doesn't link: " + why);
}

/// Reads what the linker made.
llvm::Expected<MovableImage>
readMovable(llvm::StringRef linked, const std::vector<std::string> &entries,
            const Machine &machine) {
  auto file = llvm::object::ObjectFile::createELFObjectFile({linked, "blob"});
  if (!file)
    return file.takeError();
  MovableImage image;
  for (const llvm::object::SectionRef &section : (*file)->sections()) {
    auto name = section.getName();
    if (!name)
      return name.takeError();
    if (*name == ".blob") {
      auto bytes = section.getContents();
      if (!bytes)
        return bytes.takeError();
      image.bytes = bytes->str();
      image.alignment = section.getAlignment().value();
      continue;
    }
    // These are always written; anything else a loader would have to see to.
    bool isOfLoader = llvm::is_contained(
        {".dynsym", ".dynstr", ".hash", ".gnu.hash", ".dynamic"}, *name);
    llvm::object::ELFSectionRef elf(section);
    if ((elf.getFlags() & llvm::ELF::SHF_ALLOC) && section.getSize() &&
        !isOfLoader)
      return makeLinkError(machine, "it needs '" + *name + "'");
  }
  llvm::StringMap<uint64_t> places;
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    auto name = symbol.getName();
    auto place = symbol.getValue();
    if (!name || !place) {
      llvm::consumeError(name.takeError());
      llvm::consumeError(place.takeError());
      continue;
    }
    places[*name] = *place;
  }
  for (const std::string &entry : entries) {
    auto place = places.find(entry);
    if (place == places.end())
      return makeLinkError(machine, "it has no '" + entry + "'");
    image.entries.push_back(place->second | (machine.target == "arm" ? 1 : 0));
  }
  return image;
}
} // namespace

llvm::Expected<MovableImage>
alula::cpu::linkMovable(const std::string &object,
                        const std::vector<std::string> &entries,
                        const Machine &machine) {
  NamedPipe pipe;
  NamedBytes script(movableScript), input(object);
  if (!pipe.isOpen() || !script.isOpen() || !input.isOpen())
    return llvm::createStringError(
        "can't write 'memfd:alula-link': " +
        std::error_code(errno, std::generic_category()).message());
  // clang-format off
  std::vector<std::string> arguments = {
      "ld.lld", "-pie", "--no-dynamic-linker", "-z", "text", "-z", "norelro",
      "--no-undefined", "--build-id=none", "--threads=1", "--entry=0",
      "-T", script.getName(), "-o", pipe.getName(), input.getName()};
  // clang-format on
  llvm::SmallVector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string linked, messages;
  if (!link(pointers, /*isGuarded=*/false, pipe, linked, messages))
    return makeLinkError(machine, messages);
  return readMovable(linked, entries, machine);
}
