#pragma once

#include <string>

namespace alula::pjrt {

/// A folder for the stages of one program, "PROCESS.NUMBER.jit_f", in the one
/// that the option `alula_dump_to` or else ALULA_DUMP_TO names.
class Dump {
public:
  /// `wanted` is the option; nothing is dumped if it and the variable are
  /// empty.
  explicit Dump(const std::string &wanted);
  Dump(const Dump &) = delete;
  Dump &operator=(const Dump &) = delete;
  /// The folder gets the program's name, as far as that is known.
  ~Dump();

  /// Null if nothing is dumped.
  const char *getFolder() const {
    return path.empty() ? nullptr : path.c_str();
  }
  void setName(const char *programName) { name = programName; }

private:
  std::string path, name;
};

} // namespace alula::pjrt
