// The C functions of alula/compiler.h.

#include "alula/compiler.h"

#include "compiler/driver/compile.h"
#include "compiler/driver/program.h"
#include "compiler/driver/registry.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;

namespace {
/// Options as this version knows them, whatever the caller's version is.
alula_compile_options readOptions(const alula_compile_options *given) {
  alula_compile_options options = {};
  if (given)
    memcpy(&options, given, std::min(given->struct_bytes, sizeof options));
  return options;
}

std::string describe(Location location) {
  if (isa<UnknownLoc>(location))
    return "";
  std::string text = debugString(location);
  // loc("file":1:2) → "file":1:2
  StringRef inner = text;
  if (inner.consume_front("loc(") && inner.consume_back(")"))
    return inner.str();
  return text;
}

/// Memory that alula_compile_free releases; null if there is none.
void *copyOut(StringRef bytes) {
  auto *memory = static_cast<char *>(malloc(bytes.size() + 1));
  if (!memory)
    return nullptr;
  memcpy(memory, bytes.data(), bytes.size());
  memory[bytes.size()] = '\0';
  return memory;
}

struct Listener {
  explicit Listener(const alula_compile_options &options) : options(options) {}

  LogicalResult hear(Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
    std::string location = describe(diagnostic.getLocation());
    std::string message = diagnostic.str();
    if (isError && firstError.empty())
      firstError = location.empty() ? message : location + ": " + message;
    if (options.on_diagnostic) {
      alula_compile_diagnostic said = {sizeof said, isError, location.c_str(),
                                       message.c_str()};
      options.on_diagnostic(options.user, &said);
    }
    return success();
  }

  const alula_compile_options &options;
  std::string firstError;
};
} // namespace

alula_status_code alula_compile(const void *program, size_t program_bytes,
                                const alula_compile_options *given,
                                void **artifact, size_t *artifact_bytes,
                                char **message) {
  alula_compile_options options = readOptions(given);
  DialectRegistry registry;
  alula::driver::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  Listener listener(options);
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { return listener.hear(diagnostic); });

  alula::driver::CompileOptions compile;
  if (options.target_count)
    compile.targets.assign(options.targets,
                           options.targets + options.target_count);
  StringRef input(static_cast<const char *>(program), program_bytes);
  compile.inputHash =
      llvm::utohexstr(llvm::xxh3_64bits(input), /*LowerCase=*/true);
  OwningOpRef<ModuleOp> module = alula::driver::readProgram(
      llvm::MemoryBuffer::getMemBufferCopy(input, "program"), &context);
  std::string bytes;
  bool compiled =
      module && succeeded(alula::driver::compile(*module, compile, bytes));
  void *result = compiled ? copyOut(bytes) : nullptr;
  if (result) {
    *artifact = result;
    *artifact_bytes = bytes.size();
    return ALULA_STATUS_OK;
  }
  if (compiled)
    listener.firstError = "out of memory";
  if (message)
    *message = static_cast<char *>(copyOut(listener.firstError));
  return compiled ? ALULA_STATUS_RESOURCE_EXHAUSTED
                  : ALULA_STATUS_INVALID_ARGUMENT;
}

void alula_compile_free(void *memory) { free(memory); }
