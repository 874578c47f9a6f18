// Plugins through the C functions of the compiler, in several threads.

#include "alula/compiler.h"

#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace {
constexpr const char *program = R"(
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
)";

struct Result {
  alula_status_code code;
  std::string text, message;
  std::vector<std::string> said;
};

Result compile(const char *plugin, std::vector<const char *> settings,
               const char *until = nullptr) {
  Result result;
  alula_compile_options options = {};
  options.struct_bytes = sizeof options;
  options.plugins = &plugin;
  options.plugin_count = 1;
  options.plugin_settings = settings.data();
  options.plugin_setting_count = settings.size();
  options.until = until;
  options.user = &result.said;
  options.on_diagnostic = [](void *user, const alula_compile_diagnostic *one) {
    static_cast<std::vector<std::string> *>(user)->push_back(one->message);
  };
  void *bytes = nullptr;
  size_t size = 0;
  char *message = nullptr;
  result.code = alula_compile(program, strlen(program), &options, &bytes, &size,
                              &message);
  result.text.assign(static_cast<char *>(bytes), size);
  result.message = message ? message : "";
  alula_compile_free(bytes);
  alula_compile_free(message);
  return result;
}
} // namespace

TEST(PluginApi, TakesPart) {
  Result result = compile(ALULA_PROBE, {"probe:do=subtract"}, "input");
  EXPECT_EQ(result.code, ALULA_STATUS_OK) << result.message;
  EXPECT_NE(result.text.find("stablehlo.subtract"), std::string::npos);
  result = compile(ALULA_PROBE, {"probe:do=say"});
  EXPECT_EQ(result.code, ALULA_STATUS_OK) << result.message;
  EXPECT_EQ(result.said, std::vector<std::string>{"probe"});
}

TEST(PluginApi, Errors) {
  Result result = compile("nowhere.so", {});
  EXPECT_EQ(result.code, ALULA_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(result.message,
            "[plug-open] nowhere.so: No such file or directory");
  result = compile(ALULA_PROBE, {"probe:count=10"});
  EXPECT_EQ(result.message,
            "[plug-option] --probe-count: must be at most 9: is 10");
  result = compile(ALULA_PROBE, {"probe:do=fail"});
  EXPECT_NE(result.message.find("[plug-stage] plugin 'probe', stage "
                                "preprocess: it does not like it"),
            std::string::npos)
      << result.message;
}

TEST(PluginApi, G12SessionsInParallel) {
  auto work = [](const char *setting, const char *op, int *wrong) {
    for (int i = 0; i < 50; ++i) {
      Result result = compile(ALULA_PROBE, {setting}, "input");
      *wrong += result.text.find(op) == std::string::npos;
    }
  };
  int wrong[2] = {};
  std::thread one(work, "probe:do=subtract", "stablehlo.subtract", &wrong[0]);
  std::thread other(work, "probe:do=nothing", "stablehlo.add", &wrong[1]);
  one.join();
  other.join();
  EXPECT_EQ(wrong[0], 0);
  EXPECT_EQ(wrong[1], 0);
}
