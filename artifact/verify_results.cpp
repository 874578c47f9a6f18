// A dynamic result is bound exactly once on every path through its function:
// views of a result's storage stay valid until the function ends.

#include "artifact/verifier.h"

#include <cinttypes>
#include <cstdlib>

namespace alula::artifact {
namespace {

/// Goes through the tree of blocks in the order of execution. `trail` lists the
/// results bound on the path so far; the branches of one command must each
/// bind the same ones, loops none.
class ResultVerifier {
public:
  ResultVerifier(const Artifact &artifact, uint32_t index,
                 Diagnostic &diagnostic)
      : file(artifact), function(artifact.functions[index]), index(index),
        diagnostic(diagnostic) {}
  ~ResultVerifier() {
    free(isBound);
    free(trail);
  }

  bool run() {
    uint64_t binds = countBinds();
    if (binds) {
      isBound = static_cast<bool *>(calloc(function.result_count, 1));
      trail = static_cast<uint32_t *>(calloc(binds, sizeof(uint32_t)));
      if (!isBound || !trail)
        return diagnostic.fail(ALULA_STATUS_RESOURCE_EXHAUSTED,
                               "out of memory while verifying an artifact");
      if (!walk(0))
        return false;
    }
    for (uint32_t i = 0; i < function.result_count; ++i)
      if (needsBinding(i) && !(binds && isBound[i]))
        return fail(i, "is not bound");
    return true;
  }

private:
  bool fail(uint32_t result, const char *what) {
    return diagnostic.fail(ALULA_STATUS_DATA_LOSS,
                           "function %u '%.64s': result %u %s", index,
                           file.getString(function.name), result, what);
  }

  bool needsBinding(uint32_t result) const {
    const alula_file_value &value = file.getResult(function, result);
    return value.alias == ALULA_NONE &&
           countDynamicDims(file, file.types[value.type]) != 0;
  }

  uint64_t countBinds() const {
    uint64_t count = 0;
    for (uint32_t i = 0; i < function.block_count; ++i) {
      const alula_file_block &block = file.blocks[function.first_block + i];
      for (uint64_t word = block.begin; word < block.end;
           word += file.code[word] >> 8)
        count += (file.code[word] & 0xFF) == ALULA_COMMAND_BIND_RESULT;
    }
    return count;
  }

  /// At most ALULA_MAX_NESTING deep.
  bool walk(uint32_t number) {
    const alula_file_block &block = file.blocks[function.first_block + number];
    for (uint64_t word = block.begin; word < block.end;
         word += file.code[word] >> 8) {
      const uint32_t *p = file.code.data + word + 1;
      uint32_t count = (file.code[word] >> 8) - 1;
      switch (file.code[word] & 0xFF) {
      case ALULA_COMMAND_BIND_RESULT:
        if (isBound[p[0]])
          return fail(p[0], "is bound twice");
        isBound[p[0]] = true;
        trail[bound++] = p[0];
        break;
      case ALULA_COMMAND_IF:
        if (!walkBranches(p + 1, 2))
          return false;
        break;
      case ALULA_COMMAND_CASE:
        if (!walkBranches(p + 1, count - 1))
          return false;
        break;
      case ALULA_COMMAND_WHILE: {
        uint64_t before = bound;
        if (!walk(p[0]) || !walk(p[2]))
          return false;
        if (bound != before)
          return fail(trail[before], "is bound in a loop");
        break;
      }
      }
    }
    return true;
  }

  /// What the first branch binds stays on the trail.
  bool walkBranches(const uint32_t *blocks, uint32_t count) {
    uint64_t begin = bound, end = bound;
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t from = bound;
      unmark(begin, end);
      if (blocks[i] != ALULA_NONE && !walk(blocks[i]))
        return false;
      if (i == 0) {
        end = bound;
        continue;
      }
      for (uint64_t j = begin; j < end; ++j)
        if (!isBound[trail[j]])
          return fail(trail[j], someBranches);
      // It binds all of these, and more if it is longer.
      if (bound - from != end - begin) {
        unmark(begin, end);
        for (uint64_t j = from; j < bound; ++j)
          if (isBound[trail[j]])
            return fail(trail[j], someBranches);
      }
      bound = from;
    }
    return true;
  }

  void unmark(uint64_t begin, uint64_t end) {
    for (uint64_t j = begin; j < end; ++j)
      isBound[trail[j]] = false;
  }

  static constexpr const char *someBranches = "is bound in some branches only";

  const Artifact &file;
  const alula_file_function &function;
  uint32_t index;
  Diagnostic &diagnostic;
  bool *isBound = nullptr;
  uint32_t *trail = nullptr;
  uint64_t bound = 0;
};

} // namespace

bool verifyResults(const Artifact &artifact, uint32_t index,
                   Diagnostic &diagnostic) {
  return ResultVerifier(artifact, index, diagnostic).run();
}

} // namespace alula::artifact
