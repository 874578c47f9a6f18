#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace alula::cpu {

/// A kind of machine to make code for.
struct Machine {
  std::string name;   ///< "x86-64-v3", what people call the variant.
  std::string target; ///< "x86_64", the artifact's word for the instruction set.
  std::string triple;
  std::string cpu;  ///< What LLVM may use; never more than `features` say.
  std::string extra; ///< What it may use besides, in LLVM's words.
  std::string tune; ///< What LLVM schedules for; does not limit where it runs.
  /// What the runtime has to find before it runs the code.
  std::vector<std::string> features;
};

/// The machine that `text` names: `host` or one of the table, such as
/// `x86-64-v3`, `aarch64`, `riscv64`. `host` is the highest level that this
/// machine has, tuned for it.
llvm::Expected<Machine> findMachine(llvm::StringRef text);

} // namespace alula::cpu
