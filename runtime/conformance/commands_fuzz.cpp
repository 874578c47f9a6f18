// Writes artifacts whose command lists are random but mostly pass the verifier,
// and runs them on the null device: whatever slots show and in whatever order
// memory comes and goes, the host side stays in bounds. What is freed is hidden
// from the program where AddressSanitizer looks on (invoke/context.cpp).
//   commands_fuzz RUNS [SEED]

#include "artifact/fuzz/mutate.h"
#include "artifact/writer.h"
#include "runtime/conformance/fuzz_calls.h"

#include <cstdio>
#include <vector>

using namespace alula::artifact;
using namespace alula::runtime;

namespace {

class Random {
public:
  explicit Random(uint64_t state) : state(state) {}
  uint64_t below(uint64_t limit) { return nextRandom(state) % limit; }
  bool oneIn(uint64_t count) { return below(count) == 0; }

private:
  uint64_t state;
};

/// What all functions of one artifact use.
struct Tables {
  uint32_t fixed, dynamic, constant, kernel, customCall;
};

/// The signature of a function, for its callers.
struct Signature {
  std::vector<bool> dynamicArguments, dynamicResults;
  /// The argument that each result takes over.
  std::vector<uint32_t> aliases;
};

class FunctionMaker {
public:
  FunctionMaker(ArtifactWriter &file, const Tables &tables,
                const std::vector<Signature> &callees, Random &random)
      : tables(tables), callees(callees), random(random),
        f(file.addFunction("f" + std::to_string(callees.size()),
                           /*exported=*/true)) {}

  Signature make() {
    makeSignature();
    makeSlots();
    // Registers of loops, and of the rest.
    for (uint32_t i = 0; i < loopRegisters + 4; ++i)
      f.newRegister();
    for (uint32_t i = 0; i < 2; ++i)
      f.load({loopRegisters + i}, ALULA_DTYPE_I64, f.argument(0),
             f.immediate(8 * i));
    for (uint32_t slot : locals)
      if (!random.oneIn(6))
        f.alloc(slot, pickLargeSize());
    if (!random.oneIn(8))
      bindResults();
    fillBlock(0);
    return signature;
  }

private:
  static constexpr uint32_t maxDepth = 4, loopRegisters = 2 * maxDepth;

  void makeSignature() {
    uint32_t arguments = uint32_t(random.below(3)) + 1;
    for (uint32_t i = 0; i < arguments; ++i) {
      signature.dynamicArguments.push_back(random.oneIn(3));
      f.addArgument("", getType(signature.dynamicArguments[i]));
    }
    std::vector<bool> taken(arguments);
    for (uint64_t i = random.below(4); i > 0; --i) {
      auto alias = uint32_t(random.below(arguments));
      bool dynamic = random.oneIn(2);
      if (random.oneIn(3) && !taken[alias]) {
        taken[alias] = true;
        dynamic = signature.dynamicArguments[alias];
      } else
        alias = ALULA_NONE;
      f.addResult("", getType(dynamic), alias);
      signature.dynamicResults.push_back(dynamic);
      signature.aliases.push_back(alias);
    }
  }

  uint32_t getType(bool dynamic) const {
    return dynamic ? tables.dynamic : tables.fixed;
  }

  void add(uint32_t slot, bool writable, bool local = false,
           bool movable = false) {
    all.push_back(slot);
    if (writable)
      writables.push_back(slot);
    if (local)
      locals.push_back(slot);
    if (movable)
      movables.push_back(slot);
    isWritable.push_back(writable);
  }

  void makeSlots() {
    f.setArenaBytes(256);
    for (uint32_t i = 0; i < signature.dynamicArguments.size(); ++i) {
      bool writable = false;
      for (uint32_t alias : signature.aliases)
        writable |= alias == i;
      add(f.argument(i), writable);
    }
    for (uint32_t i = 0; i < signature.dynamicResults.size(); ++i)
      add(f.result(i), true);
    add(f.constant(tables.constant), false);
    add(f.global(0), true);
    add(f.global(1), false);
    add(f.arena(0, 64), true, false, true);
    add(f.arena(32, 128), true, false, true);
    for (int i = 0; i < 5; ++i)
      add(f.local(), true, true, true);
    for (int i = 0; i < 2; ++i)
      add(f.local(/*readOnly=*/true), false, true);
  }

