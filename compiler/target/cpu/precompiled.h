// Routines of the library as object code that was made when the compiler was
// built.

#pragma once

#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>

namespace alula::cpu {

/// Empty if it is compiled when it is first asked for. It begins anywhere.
llvm::StringRef findPrecompiled(llvm::StringRef machine,
                                llvm::StringRef routine);

/// Makes what findPrecompiled() reads.
class PrecompiledWriter {
public:
  void add(llvm::StringRef machine, llvm::StringRef routine,
           llvm::StringRef object);
  std::string getBytes() const;

private:
  std::map<std::string, std::string> routines;
};

} // namespace alula::cpu
