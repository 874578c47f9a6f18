// Parses bytes into a verified view of them. Nothing here allocates, except the
// verifier's scratch arrays, and nothing needs the C++ library.

#pragma once

#include "alula/artifact.h"
#include "artifact/diagnostic.h"

#include <cstddef>
#include <cstdint>

namespace alula::artifact {

/// Records inside the file; borrowed.
template <class T> struct Table {
  const T *data = nullptr;
  uint64_t size = 0;

  const T &operator[](uint64_t index) const { return data[index]; }
  const T *begin() const { return data; }
  const T *end() const { return data + size; }
};

/// A view of an artifact's bytes, which must outlive it.
struct Artifact {
  const uint8_t *bytes = nullptr;
  uint64_t size = 0;
  uint64_t hash = 0;
  /// Of all sections but strings, constants, their bytes and facts: the same
  /// program has the same in every process, wherever in its source it was
  /// compiled, and whatever its callbacks are called there.
  uint64_t programHash = 0;
  uint16_t minor = 0;
  /// It is a program of a file that has several: DATA is that file's.
  bool isProgram = false;
#define X(NAME, kind, record, name) Table<record> name;
  ALULA_FOR_EACH_SECTION(X)
#undef X

  const char *getString(uint32_t string) const {
    return string < strings.size ? strings.data + string : "";
  }
  const alula_file_value &getArgument(const alula_file_function &function,
                                      uint32_t index) const {
    return values[function.first_value + index];
  }
  const alula_file_value &getResult(const alula_file_function &function,
                                    uint32_t index) const {
    return values[function.first_value + function.argument_count + index];
  }
  const alula_file_dim *getDims(const alula_file_type &type) const {
    return dims.data + type.first_dim;
  }
};

struct OpenOptions {
  /// The hash of DATA faults in every page of a mapped file. Without it, a
  /// corrupt constant is a wrong number.
  bool checkData = true;
};

/// Checks magic, version, size and hashes, then bounds; fills `artifact`.
/// `bytes` must be aligned to 8.
bool openArtifact(const void *bytes, size_t size, OpenOptions options,
                  Artifact &artifact, Diagnostic &diagnostic);

/// The same for one of the programs of a file that has several, from the view
/// of that file; fills `program`.
bool openProgram(const Artifact &file, uint64_t index, Artifact &program,
                 Diagnostic &diagnostic);

/// Verifies all tables and commands, of all programs if there are several.
/// Afterwards every index is in range and every static access in bounds;
/// accesses that depend on run-time values are checked by the interpreter of
/// the commands.
bool verifyArtifact(const Artifact &artifact, Diagnostic &diagnostic);

/// Bytes of a static type, which may be 0; false for a dynamic one and for
/// more than ALULA_MAX_BYTES.
bool getStaticBytes(const Artifact &artifact, const alula_file_type &type,
                    uint64_t &bytes);

/// How many of a type's dimensions are dynamic.
uint32_t countDynamicDims(const Artifact &artifact,
                          const alula_file_type &type);

struct CommandInfo {
  const char *name;
  /// The letters of ALULA_FOR_EACH_COMMAND.
  const char *parameters;
};

/// NULL for an unknown opcode.
const CommandInfo *getCommandInfo(uint32_t opcode);

} // namespace alula::artifact
