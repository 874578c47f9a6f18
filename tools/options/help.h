#pragma once

#include "tools/options/table.h"

namespace alula::options {

enum class Detail { Brief, Full };

/// The text of --help, at most 100 columns wide.
std::string printHelp(const Tool &tool, Detail detail);

/// The text of --version: the tool's first, then a line for each part.
std::string printVersion(const Tool &tool);

/// The page in troff's man macros.
std::string printMan(const Tool &tool);

/// A script; empty if there is no such shell.
std::string printCompletion(const Tool &tool, std::string_view shell);

/// A line for each status that every tool has.
std::span<const std::pair<const char *, const char *>> getStatuses();

} // namespace alula::options
