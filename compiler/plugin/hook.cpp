#include "compiler/plugin/hook.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/PrettyStackTrace.h"

#include <csignal>
#include <cstring>

using namespace llvm;

namespace {
// Signal handlers have no other way to know.
thread_local const char *currentHook = nullptr;

const char *describe(int code) {
  switch (code - 128) {
  case SIGABRT:
    return "aborted";
  case SIGSEGV:
    return "segmentation fault";
  case SIGFPE:
    return "arithmetic error";
  case SIGILL:
    return "illegal instruction";
  case SIGBUS:
    return "bus error";
  case SIGTRAP:
    return "trap";
  default:
    return "ended";
  }
}
} // namespace

const char *alula::plugin::getCurrentHook() { return currentHook; }

std::optional<std::string> alula::plugin::callHook(StringRef plugin,
                                                   StringRef stage,
                                                   function_ref<void()> work) {
  std::string place = (Twine("plugin ") + plugin + ", stage " + stage).str();
  const char *outer = currentHook;
  currentHook = place.c_str();
  auto leave = make_scope_exit([&] { currentHook = outer; });
  CrashRecoveryContext::Enable();
  CrashRecoveryContext context;
  const void *stack = SavePrettyStackState();
  if (context.RunSafely([&] {
        PrettyStackTraceString note(currentHook);
        work();
      }))
    return std::nullopt;
  RestorePrettyStackState(stack);
  return "crash in " + place + ": " + describe(context.RetCode) + " (signal " +
         std::to_string(context.RetCode - 128) + ")";
}
