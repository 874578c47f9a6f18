// Writes the artifact of the text tests: functions "add" (any number of rows),
// "count" (a global), "check" (an assertion).

#include "artifact/writer.h"

#include <cstdio>

using namespace alula::artifact;

static std::string readFile(const char *path) {
  std::string bytes;
  FILE *file = fopen(path, "rb");
  if (!file)
    return bytes;
  char buffer[4096];
  size_t count;
  while ((count = fread(buffer, 1, sizeof buffer, file)) > 0)
    bytes.append(buffer, count);
  fclose(file);
  return bytes;
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  Diagnostic diagnostic;
  ArtifactWriter file;
  file.addFact("compiler", "alula-run-sample");
  uint32_t kernel = file.addKernel(
      {"add_f32",
       {ALULA_ACCESS_READ, ALULA_ACCESS_READ, ALULA_ACCESS_WRITE},
       1,
       0});
  VariantSpec variant;
#if defined(__x86_64__)
  variant.target = "x86_64";
#elif defined(__aarch64__)
  variant.target = "aarch64";
#else
  variant.target = "riscv64";
#endif
  variant.name = variant.target;
  variant.image = readFile(ALULA_TEST_KERNELS);
  if (argc > 2) {
    variant.name = "future";
    variant.features = {argv[2]};
  }
  if (!file.addElfVariant(variant, diagnostic)) {
    fprintf(stderr, "%s\n", diagnostic.text);
    return 1;
  }

  uint32_t rows = file.addType(ALULA_DTYPE_F32, {Dim::dynamic("b"), 2});
  FunctionWriter &add = file.addFunction("add");
  add.addArgument("x", rows);
  add.addArgument("y", rows);
  add.addResult("sum", rows);
  Operand b = add.argumentDim(0, 0), one = add.immediate(1);
  add.bindResult(0, {b});
  add.dispatch(kernel, b, one, one,
               {add.argument(0), add.argument(1), add.result(0)},
               {add.compute(ALULA_OPERATOR_MUL, b, add.immediate(2))});

  uint32_t number = file.addType(ALULA_DTYPE_I64, {});
  int64_t start = 41;
  uint32_t global = file.addGlobal("calls", number, /*isMutable=*/true,
                                   file.addConstant(&start, sizeof start));
  FunctionWriter &count = file.addFunction("count");
  count.addResult("calls", number);
  uint32_t slot = count.global(global);
  Operand zero = count.immediate(0);
  count.store(ALULA_DTYPE_I64, slot, zero,
              count.compute(ALULA_OPERATOR_ADD,
                            count.load(ALULA_DTYPE_I64, slot, zero),
                            count.immediate(1)));
  count.copy(count.result(0), zero, slot, zero, count.immediate(8));

  FunctionWriter &check = file.addFunction("check");
  check.addArgument("n", number);
  Operand n = check.load(ALULA_DTYPE_I64, check.argument(0), zero);
  check.assertThat(check.compute(ALULA_OPERATOR_GT, n, zero),
                   "n must be positive, it is {0}", {n});

  std::string bytes = file.finish(diagnostic);
  FILE *out = fopen(argv[1], "wb");
  if (bytes.empty() || !out) {
    fprintf(stderr, "%s\n", diagnostic.text);
    return 1;
  }
  bool good = fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size();
  return fclose(out) == 0 && good ? 0 : 1;
}
