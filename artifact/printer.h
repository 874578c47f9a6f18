// An artifact as text, for people and diffs, and as JSON, for programs.

#pragma once

#include "artifact/reader.h"

#include <string>

namespace alula::artifact {

/// "2x?xf32"; a dynamic dimension with a symbol prints its name.
std::string printType(const Artifact &artifact, uint32_t type);

/// One command, without its blocks' content.
std::string printCommand(const Artifact &artifact, uint64_t word);

/// Both want a verified artifact.
std::string printText(const Artifact &artifact);
std::string printJson(const Artifact &artifact);

} // namespace alula::artifact