  uint32_t pick(const std::vector<uint32_t> &slots) {
    // Now and then the verifier has something to refuse.
    const std::vector<uint32_t> &from = random.oneIn(500) ? all : slots;
    return from[random.below(from.size())];
  }
  uint32_t pickAny() { return all[random.below(all.size())]; }

  /// What can be asked for fails now and then, not every time: else most
  /// functions would end at once.
  Operand pickNumber() {
    static const int64_t numbers[] = {0, 1, 2, 3, 7, 8, 16, 24, 40, 100};
    if (random.oneIn(300))
      return f.immediate(random.oneIn(2) ? INT64_MAX : int64_t(1) << 40);
    if (random.oneIn(100))
      return f.immediate(-1);
    if (random.oneIn(4))
      return pickRegister();
    return f.immediate(numbers[random.below(10)]);
  }
  Operand pickOffset() {
    return random.oneIn(12) ? pickNumber() : f.immediate(0);
  }
  Operand pickSize() {
    return random.oneIn(12) ? pickNumber()
                            : f.immediate(8 * int64_t(random.below(3)));
  }
  /// Of a whole argument, most of the time.
  Operand pickLargeSize() {
    static const int64_t numbers[] = {64, 64, 64, 128, 72, 64, 200, 20000};
    return random.oneIn(20) ? pickNumber()
                            : f.immediate(numbers[random.below(8)]);
  }
  Operand pickRegister() { return {loopRegisters + uint32_t(random.below(4))}; }

  bool needsBinding(uint32_t result) const {
    return signature.dynamicResults[result] &&
           signature.aliases[result] == ALULA_NONE;
  }

  /// Once on every path, in one of the ways there are.
  void bindResults() {
    for (uint32_t i = 0; i < signature.dynamicResults.size(); ++i) {
      if (!needsBinding(i))
        continue;
      if (random.oneIn(3)) {
        uint32_t yes = f.newBlock(), no = f.newBlock();
        uint32_t now = f.getBlock();
        f.branch(pickNumber(), yes, no);
        for (uint32_t block : {yes, no}) {
          f.setBlock(block);
          addCommand(maxDepth);
          f.bindResult(i, {pickRows()});
        }
        f.setBlock(now);
      } else
        f.bindResult(i, {pickRows()});
    }
  }
  Operand pickRows() {
    return random.oneIn(20) ? pickNumber()
                            : f.immediate(int64_t(random.below(9)));
  }

  void fillBlock(uint32_t depth) {
    for (uint64_t i = random.below(depth ? 5 : 12) + 1; i > 0; --i)
      addCommand(depth);
  }

