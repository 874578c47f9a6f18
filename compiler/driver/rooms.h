// The rooms in order, and their names.

#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace alula::driver {

/// What artifacts and dumps say of their making; dumps of another version are
/// not gone on with.
inline constexpr llvm::StringLiteral compilerVersion = "alula 0.1.0";

/// Compilation may stop after any of them and go on from what it wrote then.
enum class Room {
  Input,
  Optimize,
  Partition,
  Dispatch,
  Plan,
  Kernel,
  Schedule,
  Target,
  Emit
};
constexpr unsigned roomCount = 9;

struct Stage {
  Room room;
  /// "input", "dispatch", …: flags, file names and the C API say it this way.
  llvm::StringLiteral name;
  /// What it is to those who think of kernels; may be empty.
  llvm::StringLiteral alias;
  /// What it leaves, in a few words.
  llvm::StringLiteral leaves;
};

const Stage &getStage(Room room);
llvm::StringRef getRoomName(Room room);
/// By name or alias.
std::optional<Room> findRoom(llvm::StringRef name);
/// "input, optimize, …", aliases in brackets.
std::string listStages();

} // namespace alula::driver
