// Shared by the files of the verifier.

#pragma once

#include "artifact/reader.h"

namespace alula::artifact {

/// The summary of a function that verifyCommands needs for its callers.
struct FunctionFacts {
  /// The deepest nesting of blocks and calls, this function's included.
  uint32_t nesting;
};

/// Checks the blocks and commands of function `index`. `facts` holds those of
/// the functions before it; `blockDepths` has room for each of its blocks.
bool verifyCommands(const Artifact &artifact, uint32_t index,
                    FunctionFacts *facts, uint16_t *blockDepths,
                    Diagnostic &diagnostic);

/// Checks that function `index`, whose commands are verified, binds each of its
/// dynamic results exactly once on every path.
bool verifyResults(const Artifact &artifact, uint32_t index,
                   Diagnostic &diagnostic);

/// Whether a function may store through this slot.
bool isWritable(const Artifact &artifact, const alula_file_function &function,
                const alula_file_slot &slot);

} // namespace alula::artifact
