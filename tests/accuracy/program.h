// One op as a program: compiled for each x86-64 level, called on batches.

#pragma once

#include "alula/runtime.h"
#include "tests/accuracy/functions.h"

#include <cstdint>
#include <string>
#include <vector>

namespace alula::accuracy {

/// Elements that one call takes: all codes of a 16-bit type.
constexpr int64_t batch = 65536;

struct Type {
  const char *name;
  alula_dtype dtype;
  unsigned bytes;
  int mantissaBits, smallestExponent;
};
extern const Type types[4];

/// What an element's code means, as a double.
double decode(const Type &type, const uint8_t *code);

class Program {
public:
  Program(alula_instance *instance, const Function &function, const Type &type,
          const std::vector<std::string> &levels);
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;
  ~Program();

  /// Any thread may call. `in` has a batch for each operand.
  void call(size_t level, uint8_t *const *in, uint8_t *out) const;

private:
  alula_instance *instance;
  const Type &type;
  unsigned operands;
  std::vector<alula_executable *> executables;
};

/// The levels that this machine can run.
std::vector<std::string> findLevels(alula_instance *instance);

[[noreturn]] void fail(const std::string &message);

} // namespace alula::accuracy
