// A small artifact that uses every table and every command: the tests damage
// it in every way. Its image is raw bytes, since nothing here runs it.

#pragma once

#include "artifact/bundle.h"
#include "artifact/reader.h"
#include "artifact/writer.h"

namespace alula::artifact {

inline std::string makeSample() {
  ArtifactWriter file;
  uint32_t vector = file.addType(ALULA_DTYPE_F32, {4});
  uint32_t scalar = file.addType(ALULA_DTYPE_I32, {});
  uint32_t dynamic =
      file.addType(ALULA_DTYPE_F32, {Dim::dynamic("b", 1, 64), Dim(4)});
  float ones[4] = {1, 1, 1, 1};
  uint32_t constant = file.addConstant(ones, sizeof ones);
  uint32_t counter = file.addGlobal("counter", scalar, /*isMutable=*/true);
  file.addGlobal("weights", vector, /*isMutable=*/false, constant);
  uint32_t add = file.addKernel(
      {"add",
       {ALULA_ACCESS_READ, ALULA_ACCESS_READ, ALULA_ACCESS_WRITE},
       /*constantCount=*/1,
       /*scratchBytes=*/128});
  file.addVariant({"x86-64-v3",
                   "x86_64",
                   {"avx2", "fma"},
                   ALULA_IMAGE_RAW,
                   std::string(20, '\xC3'),
                   {4}});
  file.addVariant(
      {"x86-64", "x86_64", {}, ALULA_IMAGE_RAW, std::string(8, '\xC3'), {0}});
  file.addFact("compiler", "test");

  FunctionWriter &step = file.addFunction("step", /*exported=*/false);
  uint32_t x = step.addArgument("x", vector);
  step.addResult("y", vector, x);
  uint32_t xSlot = step.argument(x);
  step.dispatch(add, step.immediate(1), step.immediate(1), step.immediate(1),
                {xSlot, step.constant(constant), xSlot}, {step.immediate(4)});

  FunctionWriter &scale = file.addFunction("scale");
  scale.addArgument("rows", dynamic);
  scale.addResult("rows", dynamic);
  Operand rows = scale.argumentDim(0, 0);
  Operand bytes = scale.compute(ALULA_OPERATOR_MUL, rows, scale.immediate(16));
  scale.bindResult(0, {rows});
  uint32_t temporary = scale.local(), part = scale.local(/*readOnly=*/true);
  uint32_t in = scale.argument(0), out = scale.result(0);
  scale.alloc(temporary, bytes);
  scale.fill(temporary, scale.immediate(0), bytes, 4, scale.immediate(0));
  scale.view(part, in, scale.immediate(0), scale.immediate(16));
  scale.copy(out, scale.immediate(0), in, scale.immediate(0), bytes);
  scale.free(temporary);

  FunctionWriter &main = file.addFunction("main");
  main.addArgument("x", vector);
  main.addArgument("n", scalar);
  main.addResult("y", vector);
  main.setArenaBytes(128);
  uint32_t a = main.arena(0, 16), b = main.arena(64, 16);
  uint32_t argument = main.argument(0), n = main.argument(1),
           result = main.result(0), global = main.global(counter);
  Operand zero = main.immediate(0), one = main.immediate(1),
          sixteen = main.immediate(16);
  main.checkGlobal(counter);
  main.copy(a, zero, argument, zero, sixteen);
  Operand count = main.load(ALULA_DTYPE_I32, n, zero);
  Operand positive = main.compute(ALULA_OPERATOR_GE, count, zero);
  main.assertThat(positive, "n must not be negative, it is {0}", {count});
  Operand i = main.newRegister(), going = main.newRegister();
  uint32_t condition = main.newBlock(), body = main.newBlock();
  main.loop(condition, going, body);
  main.setBlock(condition);
  main.compute(going, ALULA_OPERATOR_LT, i, count);
  main.setBlock(body);
  main.call(step.getIndex(), {a}, {a});
  main.swap(a, b);
  main.compute(i, ALULA_OPERATOR_ADD, i, one);
  uint32_t odd = main.newBlock(), even = main.newBlock();
  main.branch(main.compute(ALULA_OPERATOR_AND, i, one), odd, even);
  main.setBlock(odd);
  main.store(ALULA_DTYPE_I32, global, zero, i);
  main.setBlock(0);
  uint32_t first = main.newBlock(), second = main.newBlock();
  main.branch(main.select(going, one, zero), {first, second});
  main.defineGlobal(counter);
  main.copy(result, zero, a, zero, sixteen);

  Diagnostic diagnostic;
  std::string bytes2 = file.finish(diagnostic);
  if (bytes2.empty())
    fprintf(stderr, "sample: %s\n", diagnostic.text);
  return bytes2;
}

/// A second one: nested control flow around custom calls, dynamic sizes, a
/// constant outside the file.
inline std::string makeControlSample() {
  ArtifactWriter file;
  uint32_t vector = file.addType(ALULA_DTYPE_F32, {4});
  uint32_t scalar = file.addType(ALULA_DTYPE_I64, {});
  uint32_t dynamic =
      file.addType(ALULA_DTYPE_F32, {Dim::dynamic("n", 0, 8), Dim(2)});
  uint32_t weights = file.addExternalConstant("w.safetensors", "w", vector);
  uint32_t scale = file.addCustomCall({.name = "scale",
                                       .apiVersion = 4,
                                       .operandTypes = {dynamic, scalar},
                                       .resultTypes = {dynamic},
                                       .config = std::string("\0\x1F\xFF\"", 4),
                                       .attributes = "{\"by\": 2}",
                                       .hasSideEffect = false});
  uint32_t log = file.addCustomCall({.name = "log",
                                     .apiVersion = 1,
                                     .operandTypes = {scalar},
                                     .resultTypes = {},
                                     .config = "",
                                     .attributes = "",
                                     .hasSideEffect = true});
  FunctionWriter &main = file.addFunction("main");
  main.addArgument("x", dynamic);
  main.addArgument("n", scalar);
  main.addResult("y", dynamic);
  main.addResult("w", vector);
  uint32_t x = main.argument(0), n = main.argument(1), y = main.result(0),
           w = main.result(1), constant = main.constant(weights);
  Operand zero = main.immediate(0), one = main.immediate(1);
  Operand rows = main.argumentDim(0, 0);
  Operand bytes = main.compute(ALULA_OPERATOR_MUL, rows, main.immediate(8));
  main.bindResult(0, {rows});
  main.copy(y, zero, x, zero, bytes);
  main.copy(w, zero, constant, zero, main.immediate(16));
  Operand turns = main.load(ALULA_DTYPE_I64, n, zero);
  Operand i = main.newRegister(), going = main.newRegister();
  uint32_t condition = main.newBlock(), body = main.newBlock();
  main.loop(condition, going, body);
  main.setBlock(condition);
  main.compute(going, ALULA_OPERATOR_LT, i, turns);
  main.setBlock(body);
  uint32_t odd = main.newBlock(), even = main.newBlock();
  main.branch(main.compute(ALULA_OPERATOR_REM, i, main.immediate(2)),
              {even, odd});
  main.setBlock(even);
  main.customCall(scale, {y, n}, {y}, {rows}, {rows});
  main.setBlock(odd);
  uint32_t last = main.newBlock();
  main.branch(main.compute(ALULA_OPERATOR_EQ, i, turns), last);
  main.setBlock(last);
  main.customCall(log, {n}, {});
  main.setBlock(body);
  main.compute(i, ALULA_OPERATOR_ADD, i, one);
  Diagnostic diagnostic;
  std::string result = file.finish(diagnostic);
  if (result.empty())
    fprintf(stderr, "sample: %s\n", diagnostic.text);
  return result;
}

/// A third one: functions found at load, and code for another kind of machine.
inline std::string makeImportSample() {
  ArtifactWriter file;
  uint32_t vector = file.addType(ALULA_DTYPE_F32, {4});
  uint32_t mul =
      file.addKernel({"mul", {ALULA_ACCESS_READ, ALULA_ACCESS_WRITE}, 0, 0});
  file.addImport("fast_mul", /*isOptional=*/true);
  file.addImport("slow_mul", /*isOptional=*/false);
  file.addVariant({"cuda:sm_80",
                   "cuda",
                   {},
                   ALULA_IMAGE_PTX,
                   std::string("one\0four\0", 9),
                   {4}});
  file.addFact("origin.cuda:sm_80.mul", "ptx mul.ptx sha256:00");
  FunctionWriter &main = file.addFunction("main");
  main.addArgument("x", vector);
  main.addResult("y", vector);
  Operand one = main.immediate(1);
  main.dispatch(mul, one, one, one, {main.argument(0), main.result(0)});
  Diagnostic diagnostic;
  std::string bytes = file.finish(diagnostic);
  if (bytes.empty())
    fprintf(stderr, "sample: %s\n", diagnostic.text);
  return bytes;
}

/// A fourth one: every kind of collective, for two participants.
inline std::string makeCollectiveSample() {
  ArtifactWriter file;
  uint32_t vector = file.addType(ALULA_DTYPE_F32, {4});
  uint32_t both = file.addGroups(2, {{1, 0}});
  uint32_t pairs = file.addGroups(2, {{0, 1}});
  FunctionWriter &main = file.addFunction("main");
  main.addArgument("x", vector);
  main.addResult("y", vector);
  main.addResult("number", file.addType(ALULA_DTYPE_I32, {}));
  main.setArenaBytes(128);
  uint32_t x = main.argument(0), y = main.result(0), number = main.result(1),
           half = main.arena(0, 8), whole = main.arena(64, 16);
  Operand zero = main.immediate(0);
  main.store(ALULA_DTYPE_I32, number, zero, main.participant());
  auto add = [&](alula_collective_kind kind, uint32_t groups, uint64_t count,
                 alula_reduction reduction = ALULA_REDUCTION_NONE) {
    return file.addCollective({.kind = kind,
                               .reduction = reduction,
                               .dtype = ALULA_DTYPE_F32,
                               .groups = groups,
                               .count = count,
                               .channel = 7});
  };
  Operand sum = main.collectiveStart(
      add(ALULA_COLLECTIVE_ALL_REDUCE, both, 4, ALULA_REDUCTION_SUM), x, y);
  Operand part = main.collectiveStart(
      add(ALULA_COLLECTIVE_REDUCE_SCATTER, both, 2, ALULA_REDUCTION_MAX), x,
      half);
  main.collectiveDone(part);
  main.collectiveDone(main.collectiveStart(
      add(ALULA_COLLECTIVE_ALL_GATHER, both, 2), half, whole));
  main.collectiveDone(sum);
  main.collectiveDone(main.collectiveStart(
      add(ALULA_COLLECTIVE_ALL_TO_ALL, both, 2), whole, y));
  main.collectiveDone(
      main.collectiveStart(add(ALULA_COLLECTIVE_PERMUTE, pairs, 4), y, whole));
  main.collectiveDone(
      main.collectiveStart(add(ALULA_COLLECTIVE_BROADCAST, both, 4), whole, y));
  Diagnostic diagnostic;
  std::string bytes = file.finish(diagnostic);
  if (bytes.empty())
    fprintf(stderr, "sample: %s\n", diagnostic.text);
  return bytes;
}

/// Programs for two kinds of machines, which share a constant.
inline std::string makeBundleSample() {
  std::vector<ProgramSpec> programs = {
      {"cpu:x86-64-v3", 16, 262144, makeSample()},
      {"cpu:x86-64-v3:cores=2", 2, 1 << 20, makeSample()}};
  Diagnostic diagnostic;
  std::string bytes = bundlePrograms(programs, diagnostic);
  if (bytes.empty())
    fprintf(stderr, "sample: %s\n", diagnostic.text);
  return bytes;
}

} // namespace alula::artifact
