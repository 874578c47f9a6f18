// The C functions of alula/compiler.h.

#include "alula/compiler.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

const char program[] = R"(
func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %c = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  %y = stablehlo.add %x, %x : tensor<4xf32>
  return %y, %c : tensor<4xf32>, tensor<4xi64>
})";

struct Heard {
  std::vector<std::string> rooms, times, diagnostics;
  std::string external;
  int cancel = 0;
  /// Set `cancel` when this room begins.
  std::string cancelAt;
};

alula_compile_options makeOptions(Heard &heard) {
  alula_compile_options options = {};
  options.struct_bytes = sizeof options;
  options.user = &heard;
  options.cancel = &heard.cancel;
  options.on_progress = [](void *user, const alula_compile_progress *progress) {
    auto &to = *static_cast<Heard *>(user);
    if (!*progress->step)
      to.rooms.push_back(std::to_string(progress->room_number) + "/" +
                         std::to_string(progress->room_count) + " " +
                         progress->room);
    if (progress->room == to.cancelAt)
      to.cancel = 1;
  };
  options.on_time = [](void *user, const char *room, double seconds) {
    EXPECT_GE(seconds, 0);
    static_cast<Heard *>(user)->times.push_back(room);
  };
  options.on_diagnostic = [](void *user,
                             const alula_compile_diagnostic *diagnostic) {
    static_cast<Heard *>(user)->diagnostics.push_back(
        std::string(diagnostic->location) + " " + diagnostic->message);
  };
  options.on_external = [](void *user, const void *bytes, size_t size) {
    static_cast<Heard *>(user)->external.assign(
        static_cast<const char *>(bytes), size);
  };
  return options;
}

struct Result {
  alula_status_code code;
  std::string artifact, message;
};

Result compile(const std::string &text, const alula_compile_options *options) {
  void *bytes = nullptr;
  size_t size = 0;
  char *message = nullptr;
  Result result;
  result.code =
      alula_compile(text.data(), text.size(), options, &bytes, &size, &message);
  if (bytes)
    result.artifact.assign(static_cast<char *>(bytes), size);
  if (message)
    result.message = message;
  alula_compile_free(bytes);
  alula_compile_free(message);
  return result;
}

TEST(Compile, ProgressAndTimes) {
  Heard heard;
  alula_compile_options options = makeOptions(heard);
  Result result = compile(program, &options);
  EXPECT_EQ(result.code, ALULA_STATUS_OK) << result.message;
  EXPECT_EQ(result.artifact.substr(1, 5), "ALULA");
  EXPECT_EQ(heard.rooms, (std::vector<std::string>{"1/9 input", "2/9 optimize",
                                                   "3/9 partition", "4/9 dispatch",
                                                   "5/9 plan", "6/9 kernel",
                                                   "7/9 schedule", "8/9 target",
                                                   "9/9 emit"}));
  EXPECT_EQ(heard.times,
            (std::vector<std::string>{"input", "optimize", "partition", "dispatch",
                                      "plan", "kernel", "schedule", "target", "emit"}));
  // Watching changes nothing.
  EXPECT_EQ(compile(program, nullptr).artifact, result.artifact);
}

TEST(Compile, Version) {
  std::string text = alula_compiler_get_version();
  EXPECT_TRUE(text.starts_with("alula ")) << text;
  EXPECT_NE(text.find(", LLVM 19."), text.npos) << text;
}

TEST(Compile, OthersBeforeChangeNothing) {
  std::string other = program;
  other.replace(other.find("stablehlo.add"), 13, "stablehlo.multiply");
  std::string first = compile(program, nullptr).artifact;
  std::string second = compile(other, nullptr).artifact;
  EXPECT_NE(first, second);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(compile(program, nullptr).artifact, first);
    Heard heard;
    alula_compile_options options = makeOptions(heard);
    EXPECT_EQ(compile("func.func @main() { stablehlo.no }", &options).code,
              ALULA_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(heard.diagnostics.size(), 1u);
    EXPECT_EQ(compile(other, nullptr).artifact, second);
  }
}

TEST(Compile, InitialValues) {
  const char *text = R"(
ml_program.global private mutable @"w$0" : tensor<4xf32>
func.func @main() -> tensor<4xf32> {
  %w = ml_program.global_load @"w$0" : tensor<4xf32>
  return %w : tensor<4xf32>
})";
  const float weights[] = {1, 2, 3, 4};
  Heard heard;
  alula_compile_options options = makeOptions(heard);
  alula_compile_value value = {"w$0", weights, sizeof weights};
  options.values = &value;
  options.value_count = 1;
  Result result = compile(text, &options);
  EXPECT_EQ(result.code, ALULA_STATUS_OK) << result.message;
  std::string bytes(reinterpret_cast<const char *>(weights), sizeof weights);
  EXPECT_NE(result.artifact.find(bytes), std::string::npos);

  value.bytes = 12;
  EXPECT_NE(compile(text, &options)
                .message.find("'ml_program.global': the value's size must be "
                              "the type's: @w$0 is 'tensor<4xf32>', the value "
                              "has 12 bytes"),
            std::string::npos);
  value = {"v", weights, sizeof weights};
  EXPECT_NE(compile(text, &options)
                .message.find("'builtin.module': has no global for a value: "
                              "@v"),
            std::string::npos);
}

