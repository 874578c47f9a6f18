// Compiles the routines of the kernel library that most programs call, for the
// machines that most programs run on: a file that the compiler embeds.
//   alula-make-routines OUT

#include "compiler/target/cpu/library.h"
#include "compiler/target/cpu/object_code.h"
#include "compiler/target/cpu/precompiled.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"

using namespace alula::cpu;

// This one has none yet.
__asm__(".pushsection .rodata.alula_routines,\"a\"\n"
        ".hidden alula_embedded_routines_begin\n"
        ".globl alula_embedded_routines_begin\n"
        "alula_embedded_routines_begin:\n"
        ".hidden alula_embedded_routines_end\n"
        ".globl alula_embedded_routines_end\n"
        "alula_embedded_routines_end:\n"
        ".byte 0\n"
        ".popsection");

namespace {
constexpr const char *machines[] = {"x86-64-v3", "x86-64-v3-vnni", "x86-64-v4",
                                    "x86-64-v4-vnni", "x86-64-v4-bf16"};
/// Those that have transforms alone, which take the longest.
constexpr const char *otherMachines[] = {"x86-64-v2", "aarch64", "aarch64-dot",
                                         "aarch64-mmla", "riscv64"};

bool isTransform(llvm::StringRef name) {
  return name == "alula_fft_f32" || name == "alula_fft_f64";
}

/// Linear algebra.
bool isFactorization(llvm::StringRef name) {
  return llvm::any_of(
      llvm::ArrayRef<llvm::StringRef>{
          "alula_cholesky_", "alula_eigen_", "alula_hessenberg_",
          "alula_householder_", "alula_lu_", "alula_qr_", "alula_schur_",
          "alula_svd_", "alula_triangular_solve_", "alula_tridiagonal_"},
      [&](llvm::StringRef start) { return name.starts_with(start); });
}

/// The machine that a routine is compiled for: transforms and factorizations
/// multiply no bytes and no bf16, so they are compiled once for each level.
llvm::StringRef getLevel(llvm::StringRef machine, llvm::StringRef routine) {
  if (!isTransform(routine) && !isFactorization(routine))
    return machine;
  if (machine.starts_with("aarch64"))
    return "aarch64";
  return machine.take_front(sizeof("x86-64-v3") - 1);
}

bool isCommon(llvm::StringRef name) {
  return name == "alula_copy_window" || name.starts_with("alula_attention_") ||
         name.starts_with("alula_depthwise_") ||
         name.starts_with("alula_product_") ||
         name.starts_with("alula_sort_") || name.starts_with("alula_sum_") ||
         name.starts_with("alula_transpose_") || isTransform(name) ||
         isFactorization(name) || name == "alula_lu_pivots_to_permutation_i32";
}

/// Where a routine of a machine's comes from: other machines may share it.
struct Source {
  Machine machine, level;
  std::string routine;
};

llvm::Error addSources(const char *name, bool (*isWanted)(llvm::StringRef),
                       std::vector<Source> &sources) {
  auto machine = findMachine(name);
  if (!machine)
    return machine.takeError();
  auto routines = listRoutines(*machine);
  if (!routines)
    return routines.takeError();
  for (const std::string &routine : *routines) {
    if (!isWanted(routine))
      continue;
    auto level = findMachine(getLevel(name, routine));
    if (!level)
      return level.takeError();
    sources.push_back({*machine, *level, routine});
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<Source>> listSources() {
  std::vector<Source> sources;
  for (const char *name : machines)
    if (llvm::Error error = addSources(name, isCommon, sources))
      return error;
  for (const char *name : otherMachines)
    if (llvm::Error error = addSources(name, isTransform, sources))
      return error;
  return sources;
}

llvm::Error write(llvm::StringRef path) {
  auto sources = listSources();
  if (!sources)
    return sources.takeError();
  // Those that are equal are compiled once; what fails here fails again below.
  llvm::DefaultThreadPool threads;
  for (const Source &source : *sources)
    threads.async([&source] {
      auto object = getRoutineObject(source.level, source.routine);
      if (!object)
        llvm::consumeError(object.takeError());
    });
  threads.wait();
  PrecompiledWriter writer;
  for (const Source &source : *sources) {
    auto object = getRoutineObject(source.level, source.routine);
    if (!object)
      return object.takeError();
    writer.add(source.machine.name, source.routine, *object);
  }
  std::error_code failed;
  llvm::raw_fd_ostream file(path, failed);
  if (failed)
    return llvm::errorCodeToError(failed);
  file << writer.getBytes();
  file.close();
  return file.has_error() ? llvm::errorCodeToError(file.error())
                          : llvm::Error::success();
}
} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: alula-make-routines OUT\n";
    return 2;
  }
  if (auto error = write(argv[1])) {
    llvm::errs() << "alula-make-routines: " << llvm::toString(std::move(error))
                 << "\n";
    return 1;
  }
}
