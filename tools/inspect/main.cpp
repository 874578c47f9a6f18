// alula-inspect: prints an artifact as text or JSON, disassembles its kernels.

#include "artifact/cuda_image.h"
#include "artifact/print_parts.h"
#include "artifact/printer.h"
#include "tools/options/answer.h"
#include "tools/options/parse.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace alula::artifact;
namespace options = alula::options;

namespace {

const options::Tool &getTool() {
  static constexpr const char *form = "What is shown",
                              *files = "What is taken out";
  static const options::Tool tool = {
      "alula-inspect",
      {"FILE.alula [--json] [--disassemble]",
       "FILE.alula --extract=VARIANT [--kernel=NAME]",
       "FILE.alula --debug-texts=FOLDER",
       "FILE.alula --program=NAME [any of these]"},
      "show what a compiled StableHLO program holds",
      R"(Prints what an artifact holds: facts, globals, constants, imports, kernels,
variants with the origin of code that is not ours, and each function's commands.
FILE may be - for stdin.)",
      "",
      {
          {"json", "", form, "the same for programs"},
          {"program", "NAME", form,
           "of an artifact for several kinds of machines, one program"},
          {"disassemble", "", form,
           "then the code of every variant, by llvm-objdump"},
          {"extract", "VARIANT", files,
           "write the image of a variant and nothing else"},
          {"kernel", "NAME", files,
           "of an image of PTX, the text that has this kernel"},
          {"debug-texts", "FOLDER", files,
           "write what alula-compile --debug=3 keeps of kernels: the lines of "
           "code are lines of these files"},
      },
      {},
      {},
      {}};
  return tool;
}

int fail(const std::string &text, int status = options::WrongInput) {
  return options::fail(getTool(), text, status);
}

bool readFile(const std::string &path, std::string &bytes) {
  FILE *file = path == "-" ? stdin : fopen(path.c_str(), "rb");
  if (!file)
    return false;
  char buffer[65536];
  size_t count;
  while ((count = fread(buffer, 1, sizeof buffer, file)) > 0)
    bytes.append(buffer, count);
  bool good = !ferror(file);
  if (file != stdin)
    fclose(file);
  return good;
}

/// The first of these programs on PATH, or "".
std::string findProgram(const std::vector<const char *> &names) {
  const char *variable = getenv("PATH");
  std::string path = variable ? variable : "";
  for (const char *name : names)
    for (size_t at = 0; at <= path.size();) {
      size_t end = path.find(':', at);
      if (end == path.npos)
        end = path.size();
      std::string program = path.substr(at, end - at) + "/" + name;
      if (access(program.c_str(), X_OK) == 0)
        return program;
      at = end + 1;
    }
  return "";
}