TEST(Compile, Cache) {
  std::string folder = testing::TempDir() + "compile_cache_XXXXXX";
  ASSERT_TRUE(mkdtemp(folder.data()));
  auto compileAgain = [&](const char *globals, float value, bool isKnown) {
    Heard heard;
    alula_compile_options options = makeOptions(heard);
    alula_compile_value given = {"w", &value, sizeof value};
    options.values = &given;
    options.value_count = 1;
    options.cache_directory = folder.c_str();
    Result result = compile(globals, &options);
    EXPECT_EQ(result.code, ALULA_STATUS_OK) << result.message;
    EXPECT_EQ(heard.times.empty(), isKnown);
    return result.artifact;
  };
  const char *globals = R"(
ml_program.global private mutable @w : tensor<f32>
func.func public @main() -> tensor<f32> {
  %0 = ml_program.global_load @w : tensor<f32>
  return %0 : tensor<f32>
})";
  std::string one = compileAgain(globals, 1, false);
  std::string two = compileAgain(globals, 2, false);
  EXPECT_NE(one, two);
  EXPECT_EQ(compileAgain(globals, 1, true), one);
  EXPECT_EQ(compileAgain(globals, 2, true), two);

  alula_program_info *info = nullptr;
  alula_compile_options options = {};
  options.struct_bytes = sizeof options;
  options.cache_directory = folder.c_str();
  options.info = &info;
  Result result = compile(program, &options);
  EXPECT_EQ(result.code, ALULA_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(result.message.find("cache_directory: not with info"),
            result.message.npos)
      << result.message;
}

TEST(Compile, PreprocessSteps) {
  Heard heard;
  alula_compile_options options = makeOptions(heard);
  options.until = "dispatch";
  const char *steps[] = {"sed s/stablehlo.add/stablehlo.subtract/",
                         "builtin.module(cse)"};
  options.preprocess_steps = steps;
  options.preprocess_step_count = 2;
  Result result = compile(program, &options);
  EXPECT_EQ(result.code, ALULA_STATUS_OK) << result.message;
  EXPECT_NE(result.artifact.find("= stablehlo.subtract"), std::string::npos);
  EXPECT_EQ(result.artifact.find("= stablehlo.add"), std::string::npos);
  // A step that can't be is found before anything is done.
  steps[1] = "no-such-tool";
  heard.rooms.clear();
  result = compile(program, &options);
  EXPECT_EQ(result.code, ALULA_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(result.message, "[pre-not-found] 'no-such-tool': there is no "
                            "'no-such-tool' on the PATH");
  EXPECT_TRUE(heard.rooms.empty());
}

TEST(Compile, Cancel) {
  for (const char *room :
       {"input", "dispatch", "plan", "kernel", "schedule", "target", "emit"}) {
    Heard heard;
    heard.cancelAt = room;
    alula_compile_options options = makeOptions(heard);
    Result result = compile(program, &options);
    EXPECT_EQ(result.code, ALULA_STATUS_CANCELLED) << room;
    EXPECT_EQ(result.message, "compilation was cancelled");
    EXPECT_EQ(result.artifact, "");
    EXPECT_TRUE(heard.diagnostics.empty()) << heard.diagnostics[0];
    EXPECT_TRUE(heard.times.empty() || heard.times.back() != room);
  }
}

TEST(Compile, KernelsAsFunctions) {
  const char loop[] = R"(
func.func public @main(%x: tensor<4x4xf32>, %n: tensor<i32>) -> tensor<16xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4x4xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %d = stablehlo.dot_general %y, %x, contracting_dims = [1] x [0]
        : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %t = stablehlo.tanh %d : tensor<4x4xf32>
      stablehlo.return %next, %t : tensor<i32>, tensor<4x4xf32>
    }
  %s = stablehlo.reshape %r#1 : (tensor<4x4xf32>) -> tensor<16xf32>
    loc("jit(f)/reshape"("model.py":12:3))
  return %s : tensor<16xf32>
})";
  Heard heard;
  alula_compile_options options = makeOptions(heard);
  alula_program_info *info = nullptr;
  options.info = &info;
  options.until = "dispatch";
  options.kernels_as_functions = 1;
  Result result = compile(loop, &options);
  ASSERT_EQ(result.code, ALULA_STATUS_OK) << result.message;
  const std::string &text = result.artifact;
  EXPECT_NE(text.find("call @main_0("), std::string::npos) << text;
  EXPECT_NE(text.find("func.func private @main_0("), std::string::npos) << text;
  EXPECT_NE(text.find("stablehlo.while"), std::string::npos) << text;
  for (const char *ours : {"dispatch.", "alula."})
    EXPECT_EQ(text.find(ours), std::string::npos) << text;
  alula_kernel_info kernel = {};
  kernel.struct_bytes = sizeof kernel;
  double flops = 0;
  std::string operations, places, names;
  uint32_t count = 0;
  for (; alula_program_info_get_kernel(info, count, &kernel); ++count) {
    EXPECT_EQ(kernel.name, "main_" + std::to_string(count));
    flops += kernel.flops;
    operations += kernel.operations + std::string(" ");
    places += kernel.source;
    names += kernel.source_name;
    EXPECT_GT(kernel.bytes, 0);
  }
  EXPECT_GE(flops, 2 * 4 * 4 * 4);
  EXPECT_NE(operations.find("dot_general"), std::string::npos) << operations;
  EXPECT_NE(operations.find("tanh"), std::string::npos) << operations;
  EXPECT_NE(places.find("model.py:12"), std::string::npos) << places;
  EXPECT_NE(names.find("jit(f)/reshape"), std::string::npos) << names;
  EXPECT_FALSE(alula_program_info_get_kernel(info, count, &kernel));
  alula_program_info_destroy(info);
  // It is a program like others.
  options = makeOptions(heard);
  result = compile(text, &options);
  EXPECT_EQ(result.code, ALULA_STATUS_OK) << result.message;
}

