// Reads damaged portable artifacts and counts what happens:
//
//   vhlo-fuzz [--count=N] [--seed=N] [--no-verify] [--first=N] PROGRAMS FILE…
//
// PROGRAMS is text, parts of which stand between `// -----` lines; each part is
// written at several versions. Other FILEs are artifacts. A crash or a
// sanitizer's finding ends the program with the number of the mutant, which
// --first=N starts from.

#include "dialect/newer/source.h"
#include "dialect/sdy/dialect.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/vhlo/fuzz/mutator.h"
#include "dialect/vhlo/reader.h"
#include "dialect/vhlo/writer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <csignal>
#include <sys/resource.h>
#include <unistd.h>

using namespace mlir;
using namespace alula;

namespace {

struct Options {
  size_t count = 100000;
  size_t first = 0;
  uint64_t seed = 1;
  bool verify = true;
  SmallVector<StringRef> files;
};

bool parseOptions(int argc, char **argv, Options &options) {
  for (StringRef argument : ArrayRef(argv + 1, argv + argc)) {
    bool wrong = false;
    if (argument.consume_front("--count="))
      wrong = argument.getAsInteger(10, options.count);
    else if (argument.consume_front("--first="))
      wrong = argument.getAsInteger(10, options.first);
    else if (argument.consume_front("--seed="))
      wrong = argument.getAsInteger(10, options.seed);
    else if (argument == "--no-verify")
      options.verify = false;
    else if (argument.starts_with("--"))
      wrong = true;
    else
      options.files.push_back(argument);
    if (wrong)
      return false;
  }
  return !options.files.empty();
}

std::unique_ptr<MLIRContext> makeContext() {
  auto context =
      std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<func::FuncDialect, mlir::sdy::SdyDialect,
                       stablehlo::StablehloDialect>();
  return context;
}

/// Writes each part at its lowest version, one in the middle, and the newest.
bool addPrograms(StringRef text, std::vector<std::string> &seeds) {
  SmallVector<StringRef> parts;
  text.split(parts, "// -----\n");
  for (StringRef part : parts) {
    std::unique_ptr<MLIRContext> context = makeContext();
    OwningOpRef<ModuleOp> module =
        newer::parseSource(part, context.get(), "program", /*verify=*/false);
    if (!module)
      return false;
    FailureOr<vhlo::Version> lowest =
        vhlo::lowestVersion(*module, /*allowOtherDialects=*/true);
    if (failed(lowest))
      return false;
    for (vhlo::Version version :
         {*lowest, std::max(*lowest, {1, 0, 0}), vhlo::Version::current()}) {
      std::string bytes;
      if (failed(vhlo::writePortable(*module, {version, true}, bytes)))
        return false;
      seeds.push_back(std::move(bytes));
    }
  }
  return true;
}

bool loadSeeds(const Options &options, std::vector<std::string> &seeds) {
  for (StringRef path : options.files) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer) {
      llvm::errs() << path << ": " << buffer.getError().message() << "\n";
      return false;
    }
    StringRef bytes = (*buffer)->getBuffer();
    if (vhlo::isPortableArtifact(bytes))
      seeds.push_back(bytes.str());
    else if (!addPrograms(bytes, seeds))
      return false;
  }
  return true;
}

/// The mutant being read; a crash says it.
size_t current = 0;

void sayCurrent() {
  char text[64];
  int size = snprintf(text, sizeof(text), "mutant %zu\n", current);
  (void)!write(2, text, size_t(size));
}

void stop(int signal) {
  sayCurrent();
  _exit(128 + signal);
}

} // namespace

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ALULA_HAS_ASAN
extern "C" void __asan_on_error() { sayCurrent(); }
// LLVM's allocators poison what they do not hand out in code that is
// instrumented only, and the MLIR that we link is not.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}
#endif
#endif

int main(int argc, char **argv) {
  Options options;
  std::vector<std::string> seeds;
  if (!parseOptions(argc, argv, options)) {
    llvm::errs() << "usage: vhlo-fuzz [--count=N] [--seed=N] [--first=N] "
                    "[--no-verify] PROGRAMS FILE…\n";
    return 2;
  }
  if (!loadSeeds(options, seeds))
    return 2;
  std::signal(SIGALRM, stop);
#ifndef ALULA_HAS_ASAN
  for (int signal : {SIGSEGV, SIGABRT, SIGILL, SIGFPE, SIGBUS})
    std::signal(signal, stop);
#endif

  vhlo::Mutator mutator(seeds, options.seed);
  std::unique_ptr<MLIRContext> context;
  size_t numRead = 0;
  size_t numRefused = 0;
  size_t numSilent = 0;
  double slowest = 0;
  for (current = 0; current < options.count; ++current) {
    std::string mutant = mutator.next();
    if (current < options.first)
      continue;
    // Attributes stay in a context for ever.
    if (!context || current % 256 == 0)
      context = makeContext();
    bool hasError = false;
    ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
      hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
      return success();
    });
    alarm(20);
    auto start = std::chrono::steady_clock::now();
    OwningOpRef<ModuleOp> module =
        vhlo::readPortable(mutant, context.get(), "", options.verify);
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    slowest = std::max(slowest, time.count());
    if (module)
      ++numRead;
    else if (hasError)
      ++numRefused;
    else
      ++numSilent;
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  llvm::outs() << seeds.size() << " seeds, " << options.count - options.first
               << " mutants: " << numRead << " read, " << numRefused
               << " refused, " << numSilent
               << " failed without a word; no crash; slowest "
               << llvm::format("%.3f", slowest) << " s, memory "
               << usage.ru_maxrss / 1024 << " MiB\n";
  return numSilent == 0 ? 0 : 1;
}
