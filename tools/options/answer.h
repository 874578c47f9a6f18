#pragma once

#include "tools/options/status.h"
#include "tools/options/table.h"

#include <optional>

namespace alula::options {

/// Does what --help and the like ask for, wherever they stand before "--"; the
/// exit status, or nothing if nobody asks.
std::optional<int> answer(const Tool &tool, int argc, const char *const *argv);

/// Prints an error the way every tool does; the exit status.
int fail(const Tool &tool, const std::string &text, int status = WrongInput);

/// Whether what is written to this path, "-" being standard output, appears on
/// a terminal.
bool isOnTerminal(std::string_view path);

/// Why something binary is not written to a terminal.
std::string refuseTerminal(std::string_view what, std::string_view instead);

/// After a failure that has to do with this file: whether it is that it can't
/// be read.
int getReadStatus(const std::string &path);

} // namespace alula::options
