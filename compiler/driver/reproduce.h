// A folder with all that it takes to see a failure of the compiler again.
//
// Nothing is kept for it while all is well: stopped after the stage before, the
// same compilation gives the program that the failing stage was given. So the
// compiler runs itself once more, also out of a crash.

#pragma once

#include "compiler/driver/rooms.h"

#include "llvm/ADT/SmallVector.h"

#include <array>
#include <string>
#include <vector>

namespace alula::driver {

struct ReproducerOptions {
  /// Made when something fails.
  std::string folder;
  /// The compiler's file.
  std::string self;
  /// "-" if it came over standard input.
  std::string input;
  llvm::StringRef inputBytes;
  /// As for going on; flags that say what the input is are among them.
  std::vector<std::string> flags;
  /// What the input has been through; none if it is a program.
  std::optional<Room> completed;
  /// Narrows the failure to one pass, which takes another run.
  bool isLocal = false;
  /// With folders of this machine in flags.
  bool isFull = false;
};

class Reproducer {
public:
  /// Prepares everything: out of a crash nothing may be allocated.
  explicit Reproducer(ReproducerOptions options);
  Reproducer(const Reproducer &) = delete;

  /// Where the compiler is.
  void setRoom(Room now) { room = static_cast<unsigned>(now); }
  /// Writes the folder. Safe in a signal handler.
  void write() const;
  /// Does so when the process crashes.
  void writeOnCrash();

private:
  /// What is done if a stage fails.
  struct Plan {
    /// The program before it; empty: the input is.
    std::vector<std::string> before, local;
    std::string script;
  };
  Plan makePlan(Room failing) const;
  bool writeFile(const std::string &path, llvm::StringRef bytes,
                 bool isScript = false) const;

  ReproducerOptions options;
  std::string beforePath, inputPath, scriptPath, localScriptPath, stagesPath;
  std::vector<std::string> listStages;
  std::array<Plan, roomCount> plans;
  volatile unsigned room = 0;
};

} // namespace alula::driver