// XLA as torch_xla has it knows no functions of chlo.
TEST(Compile, KernelsWithFunctionsOfChlo) {
  Heard heard;
  alula_compile_options options = makeOptions(heard);
  options.until = "dispatch";
  options.kernels_as_functions = 1;
  Result result = compile(R"(
func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = chlo.erf %x : tensor<8xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
})",
                          &options);
  ASSERT_EQ(result.code, ALULA_STATUS_OK) << result.message;
  const std::string &text = result.artifact;
  EXPECT_NE(text.find("stablehlo.composite \"chlo.erf\""), std::string::npos)
      << text;
  EXPECT_EQ(text.find("= chlo."), std::string::npos) << text;
  options = makeOptions(heard);
  result = compile(text, &options);
  EXPECT_EQ(result.code, ALULA_STATUS_OK) << result.message;
}

TEST(Compile, KernelsThatCanNotBeFunctions) {
  Heard heard;
  alula_compile_options options = makeOptions(heard);
  options.until = "dispatch";
  options.kernels_as_functions = 1;
  Result result = compile(R"(
func.func public @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = stablehlo.tanh %x : tensor<?xf32>
  return %y : tensor<?xf32>
})",
                          &options);
  EXPECT_EQ(result.code, ALULA_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(
      result.message,
      "\"program\":3:8: 'dispatch.launch': the host computes sizes for it");
}