  void addCommand(uint32_t depth) {
    switch (random.below(depth < maxDepth ? 24 : 20)) {
    case 0:
    case 1:
    case 2:
      return f.alloc(pick(locals), pickLargeSize());
    case 3:
    case 4:
      return f.free(pick(locals));
    case 5:
    case 6:
    case 7:
    case 8: {
      uint32_t slot = pick(locals);
      return f.view(slot, pick(isWritable[slot] ? writables : all),
                    pickOffset(),
                    random.oneIn(2) ? pickLargeSize() : pickSize());
    }
    case 9:
    case 10:
      return f.swap(pick(movables), pick(movables));
    case 11:
      return f.copy(pick(writables), pickOffset(), pickAny(), pickOffset(),
                    pickSize());
    case 12: {
      static const uint32_t widths[] = {1, 2, 4, 8};
      return f.fill(pick(writables), pickOffset(), pickSize(),
                    widths[random.below(4)], pickNumber());
    }
    case 13:
      return f.load(pickRegister(), ALULA_DTYPE_I64, pickAny(), pickOffset());
    case 14:
      return f.store(ALULA_DTYPE_I64, pick(writables), pickOffset(),
                     pickNumber());
    case 15:
      return f.compute(pickRegister(), alula_operator(random.below(4)),
                       pickNumber(), pickNumber());
    case 16:
      if (random.oneIn(3))
        return f.dispatch(tables.kernel, {f.immediate(1)}, {f.immediate(1)},
                          {f.immediate(1)}, {pickAny(), pick(writables)});
      [[fallthrough]];
    case 17:
      return f.customCall(tables.customCall, {pickAny()}, {pick(writables)},
                          {pickSize()}, {pickSize()});
    case 18:
      if (!callees.empty())
        addCall();
      return;
    case 19:
      if (random.oneIn(20) && !signature.dynamicResults.empty())
        f.bindResult(uint32_t(random.below(signature.dynamicResults.size())),
                     {pickRows()});
      return;
    case 20:
    case 21: {
      uint32_t yes = f.newBlock();
      uint32_t no = random.oneIn(2) ? f.newBlock() : ALULA_NONE;
      f.branch(pickNumber(), yes, no);
      for (uint32_t block : {yes, no})
        if (block != ALULA_NONE)
          fillInner(block, depth + 1);
      return;
    }
    case 22: {
      std::vector<uint32_t> blocks;
      for (uint64_t i = random.below(3) + 1; i > 0; --i)
        blocks.push_back(f.newBlock());
      f.branch(pickNumber(), blocks);
      for (uint32_t block : blocks)
        fillInner(block, depth + 1);
      return;
    }
    case 23: {
      // Nothing else writes its registers: it ends.
      Operand i = {2 * depth}, going = {2 * depth + 1};
      uint32_t condition = f.newBlock(), body = f.newBlock();
      f.move(i, f.immediate(0));
      f.loop(condition, going, body);
      fillInner(condition, depth + 1);
      uint32_t now = f.getBlock();
      f.setBlock(condition);
      f.compute(going, ALULA_OPERATOR_LT, i,
                f.immediate(int64_t(random.below(4))));
      f.setBlock(body);
      f.compute(i, ALULA_OPERATOR_ADD, i, f.immediate(1));
      f.setBlock(now);
      fillInner(body, depth + 1);
      return;
    }
    }
  }

  void fillInner(uint32_t block, uint32_t depth) {
    uint32_t now = f.getBlock();
    f.setBlock(block);
    fillBlock(depth);
    f.setBlock(now);
  }

  void addCall() {
    auto index = uint32_t(random.below(callees.size()));
    const Signature &callee = callees[index];
    std::vector<uint32_t> arguments, results;
    std::vector<Operand> argumentDims, resultDims;
    for (bool dynamic : callee.dynamicArguments) {
      arguments.push_back(pickAny());
      if (dynamic)
        argumentDims.push_back(pickRows());
    }
    for (uint32_t i = 0; i < callee.aliases.size(); ++i) {
      if (callee.aliases[i] != ALULA_NONE) {
        results.push_back(arguments[callee.aliases[i]] = pick(writables));
      } else
        results.push_back(pick(callee.dynamicResults[i] ? locals : writables));
      if (callee.dynamicResults[i])
        resultDims.push_back(pickRegister());
    }
    f.call(index, arguments, results, argumentDims, resultDims);
  }

