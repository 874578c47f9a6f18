// Plugins of tier M in C++: derive from alula::Plugin, then
// ALULA_PLUGIN(Class). For code that is built with MLIR's headers; see
// docs/plugins.md.

#pragma once

#include "alula/plugin.h"
#include "alula/plugin_build.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Config/abi-breaking.h"
#include "llvm/Config/llvm-config.h"

#include <type_traits>

#define ALULA_PLUGIN_TEXT_(x) #x
#define ALULA_PLUGIN_TEXT(x) ALULA_PLUGIN_TEXT_(x)

#ifdef LLVM_ENABLE_DUMP
#define ALULA_PLUGIN_ASSERTIONS "on"
#else
#define ALULA_PLUGIN_ASSERTIONS "off"
#endif
#if defined(__GXX_RTTI) || defined(__cpp_rtti)
#define ALULA_PLUGIN_RTTI "on"
#else
#define ALULA_PLUGIN_RTTI "off"
#endif
#ifdef _GLIBCXX_USE_CXX11_ABI
#define ALULA_PLUGIN_STRINGS                                                   \
  "libstdc++" ALULA_PLUGIN_TEXT(_GLIBCXX_USE_CXX11_ABI)
#else
#define ALULA_PLUGIN_STRINGS "other"
#endif

/// Everything that must be the same in a plugin of tier M and its host.
#define ALULA_PLUGIN_BUILD_KEY                                                 \
  "llvm=" LLVM_VERSION_STRING ";mlir=" ALULA_PLUGIN_MLIR                       \
  ";strings=" ALULA_PLUGIN_STRINGS ";assertions=" ALULA_PLUGIN_ASSERTIONS      \
  ";abi-breaking-checks=" ALULA_PLUGIN_TEXT(                                   \
      LLVM_ENABLE_ABI_BREAKING_CHECKS) ";rtti=" ALULA_PLUGIN_RTTI              \
                                       ";headers=" ALULA_PLUGIN_HEADERS

namespace alula {

/// A function of MLIR as this piece of code sees it.
static inline const void *getMlirAnchor() {
  void (*function)(const mlir::PassAllocatorFunction &) = &mlir::registerPass;
  return reinterpret_cast<const void *>(function);
}

/// What a class for ALULA_PLUGIN may have; all but the id may be left out.
/// Its constructor takes nothing, or a value for each option.
struct Plugin {
  static constexpr const char *version = "0", *description = "";
  static constexpr uint32_t activation = ALULA_ACTIVE_EXPLICIT;
  static constexpr const char *const *after = nullptr;
  static constexpr const alula_option *options = nullptr;
  static constexpr const char *const *stages = nullptr;
  static void addDialects(mlir::DialectRegistry &) {}
  static void registerPasses() {}
  void addPasses(llvm::StringRef /*stage*/, mlir::OpPassManager &) {}
};

/// An option with its default, for `static constexpr alula_option options[]`.
constexpr alula_option makeOption(uint32_t type, const char *name,
                                  const char *defaultValue, const char *help) {
  return {sizeof(alula_option),
          type,
          name,
          help,
          defaultValue,
          nullptr,
          nullptr,
          nullptr,
          0};
}

// Hidden: two plugins may have a class of the same name.
namespace plugin_detail __attribute__((visibility("hidden"))) {
  /// The length of an array; 0 of a null pointer.
  template <typename A>
  constexpr uint32_t count = std::is_array_v<A> ? std::extent_v<A> : 0;

  template <typename P>
  int32_t create(const alula_host *, const char *const *values, void **self,
                 char **) {
    if constexpr (std::is_constructible_v<P, const char *const *>)
      *self = new P(values);
    else
      *self = new P();
    return 0;
  }

  template <typename P> const alula_plugin *query(uint16_t major, uint16_t) {
    static const alula_hooks hooks = {
        sizeof(alula_hooks),
        0,
        P::stages,
        count<decltype(P::stages)>,
        [](const alula_host *, void *registry, char **) {
          P::addDialects(*static_cast<mlir::DialectRegistry *>(registry));
          return int32_t(0);
        },
        [](const alula_host *, char **) {
          P::registerPasses();
          return int32_t(0);
        },
        [](void *self, const alula_stage *stage, void *passes, char **) {
          static_cast<P *>(self)->addPasses(
              stage->name, *static_cast<mlir::OpPassManager *>(passes));
          return int32_t(0);
        },
        nullptr,
        nullptr,
        0};
    static const alula_plugin table = {
        sizeof(alula_plugin),
        ALULA_PLUGIN_ABI_MAJOR,
        ALULA_PLUGIN_ABI_MINOR,
        ALULA_TIER_M,
        P::id,
        P::version,
        P::description,
        ALULA_PLUGIN_BUILD_KEY,
        getMlirAnchor(),
        P::activation,
        P::options,
        count<decltype(P::options)>,
        P::after,
        count<decltype(P::after)>,
        create<P>,
        [](void *self) { delete static_cast<P *>(self); },
        &hooks};
    return major == ALULA_PLUGIN_ABI_MAJOR ? &table : nullptr;
  }
} // namespace plugin_detail
} // namespace alula

/// Makes `Class` the plugin of this library.
#define ALULA_PLUGIN(Class)                                                    \
  const alula_plugin *ALULA_PLUGIN_QUERY(uint16_t major, uint16_t minor) {     \
    return alula::plugin_detail::query<Class>(major, minor);                   \
  }