TEST(Compile, Until) {
  Heard heard;
  alula_compile_options options = makeOptions(heard);
  options.until = "dispatch";
  Result result = compile(program, &options);
  EXPECT_EQ(result.code, ALULA_STATUS_OK) << result.message;
  EXPECT_NE(result.artifact.find("dispatch.executable"), std::string::npos);
  EXPECT_EQ(heard.rooms.back(), "4/4 dispatch");
  // It says how it came about, which alula-compile understands.
  EXPECT_NE(result.artifact.find("alula.stage = \"dispatch\""),
            std::string::npos);
  options.until = "executable-configs";
  result = compile(program, &options);
  EXPECT_EQ(result.code, ALULA_STATUS_OK) << result.message;
  EXPECT_EQ(heard.rooms.back(), "6/6 kernel");
  options.until = "kitchen";
  result = compile(program, &options);
  EXPECT_EQ(result.code, ALULA_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(result.message,
            "[stage-usage] --compile-to: there is no stage 'kitchen': there "
            "are input, optimize, "
            "partition, dispatch (executable-sources), plan, kernel "
            "(executable-configs), schedule, target (executable-targets), "
            "emit");
}

TEST(Compile, PhysicalLayouts) {
  const char columns[] = R"(
func.func public @main(%x: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"})
    -> (tensor<3x2xf32> {mhlo.layout_mode = "auto"}, tensor<2x3xf32>) {
  %y = stablehlo.transpose %x, dims = [1, 0]
      : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %z = stablehlo.transpose %y, dims = [1, 0]
      : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %n = stablehlo.negate %y : tensor<3x2xf32>
  return %n, %z : tensor<3x2xf32>, tensor<2x3xf32>
})";
  Heard heard;
  alula_compile_options options = makeOptions(heard);
  alula_program_info *info = nullptr;
  options.info = &info;
  options.until = "dispatch";
  options.physical_layouts = 1;
  Result result = compile(columns, &options);
  EXPECT_EQ(result.code, ALULA_STATUS_OK) << result.message;
  EXPECT_NE(result.artifact.find("@main(%arg0: tensor<3x2xf32>"),
            std::string::npos)
      << result.artifact;
  ASSERT_NE(info, nullptr);
  EXPECT_STREQ(alula_program_info_get_argument_layout(info, 0), "{0,1}");
  EXPECT_STREQ(alula_program_info_get_argument_layout(info, 1), "");
  EXPECT_STREQ(alula_program_info_get_result_layout(info, 0), "");
  EXPECT_STREQ(alula_program_info_get_result_layout(info, 1), "");
  EXPECT_EQ(alula_program_info_get_flags(info), ALULA_PROGRAM_LAYOUTS);
  alula_program_info_destroy(info);

  std::string wrong = columns;
  wrong.replace(wrong.find("{0,1}"), 5, "{0,3}");
  options.info = nullptr;
  result = compile(wrong.c_str(), &options);
  EXPECT_EQ(result.code, ALULA_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(result.message.find("'func.func': argument #0: the layout "
                                "\"{0,3}\" of 'tensor<2x3xf32>' does not "
                                "order the 2 dimensions"),
            std::string::npos)
      << result.message;
  // Who does not ask has the program's arrays.
  options.physical_layouts = 0;
  result = compile(wrong.c_str(), &options);
  EXPECT_EQ(result.code, ALULA_STATUS_OK) << result.message;
}

TEST(Compile, ExternalConstants) {
  Heard heard;
  alula_compile_options options = makeOptions(heard);
  options.external_file = "w.safetensors";
  options.external_minimum_bytes = 32;
  Result result = compile(program, &options);
  EXPECT_EQ(result.code, ALULA_STATUS_OK) << result.message;
  EXPECT_NE(heard.external.find("data_offsets"), std::string::npos);
  EXPECT_NE(result.artifact.find("w.safetensors"), std::string::npos);
  options.external_minimum_bytes = 33;
  heard.external.clear();
  result = compile(program, &options);
  EXPECT_EQ(result.code, ALULA_STATUS_OK) << result.message;
  EXPECT_EQ(heard.external, "");
}

TEST(Compile, GoesOn) {
  Heard heard;
  alula_compile_options options = makeOptions(heard);
  Result straight = compile(program, &options);
  ASSERT_EQ(straight.code, ALULA_STATUS_OK) << straight.message;
  for (const char *until : {"input", "partition", "dispatch", "schedule"}) {
    options.until = until;
    Result part = compile(program, &options);
    ASSERT_EQ(part.code, ALULA_STATUS_OK) << part.message;
    options.until = nullptr;
    Result rest = compile(part.artifact, &options);
    ASSERT_EQ(rest.code, ALULA_STATUS_OK) << rest.message;
    EXPECT_EQ(rest.artifact, straight.artifact) << until;
  }
  options.until = "partition";
  Result part = compile(program, &options);
  options.until = "input";
  Result back = compile(part.artifact, &options);
  EXPECT_NE(back.message.find("[stage-usage]"), std::string::npos)
      << back.message;
  options.until = nullptr;
  const char *other[] = {"foo"};
  options.custom_calls = other;
  options.custom_call_count = 1;
  Result changed = compile(part.artifact, &options);
  EXPECT_NE(changed.message.find("[stage-conflict]"), std::string::npos)
      << changed.message;
}

TEST(Compile, Errors) {
  Heard heard;
  alula_compile_options options = makeOptions(heard);
  Result result = compile("func.func @main(", &options);
  EXPECT_EQ(result.code, ALULA_STATUS_INVALID_ARGUMENT);
  ASSERT_EQ(heard.diagnostics.size(), 1u);
  heard.diagnostics.clear();
  std::string call = R"(func.func public @main(%x: tensor<f32>) -> tensor<f32> {
  %y = stablehlo.custom_call @foo(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
})";
  result = compile(call, &options);
  EXPECT_EQ(result.message,
            "\"program\":2:8: 'stablehlo.custom_call' op calls a function that "
            "nobody has announced: 'foo'");
  EXPECT_EQ(alula_compile("", 0, nullptr, nullptr, nullptr, nullptr),
            ALULA_STATUS_INVALID_ARGUMENT);
}

} // namespace
