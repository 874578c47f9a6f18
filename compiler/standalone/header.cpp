// The C header of a program without a runtime.

#include "compiler/standalone/header.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace alula::standalone;

namespace {
constexpr StringLiteral codes = R"(#ifndef ALULA_STATIC_ABI
#define ALULA_STATIC_ABI 1
#define ALULA_E_NULL 1      /* a pointer is null */
#define ALULA_E_ALIGN 2     /* a pointer is not aligned */
#define ALULA_E_ALIAS 3     /* a result shares memory with another array */
#define ALULA_E_ARENA 4     /* the arena is too small */
#define ALULA_E_ASSERTION 5 /* the program says that something is wrong */
#define ALULA_E_STATE 6     /* a global is read before it has a value */
#elif ALULA_STATIC_ABI != 1
#error "headers of different versions of alula-compile"
#endif

)";

/// What an element is in C: small floats and packed integers are bytes.
std::pair<StringRef, uint64_t> getElement(const Port &port) {
  uint64_t bytes = alula_dtype_get_bytes(port.dtype);
  switch (alula_dtype_get_kind(port.dtype)) {
  case ALULA_KIND_INT:
    switch (bytes) {
    case 2:
      return {"int16_t", 2};
    case 4:
      return {"int32_t", 4};
    case 8:
      return {"int64_t", 8};
    }
    return {alula_dtype_get_bits(port.dtype) == 8 ? "int8_t" : "uint8_t", 1};
  case ALULA_KIND_FLOAT:
    if (bytes == 4)
      return {"float", 4};
    if (bytes == 8)
      return {"double", 8};
    return {bytes == 2 ? "uint16_t" : "uint8_t", bytes};
  case ALULA_KIND_COMPLEX:
    return {bytes == 8 ? "float" : "double", bytes / 2};
  case ALULA_KIND_UINT:
    switch (bytes) {
    case 2:
      return {"uint16_t", 2};
    case 4:
      return {"uint32_t", 4};
    case 8:
      return {"uint64_t", 8};
    }
    return {"uint8_t", 1};
  default:
    return {"uint8_t", 1};
  }
}

std::string describe(const Port &port) {
  std::string text;
  for (int64_t size : port.shape)
    text += std::to_string(size) + "x";
  text += alula_dtype_get_name(port.dtype);
  // A name is whatever the program says.
  std::string name;
  for (char c : port.name)
    if (isPrint(c) && c != '*' && c != '/' && c != '\\')
      name += c;
  return name.empty() ? text : name + ": " + text;
}

class HeaderWriter {
public:
  HeaderWriter(const Program &program, const CodeFacts &facts)
      : program(program), facts(facts),
        upper(StringRef(program.prefix).upper()), os(text) {}

  std::string run() {
    os << "/* " << program.prefix << ": made by " << facts.compiler << " for "
       << facts.machine << ". */\n#ifndef " << upper << "_H\n#define " << upper
       << "_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
       << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
       << codes;
    uint64_t arena = 0;
    for (const alula::standalone::Function &function : program.functions)
      if (function.isExported)
        arena = std::max(arena, function.arenaBytes);
    define("ARENA_BYTES", arena, "what a call works in; any content");
    define("ARENA_ALIGN", program.alignment, "of the arena and the state");
    define("STATE_BYTES", program.stateBytes, "what stays between calls");
    define("STACK_BYTES", facts.stackBytes,
           "the most that a call takes; 0: nobody knows");
    define("CONST_BYTES", facts.constantBytes, "weights, read-only");
    define("CODE_BYTES", facts.codeBytes, "machine code; 0: nobody knows");
    os << "\n";
    if (program.stateBytes)
      os << "/* Gives the state its first values: before the first call. */\n"
         << "int32_t " << program.prefix << "_reset(void *state);\n\n";
    for (const alula::standalone::Function &function : program.functions)
      if (function.isExported)
        writeFunction(function);
    os << "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    return os.str();
  }

private:
  void define(const Twine &name, uint64_t number, StringRef comment) {
    os << "#define " << upper << "_" << name << " " << number << "u /* "
       << comment << " */\n";
  }

  void writePorts(const std::vector<Port> &ports, const std::string &prefix,
                  StringRef direction) {
    define(prefix + direction + "_COUNT", ports.size(),
           direction == "IN" ? "arguments" : "results");
    for (auto [i, port] : enumerate(ports))
      define(prefix + direction + std::to_string(i) + "_BYTES", port.bytes,
             describe(port));
  }

  /// "const float in0[784]": arrays of no elements are none in C.
  void writeParameter(const Port &port, StringRef name, size_t number,
                      bool isConst) {
    auto [type, bytes] = getElement(port);
    os << ", " << (isConst ? "const " : "") << type << " ";
    if (port.bytes)
      os << name << number << "[" << port.bytes / bytes << "]";
    else
      os << "*" << name << number;
  }

  void writeFunction(const alula::standalone::Function &function) {
    std::string prefix = function.name == "main"
                             ? ""
                             : StringRef(function.symbol)
                                       .drop_front(program.prefix.size() + 1)
                                       .upper() +
                                   "_";
    writePorts(function.inputs, prefix, "IN");
    writePorts(function.outputs, prefix, "OUT");
    StringRef state = program.stateBytes ? ", void *state" : "";
    StringRef given = program.stateBytes ? ", state" : "";
    os << "\n/* 0 or one of ALULA_E_*. Arguments are read only, results are "
          "written whole;\n * calls with memory of their own may run at once. "
          "*/\n"
       << "int32_t " << function.symbol << "(void *arena" << state
       << ", const void *const in[], void *const out[]);\n\n"
       << "static inline int32_t " << function.symbol
       << "_checked(void *arena, size_t arena_bytes" << state
       << ", const void *const in[], void *const out[]) {\n"
       << "  return arena_bytes < " << function.arenaBytes
       << "u ? ALULA_E_ARENA : " << function.symbol << "(arena" << given
       << ", in, out);\n}\n\n"
       << "static inline int32_t " << function.symbol << "_io(void *arena"
       << state;
    for (auto [i, port] : enumerate(function.inputs))
      writeParameter(port, "in", i, /*isConst=*/true);
    for (auto [i, port] : enumerate(function.outputs))
      writeParameter(port, "out", i, /*isConst=*/false);
    os << ") {\n";
    writeArray(function.inputs, "const void *const in", "in");
    writeArray(function.outputs, "void *const out", "out");
    os << "  return " << function.symbol << "(arena" << given
       << ", in, out);\n}\n\n";
  }

  void writeArray(const std::vector<Port> &ports, StringRef declaration,
                  StringRef name) {
    size_t count = std::max<size_t>(ports.size(), 1);
    os << "  " << declaration << "[" << count << "] = {";
    for (size_t i = 0; i < ports.size(); ++i)
      os << (i ? ", " : "") << name << i;
    os << (ports.empty() ? "0" : "") << "};\n";
  }

  const Program &program;
  const CodeFacts &facts;
  std::string upper;
  std::string text;
  raw_string_ostream os;
};
} // namespace

std::string alula::standalone::writeHeader(const Program &program,
                                           const CodeFacts &facts) {
  return HeaderWriter(program, facts).run();
}
