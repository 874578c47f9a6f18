// Two sessions at once, many times, each with values of its own: what a hook
// sees must be its own session's.

#include "compiler/plugin/session.h"

#include <atomic>
#include <cstdio>
#include <thread>

using namespace alula::plugin;

static std::atomic<int> alive;

static int32_t create(const alula_host *, const char *const *values,
                      void **self, char **) {
  ++alive;
  *self = new std::string(values[0]);
  return 0;
}
static void destroy(void *self) {
  --alive;
  delete static_cast<std::string *>(self);
}
static int32_t rewrite(void *self, const alula_stage *stage, const void *,
                       size_t, alula_bytes *reply, char **) {
  auto *text = static_cast<std::string *>(self);
  reply->data = stage->host->allocate(text->size());
  reply->size = text->copy(static_cast<char *>(reply->data), text->size());
  return 0;
}

int main() {
  auto set = std::make_shared<PluginSet>();
  set->plugins.push_back(std::make_unique<Plugin>());
  Plugin &plugin = *set->plugins.front();
  plugin.table.id = "probe";
  plugin.table.version = "1";
  plugin.table.create = create;
  plugin.table.destroy = destroy;
  plugin.hooks.rewrite = rewrite;
  plugin.options = {{sizeof(alula_option), ALULA_OPTION_STRING, "text", "",
                     "nothing", nullptr, nullptr, nullptr, 0}};
  plugin.isActive = true;
  std::atomic<int> wrong{0};
  auto work = [&](std::string text) {
    for (int i = 0; i < 200; ++i) {
      auto session = llvm::cantFail(
          Session::create(set, OptionSetting{"probe", "text", text}));
      const auto &instance = session->getInstances().front();
      auto reply =
          session->rewrite(instance, session->makeStage("x", "", ""), "");
      auto *got = std::get_if<std::string>(&reply);
      wrong += !got || *got != text;
    }
  };
  std::thread one(work, "one"), other(work, "another");
  one.join();
  other.join();
  printf("%d wrong, %d alive\n", wrong.load(), alive.load());
}
