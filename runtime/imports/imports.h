// Functions and machines that plugins of the runtime bring.

#pragma once

#include "artifact/reader.h"
#include "runtime/device/device.h"

namespace alula::runtime {

/// Checks a plugin's table, loads it, and makes it the first that is asked.
Status addImports(Instance &instance, alula_import_query_function query,
                  const alula_import_setting *settings, size_t count);

/// Resolves the artifact's imports in all plugins of the instance, the newest
/// first. One error names all unresolved ones. If they may be unresolved,
/// `missing` says whether any is.
Status resolveImports(Instance &instance, const artifact::Artifact &file,
                      bool mayBeMissing, Array<alula_import> &imports,
                      bool &missing);

/// The first variant that a plugin can run, and the plugin; ALULA_NONE if there
/// is none. `wanted` may be NULL.
uint32_t findImportedVariant(const Instance &instance,
                             const artifact::Artifact &file, const char *wanted,
                             const ImportProvider *&provider);
Status loadImportedVariant(const ImportProvider &provider,
                           const artifact::Artifact &file, uint32_t variant,
                           LoadedKernels **kernels);

} // namespace alula::runtime