  const Tables &tables;
  const std::vector<Signature> &callees;
  Random &random;
  FunctionWriter &f;
  Signature signature;
  std::vector<uint32_t> all, writables, locals, movables;
  std::vector<bool> isWritable;
};

std::string makeArtifact(Random &random, std::vector<Signature> &functions) {
  ArtifactWriter file;
  Tables tables = {};
  tables.fixed = file.addType(ALULA_DTYPE_I64, {8});
  tables.dynamic = file.addType(ALULA_DTYPE_I64, {Dim::dynamic("", 0, 4096)});
  uint32_t bytes =
      file.addType(ALULA_DTYPE_UI8, {Dim::dynamic("", 0, 1 << 20)});
  int64_t numbers[8] = {8, 0, 16, 3, -1, 64, 24, 1};
  tables.constant = file.addConstant(numbers, sizeof numbers);
  file.addGlobal("", tables.fixed, /*isMutable=*/true, tables.constant);
  file.addGlobal("", tables.fixed, /*isMutable=*/false, tables.constant);
  tables.kernel =
      file.addKernel({"k", {ALULA_ACCESS_READ, ALULA_ACCESS_WRITE}, 0, 0});
  tables.customCall = file.addCustomCall({.name = "touch",
                                          .operandTypes = {bytes},
                                          .resultTypes = {bytes},
                                          .config = "",
                                          .attributes = ""});
  file.addVariant({"v", "any", {}, ALULA_IMAGE_RAW, std::string(8, 'k'), {0}});
  functions.clear();
  for (int i = 0; i < 6; ++i)
    functions.push_back(FunctionMaker(file, tables, functions, random).make());
  Diagnostic diagnostic;
  return file.finish(diagnostic);
}

/// Whether the call came through; results may be given or not.
bool callFunction(alula_instance *instance, alula_executable *executable,
                  uint32_t function, const Signature &signature,
                  Random &random) {
  std::vector<alula_buffer *> in, out(signature.dynamicResults.size());
  bool good = true;
  auto make = [&](bool dynamic) {
    int64_t size = dynamic ? int64_t(random.below(9)) + 2 : 8;
    alula_buffer *buffer = nullptr;
    alula_error *error =
        alula_buffer_create(instance, ALULA_DTYPE_I64, 1, &size, &buffer);
    alula_error_destroy(error);
    good = good && !error;
    for (int64_t i = 0; !error && i < size; ++i)
      static_cast<int64_t *>(alula_buffer_get_data(buffer))[i] =
          int64_t(random.below(12)) * 8;
    return buffer;
  };
  for (bool dynamic : signature.dynamicArguments)
    in.push_back(make(dynamic));
  for (size_t i = 0; i < out.size(); ++i)
    if (random.oneIn(4))
      out[i] = make(signature.dynamicResults[i]);
  if (good) {
    alula_error *error = alula_call(executable, function, nullptr, in.data(),
                                    in.size(), out.data(), out.size());
    good = !error;
    alula_error_destroy(error);
  }
  // What came back must be there.
  for (alula_buffer *buffer : out)
    if (good && alula_buffer_get_bytes(buffer))
      memset(alula_buffer_get_data(buffer), 1, alula_buffer_get_bytes(buffer));
  for (alula_buffer *buffer : in)
    alula_buffer_release(buffer);
  for (alula_buffer *buffer : out)
    alula_buffer_release(buffer);
  return good;
}

} // namespace

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 100000;
  Random random(makeSeed(argc > 2 ? argv[2] : "0"));
  alula_allocator allocator = {nullptr, allocateForFuzz, releaseForFuzz};
  alula_instance_options options = {};
  options.struct_bytes = sizeof options;
  options.device = "null";
  options.thread_count = 1;
  options.allocator = &allocator;
  alula_instance *instance;
  if (alula_instance_create(&options, &instance) ||
      alula_instance_register_custom_call(instance, "touch", touchAll, nullptr))
    return 1;
  long written = 0, loaded = 0, calls = 0, good = 0;
  std::vector<Signature> functions;
  while (calls < count) {
    ++written;
    std::string bytes = makeArtifact(random, functions);
    if (bytes.empty())
      continue;
    alula_executable *executable;
    alula_error *error = alula_executable_load_memory(
        instance, bytes.data(), bytes.size(), nullptr, &executable);
    if (error) {
      printf("%s\n", alula_error_get_message(error));
      alula_error_destroy(error);
      return 1;
    }
    ++loaded;
    for (int round = 0; round < 3; ++round)
      for (uint32_t i = 0; i < functions.size(); ++i, ++calls)
        good += callFunction(instance, executable, i, functions[i], random);
    alula_executable_destroy(executable);
  }
  alula_instance_destroy(instance);
  printf("%ld artifacts, %ld verify, %ld runs, %ld without error, %llu bytes "
         "left\n",
         written, loaded, calls, good,
         static_cast<unsigned long long>(fuzzBytes.load()));
  return fuzzBytes == 0 ? 0 : 1;
}
