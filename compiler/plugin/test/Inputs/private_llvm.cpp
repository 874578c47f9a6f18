// A plugin of tier C with an LLVM of its own inside, which it uses.

#include "alula/plugin.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SHA256.h"

static int32_t rewrite(void *, const alula_stage *stage, const void *input,
                       size_t bytes, alula_bytes *, char **) {
  auto hash = llvm::SHA256::hash(llvm::ArrayRef<uint8_t>{static_cast<const uint8_t *>(input), bytes});
  llvm::StringMap<int> map;
  map["bytes"] = hash[0];
  stage->say(stage, ALULA_SAY_REMARK,
             map.count("bytes") ? "hashed by a private LLVM" : "no");
  return 0;
}

static const char *const stages[] = {"preprocess"};
static const alula_hooks hooks = {
    sizeof hooks, 0, stages, 1, nullptr, nullptr, nullptr, rewrite, nullptr, 0};
static const alula_plugin table = {sizeof table,
                                   ALULA_PLUGIN_ABI_MAJOR,
                                   ALULA_PLUGIN_ABI_MINOR,
                                   ALULA_TIER_C,
                                   "private-llvm",
                                   "1",
                                   "",
                                   nullptr,
                                   nullptr,
                                   0,
                                   nullptr,
                                   0,
                                   nullptr,
                                   0,
                                   nullptr,
                                   nullptr,
                                   &hooks};

const alula_plugin *alula_plugin_query(uint16_t, uint16_t) { return &table; }