/// Runs a program and waits; whether it ended well.
bool runProgram(const std::vector<std::string> &words) {
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/// Texts lie one after the other, each with a zero byte at its end.
void printPtx(const Artifact &file, const alula_file_variant &variant) {
  const char *image =
      reinterpret_cast<const char *>(file.images.data) + variant.image_offset;
  for (uint64_t at = 0; at < variant.image_bytes;) {
    std::string_view text = image + at;
    fwrite(text.data(), 1, text.size(), stdout);
    fputc('\n', stdout);
    at += text.size() + 1;
  }
}

/// Each text of PTX; of machine code for chips, what there is.
int printCuda(const Artifact &file, const alula_file_variant &variant) {
  CudaImage image;
  Diagnostic diagnostic;
  if (!readCudaImage(file, variant, image, diagnostic))
    return fail(diagnostic.text);
  for (const alula_cuda_code &code : image.codes) {
    if (code.kind == ALULA_CUDA_PTX)
      printf("%s\n", reinterpret_cast<const char *>(image.bytes + code.offset));
    else
      printf("  a cubin for %s: not disassembled\n", getChipName(code).c_str());
  }
  return 0;
}

/// What `visit` returns for each program until one is not 0.
template <class Visit> int forEachProgram(const Artifact &file, Visit visit) {
  if (!file.programs.size)
    return visit(file);
  for (uint64_t i = 0; i < file.programs.size; ++i) {
    Artifact program;
    Diagnostic diagnostic;
    if (!openProgram(file, i, program, diagnostic))
      return fail(diagnostic.text);
    if (int code = visit(program))
      return code;
  }
  return 0;
}

std::string listPrograms(const Artifact &file) {
  std::string names;
  for (const alula_file_program &program : file.programs)
    names +=
        (names.empty() ? "" : ", ") + std::string(file.getString(program.name));
  return names.empty() ? "none" : names;
}

bool chooseProgram(const Artifact &file, const std::string &name,
                   Artifact &program) {
  Diagnostic diagnostic;
  for (uint64_t i = 0; i < file.programs.size; ++i)
    if (name == file.getString(file.programs[i].name)) {
      if (openProgram(file, i, program, diagnostic))
        return true;
      fail(diagnostic.text);
      return false;
    }
  fail("there is no program '" + name + "': there are " + listPrograms(file));
  return false;
}

int extract(const Artifact &file, const std::string &name,
            const std::string &kernel) {
  std::string known;
  for (const alula_file_variant &variant : file.variants) {
    known +=
        (known.empty() ? "" : ", ") + std::string(file.getString(variant.name));
    if (name != file.getString(variant.name))
      continue;
    const char *image =
        reinterpret_cast<const char *>(file.images.data) + variant.image_offset;
    std::string_view bytes(image, variant.image_bytes);
    if (!kernel.empty()) {
      if (variant.image_kind != ALULA_IMAGE_PTX)
        return fail("--kernel is for PTX: the kernels of '" + name +
                    "' are one image");
      uint64_t i = 0;
      while (i < file.kernels.size &&
             kernel != file.getString(file.kernels[i].name))
        ++i;
      if (i == file.kernels.size)
        return fail("there is no kernel '" + kernel + "'");
      bytes = image + file.entries[variant.first_entry + i];
    } else if (variant.image_kind == ALULA_IMAGE_PTX &&
               bytes.find('\0') + 1 == bytes.size()) {
      // One text: as it came.
      bytes.remove_suffix(1);
    }
    return fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() &&
                   fflush(stdout) == 0
               ? 0
               : fail(std::string("can't write: ") + strerror(errno),
                      options::NoFile);
  }
  return fail("there is no variant '" + name + "': there are " +
              (known.empty() ? "none" : known));
}

/// A file for each text; the folder must be there.
int writeDebugTexts(const Artifact &file, const std::string &folder) {
  constexpr std::string_view prefix = "debug.";
  size_t count = 0;
  for (const alula_file_fact &fact : file.facts) {
    std::string_view name = file.getString(fact.key);
    if (!name.starts_with(prefix))
      continue;
    name.remove_prefix(prefix.size());
    if (name.empty() || name[0] == '.' || name.find('/') != name.npos)
      return fail("'" + std::string(name) + "' is no name for a file");
    std::string path = folder + "/" + std::string(name);
    FILE *out = fopen(path.c_str(), "w");
    bool good = out && fputs(file.getString(fact.value), out) >= 0;
    good = out && !fclose(out) && good;
    if (!good)
      return fail(path + ": " + strerror(errno), options::NoFile);
    ++count;
  }
  return count ? 0
               : fail("it holds no texts: alula-compile --debug=3 keeps them");
}

int disassemble(const Artifact &file) {
  std::string program =
      findProgram({"llvm-objdump-19", "llvm-objdump", "objdump"});
  if (program.empty())
    return fail("--disassemble needs llvm-objdump-19, llvm-objdump or objdump "
                "on PATH");
  for (const alula_file_variant &variant : file.variants) {
    printf("\ncode of variant \"%s\":\n", file.getString(variant.name));
    for (uint64_t i = 0; i < file.kernels.size; ++i)
      printf("  %#8llx @%s\n",
             static_cast<unsigned long long>(
                 file.entries[variant.first_entry + i]),
             file.getString(file.kernels[i].name));
    if (variant.image_kind == ALULA_IMAGE_PTX) {
      printPtx(file, variant);
      continue;
    }
    if (variant.image_kind == ALULA_IMAGE_CUDA) {
      if (int code = printCuda(file, variant))
        return code;
      continue;
    }
    if (variant.image_kind != ALULA_IMAGE_ELF) {
      printf("  raw bytes: not disassembled\n");
      continue;
    }
    char name[] = "/tmp/alula-inspect-XXXXXX";
    int descriptor = mkstemp(name);
    const uint8_t *image = file.images.data + variant.image_offset;
    bool good = descriptor >= 0 &&
                write(descriptor, image, variant.image_bytes) ==
                    ssize_t(variant.image_bytes) &&
                runProgram({program, "-d", "--no-show-raw-insn", name});
    if (descriptor >= 0) {
      close(descriptor);
      unlink(name);
    }
    if (!good)
      return fail(program + " failed");
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (auto status = options::answer(getTool(), argc, argv))
    return *status;
  std::string path, name, variant, kernel, texts, error;
  bool asJson = false, withCode = false;
  options::CommandLine line;
  if (!options::parse(getTool(), argc, argv, line, error))
    return fail(error, options::WrongUsage);
  for (const options::Given &given : line.given) {
    std::string_view word = given.option->name;
    if (word == "json")
      asJson = true;
    else if (word == "disassemble")
      withCode = true;
    else if (word == "extract")
      variant = given.value;
    else if (word == "program")
      name = given.value;
    else if (word == "debug-texts")
      texts = given.value;
    else if (word == "kernel")
      kernel = given.value;
  }
  if (!options::getFile(line, path, error))
    return fail(error, options::WrongUsage);
  if (path.empty())
    return fail("no file is given; --help explains", options::WrongUsage);
  if (asJson && withCode)
    return fail("--disassemble prints text, so it can't go with --json",
                options::WrongUsage);
  if (!variant.empty() && (asJson || withCode))
    return fail("--extract writes an image and nothing else",
                options::WrongUsage);
  if (!texts.empty() && (asJson || withCode || !variant.empty()))
    return fail("--debug-texts writes texts and nothing else",
                options::WrongUsage);
  if (!kernel.empty() && variant.empty())
    return fail("--kernel goes with --extract", options::WrongUsage);
  if (!variant.empty() && options::isOnTerminal("-"))
    return fail(options::refuseTerminal("the image", "alula-inspect ... "
                                                     "--extract=" +
                                                         variant + " > FILE"),
                options::WrongUsage);
  std::string bytes;
  if (!readFile(path, bytes))
    return fail(path + ": " + strerror(errno), options::NoFile);
  // A string's bytes may lie anywhere; the reader wants them aligned.
  std::vector<uint64_t> aligned(bytes.size() / 8 + 1);
  memcpy(aligned.data(), bytes.data(), bytes.size());
  Artifact file;
  Diagnostic diagnostic;
  if (!openArtifact(aligned.data(), bytes.size(), {}, file, diagnostic) ||
      !verifyArtifact(file, diagnostic))
    return fail(path + ": " + diagnostic.text);
  if (!name.empty()) {
    Artifact program;
    if (!chooseProgram(file, name, program))
      return 1;
    file = program;
  }
  if (file.programs.size && (!variant.empty() || !texts.empty()))
    return fail("it has several programs: --program chooses one of " +
                listPrograms(file));
  if (!variant.empty())
    return extract(file, variant, kernel);
  if (!texts.empty())
    return writeDebugTexts(file, texts);
  fputs((asJson ? printJson(file) : printText(file)).c_str(), stdout);
  return withCode ? forEachProgram(file, disassemble) : 0;
}
