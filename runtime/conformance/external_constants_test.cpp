// Constants that lie outside of the artifact.

#include "runtime/conformance/suite.h"

#include <sys/stat.h>
#include <unistd.h>

namespace alula::runtime {
namespace {

class External : public Conformance {
protected:
  void SetUp() override {
    Conformance::SetUp();
    char name[] = "/tmp/alula-external-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
  }
  void TearDown() override {
    for (const std::string &file : files)
      unlink(file.c_str());
    rmdir(folder.c_str());
  }

  std::string write(const std::string &name, const std::string &bytes) {
    std::string path = folder + "/" + name;
    FILE *out = fopen(path.c_str(), "wb");
    EXPECT_EQ(fwrite(bytes.data(), 1, bytes.size(), out), bytes.size());
    fclose(out);
    files.push_back(path);
    return path;
  }

  /// A file with this header and data.
  static std::string makeTensors(const std::string &header,
                                 const std::string &data) {
    uint64_t size = header.size();
    return std::string(reinterpret_cast<char *>(&size), 8) + header + data;
  }

  /// Returns two constants, the first of them also as a global.
  static void build(ArtifactWriter &file) {
    float floats[] = {1.5, 2.5, 3.5, 4.5};
    int64_t ints[] = {7, 8};
    uint32_t f32 = file.addType(ALULA_DTYPE_F32, {2, 2});
    uint32_t i64 = file.addType(ALULA_DTYPE_I64, {2});
    uint32_t a = file.addConstant(floats, sizeof floats, f32);
    uint32_t b = file.addConstant(ints, sizeof ints, i64);
    uint32_t global = file.addGlobal("g", f32, /*isMutable=*/true, a);
    FunctionWriter &main = file.addFunction("main");
    main.addResult("a", f32);
    main.addResult("b", i64);
    Operand zero = main.immediate(0), sixteen = main.immediate(16);
    main.copy(main.result(0), zero, main.global(global), zero, sixteen);
    main.copy(main.result(1), zero, main.constant(b), zero, sixteen);
  }

  void expectValues(const Executable &model) {
    std::vector<Buffer> results = run(model, {});
    ASSERT_FALSE(error) << error.message();
    EXPECT_EQ(get<float>(results[0]), (std::vector<float>{1.5, 2.5, 3.5, 4.5}));
    EXPECT_EQ(get<int64_t>(results[1]), (std::vector<int64_t>{7, 8}));
  }

  /// Loads bytes; the error, or "".
  std::string loadError(const std::string &bytes,
                        const alula_load_options *options = nullptr) {
    error.clear();
    Executable::loadMemory(instance, bytes.data(), bytes.size(), error,
                           options);
    return error.message();
  }

  std::string folder;
  std::vector<std::string> files;
};
INSTANTIATE_TEST_SUITE_P(Device, External, getDevices(),
                         [](const auto &info) { return info.param; });

TEST_P(External, WrittenAndFound) {
  ArtifactWriter file;
  build(file);
  write("w.safetensors", file.externalizeConstants("w.safetensors", 1));
  Diagnostic diagnostic;
  std::string bytes = file.finish(diagnostic);
  ASSERT_FALSE(bytes.empty()) << diagnostic.text;
  std::string path = write("m.alula", bytes);
  // Beside the artifact.
  Executable model = Executable::loadFile(instance, path.c_str(), error);
  ASSERT_FALSE(error) << error.message();
  expectValues(model);
  // Where the caller says.
  alula_load_options options = {};
  options.struct_bytes = sizeof options;
  options.external_directory = folder.c_str();
  model = Executable::loadMemory(instance, bytes.data(), bytes.size(), error,
                                 &options);
  ASSERT_FALSE(error) << error.message();
  expectValues(model);
  EXPECT_EQ(loadError(bytes),
            "constant 'constant.0' lies in file 'w.safetensors', and "
            "external_directory does not say where that is");
  options.external_directory = "/no/such";
  EXPECT_EQ(loadError(bytes, &options),
            "/no/such/w.safetensors: No such file or directory");
}

TEST_P(External, FromMemory) {
  ArtifactWriter file;
  build(file);
  file.externalizeConstants("w", 1);
  Diagnostic diagnostic;
  std::string bytes = file.finish(diagnostic);
  // One byte off: the constant must be copied to an aligned place.
  alignas(16) static char memory[33];
  float floats[] = {1.5, 2.5, 3.5, 4.5};
  int64_t ints[] = {7, 8};
  memcpy(memory + 1, floats, 16);
  memcpy(memory + 17, ints, 16);
  alula_load_options options = {};
  options.struct_bytes = sizeof options;
  options.find_external = [](void *user,
                             const alula_external_constant *constant,
                             const void **data) -> alula_error * {
    if (constant->bytes != 16 || std::string(constant->file) != "w" || user)
      return alula_error_create(ALULA_STATUS_INTERNAL, "wrong constant");
    if (constant->dtype == ALULA_DTYPE_F32)
      *data =
          constant->rank == 2 && constant->dims[1] == 2 ? memory + 1 : nullptr;
    else
      *data = memory + 17;
    return nullptr;
  };
  Executable model = Executable::loadMemory(instance, bytes.data(),
                                            bytes.size(), error, &options);
  ASSERT_FALSE(error) << error.message();
  expectValues(model);
  options.find_external_user = memory;
  EXPECT_EQ(loadError(bytes, &options), "wrong constant");
}

TEST_P(External, WrongFiles) {
  alula_load_options options = {};
  options.struct_bytes = sizeof options;
  options.external_directory = folder.c_str();
  auto tryFile = [&](const std::string &header, const std::string &data,
                     const char *name = "w",
                     alula_dtype dtype = ALULA_DTYPE_F32) {
    write("w", makeTensors(header, data));
    ArtifactWriter file;
    file.addExternalConstant(name, "t", file.addType(dtype, {2}));
    Diagnostic diagnostic;
    return loadError(file.finish(diagnostic), &options);
  };
  std::string eight(8, 0);
  EXPECT_EQ(tryFile(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                    eight),
            "");
  EXPECT_EQ(tryFile(R"({"u":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                    eight),
            "w: there is no tensor 't'");
  EXPECT_EQ(
      tryFile(R"({"t":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})",
              eight),
      "w: tensor 't' is 2x1 of F32, 8 bytes, the artifact wants 2xf32");
  EXPECT_EQ(tryFile(R"({"t":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}})",
                    eight),
            "w: tensor 't' is 2 of I32, 8 bytes, the artifact wants 2xf32");
  EXPECT_EQ(tryFile(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
                    eight),
            "w: tensor 't' is 2 of F32, 4 bytes, the artifact wants 2xf32");
  EXPECT_EQ(tryFile(R"({"t":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
                    eight),
            "w: tensor 't' is one of F32, 4 bytes, the artifact wants 2xf32");
  EXPECT_EQ(tryFile(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                    eight, "w", ALULA_DTYPE_I4),
            "");
  EXPECT_EQ(tryFile("{", ""), folder +
                                  "/w: not a good safetensors file: it is no "
                                  "JSON object of tensors");
  for (const char *name : {"../w", "/etc/passwd", "a/../../w", ".."})
    EXPECT_EQ(tryFile("{}", "", name),
              "file '" + std::string(name) +
                  "' of constant 't' is not below the artifact's folder");
  EXPECT_EQ(tryFile("{}", "", "a/..w"),
            folder + "/a/..w: No such file or directory");
}

} // namespace
} // namespace alula::runtime
