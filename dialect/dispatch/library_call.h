#pragma once

#include "dialect/dispatch/ops.h"

#include <optional>
#include <string>

namespace alula::dispatch {

/// What a library may compute instead of an entry's code, where it is there.
struct LibraryCall {
  /// As the artifact has it: the library's name, and what it is asked for.
  std::string text;
  /// Bindings of the entry, in the order that the library wants them. None:
  /// the call is another entry's, and does this one's work too.
  llvm::SmallVector<int64_t> bindings;
  /// The library must take it: there is no other code.
  bool isRequired = false;
};

/// Written as the entry's attribute `dispatch.call`.
void setLibraryCall(EntryOp entry, const LibraryCall &call);
std::optional<LibraryCall> getLibraryCall(EntryOp entry);

} // namespace alula::dispatch
