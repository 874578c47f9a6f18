// What a dump says besides the program, so that going on needs no flags.

#pragma once

#include "compiler/driver/rooms.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace alula::driver {

struct Record {
  /// Of the program as it was given at first.
  std::string inputHash;
  /// Flags of alula-compile, as --name=value, that later stages read.
  std::vector<std::string> options;
  /// Those of stages that are done.
  std::vector<std::string> spent;
  /// Set once tools and passes have left every executable as it was: then
  /// nobody needs to know of them.
  std::shared_ptr<bool> areStepsIdle = std::make_shared<bool>(false);
  /// What was loaded, "id version options".
  std::vector<std::string> plugins;
};

/// The name of a flag as a record has it.
llvm::StringRef getFlagName(llvm::StringRef word);

/// Puts a record into a module and takes it out again when it is destroyed.
class RecordScope {
public:
  RecordScope(mlir::ModuleOp module, Room stage, const Record &record,
              bool isIncomplete);
  ~RecordScope();
  RecordScope(const RecordScope &) = delete;

private:
  mlir::ModuleOp module;
};

/// What a module says of itself.
struct Resumption {
  Room stage;
  Record record;
};

/// Takes the record out of `module`; nothing if there is none. An error begins
/// with its tag: [stage-record], [stage-version], [stage-incomplete].
llvm::Expected<std::optional<Resumption>> takeRecord(mlir::ModuleOp module);

} // namespace alula::driver
