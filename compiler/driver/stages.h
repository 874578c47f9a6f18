// The one table of stages: the rooms in order, their names, their passes.

#pragma once

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace alula::driver {

struct CompileOptions;

/// What artifacts and dumps say of their making; dumps of another version are
/// not gone on with.
inline constexpr llvm::StringLiteral compilerVersion = "alula 0.1.0";

/// The rooms in order; compilation may stop after any of them and go on from
/// what it wrote then.
enum class Room {
  Input,
  Optimize,
  Partition,
  Dispatch,
  Kernel,
  Schedule,
  Target,
  Emit
};
constexpr unsigned roomCount = 8;

struct Stage {
  Room room;
  /// "input", "dispatch", …: flags, file names and the C API say it this way.
  llvm::StringLiteral name;
  /// What it is to those who think of kernels; may be empty.
  llvm::StringLiteral alias;
  /// What it leaves, in a few words.
  llvm::StringLiteral leaves;
  /// Null: it is more than passes.
  void (*addPasses)(mlir::OpPassManager &pm, const CompileOptions &options);
};

const Stage &getStage(Room room);
llvm::StringRef getRoomName(Room room);
/// By name or alias.
std::optional<Room> findRoom(llvm::StringRef name);
/// "input, optimize, …", aliases in brackets.
std::string listStages();

/// The passes of a stage as text that can be parsed; empty if it has none.
std::string printPipeline(Room room, const CompileOptions &options);

/// The last stage that reads a flag of alula-compile, by its name: dumps of
/// later ones need it no more.
Room getLastUse(llvm::StringRef flag);

} // namespace alula::driver
