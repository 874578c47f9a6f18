#include "tests/accuracy/program.h"

#include "alula/compiler.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace alula::accuracy {

const Type types[4] = {{"f16", ALULA_DTYPE_F16, 2, 10, -14},
                       {"bf16", ALULA_DTYPE_BF16, 2, 7, -126},
                       {"f32", ALULA_DTYPE_F32, 4, 23, -126},
                       {"f64", ALULA_DTYPE_F64, 8, 52, -1022}};

void fail(const std::string &message) {
  fprintf(stderr, "op-accuracy: %s\n", message.c_str());
  exit(1);
}

static void check(alula_error *error) {
  if (error)
    fail(alula_error_get_message(error));
}

double decode(const Type &type, const uint8_t *code) {
  if (type.bytes == 8) {
    double value;
    memcpy(&value, code, 8);
    return value;
  }
  uint32_t bits = 0;
  memcpy(&bits, code, type.bytes);
  if (type.dtype == ALULA_DTYPE_BF16)
    bits <<= 16;
  if (type.dtype != ALULA_DTYPE_F16)
    return std::bit_cast<float>(bits);
  int exponent = int(bits >> 10 & 31);
  double mantissa = bits & 1023;
  double size = exponent == 31 ? (mantissa != 0 ? NAN : INFINITY)
                : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                               : std::ldexp(mantissa, -24);
  return bits >> 15 ? -size : size;
}

static std::string makeText(const Function &function, const Type &type) {
  std::string tensor =
      "tensor<" + std::to_string(batch) + "x" + type.name + ">";
  bool isBinary = function.operands == 2;
  return "func.func public @main(%x: " + tensor +
         (isBinary ? ", %y: " + tensor : "") + ") -> " + tensor +
         " {\n  %r = \"" + function.op + "\"(%x" + (isBinary ? ", %y" : "") +
         ") : (" + tensor + (isBinary ? ", " + tensor : "") + ") -> " + tensor +
         "\n  return %r : " + tensor + "\n}\n";
}

Program::Program(alula_instance *instance, const Function &function,
                 const Type &type, const std::vector<std::string> &levels)
    : instance(instance), type(type), operands(function.operands) {
  std::string text = makeText(function, type);
  std::vector<std::string> names;
  for (const std::string &level : levels)
    names.push_back("cpu:" + level);
  std::vector<const char *> targets;
  for (const std::string &name : names)
    targets.push_back(name.c_str());
  alula_compile_options options = {};
  options.struct_bytes = sizeof options;
  options.targets = targets.data();
  options.target_count = targets.size();
  void *artifact = nullptr;
  size_t bytes = 0;
  char *message = nullptr;
  if (alula_compile(text.data(), text.size(), &options, &artifact, &bytes,
                    &message) != ALULA_STATUS_OK)
    fail(std::string(function.op) + ": " + (message ? message : ""));
  for (const std::string &level : levels) {
    alula_load_options load = {};
    load.struct_bytes = sizeof load;
    load.variant = level.c_str();
    check(alula_executable_load_memory(instance, artifact, bytes, &load,
                                       &executables.emplace_back()));
  }
  alula_compile_free(artifact);
}

Program::~Program() {
  for (alula_executable *executable : executables)
    alula_executable_destroy(executable);
}

void Program::call(size_t level, uint8_t *const *in, uint8_t *out) const {
  alula_buffer *buffers[3];
  for (unsigned i = 0; i <= operands; ++i)
    check(alula_buffer_wrap(instance, type.dtype, 1, &batch,
                            i < operands ? in[i] : out, batch * type.bytes,
                            nullptr, nullptr, &buffers[i]));
  check(alula_call(executables[level], 0, nullptr, buffers, operands,
                   buffers + operands, 1));
  for (unsigned i = 0; i <= operands; ++i)
    alula_buffer_release(buffers[i]);
}

std::vector<std::string> findLevels(alula_instance *instance) {
  const Function function = {"stablehlo.abs", 1, nullptr, nullptr, 0, 0, 0};
  std::string text = makeText(function, types[2]);
  std::vector<std::string> levels;
  for (const char *level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    std::string target = std::string("cpu:") + level;
    const char *name = target.c_str();
    alula_compile_options options = {};
    options.struct_bytes = sizeof options;
    options.targets = &name;
    options.target_count = 1;
    void *artifact = nullptr;
    size_t bytes = 0;
    if (alula_compile(text.data(), text.size(), &options, &artifact, &bytes,
                      nullptr) != ALULA_STATUS_OK)
      continue;
    alula_executable *executable = nullptr;
    alula_error *error = alula_executable_load_memory(instance, artifact, bytes,
                                                      nullptr, &executable);
    if (!error)
      levels.emplace_back(level);
    alula_error_destroy(error);
    alula_executable_destroy(executable);
    alula_compile_free(artifact);
  }
  if (levels.empty())
    levels.emplace_back("host");
  return levels;
}

} // namespace alula::accuracy
