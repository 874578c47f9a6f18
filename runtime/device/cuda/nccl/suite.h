// What tests of collectives by NCCL share: fake GPUs, and programs over them.

#pragma once

#include "alula/runtime.hpp"
#include "artifact/writer.h"
#include "runtime/device/cuda/fake/control.h"
#include "runtime/device/cuda/fake/nccl_control.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace alula {

using namespace alula::artifact;
using Groups = std::vector<std::vector<uint32_t>>;

/// A variable of the environment, for a while.
class Setting {
public:
  Setting(const char *name, const char *value) : name(name) {
    setenv(name, value, 1);
  }
  ~Setting() { unsetenv(name); }

private:
  const char *name;
};

class Nccl : public testing::Test {
protected:
  static constexpr uint32_t deviceCount = 4;

  void SetUp() override {
    fakeCudaConfigure(80, deviceCount, 12040);
    fakeCudaReset();
    misuses = fakeNcclCount("misuses");
    for (uint32_t i = 0; i < deviceCount; ++i)
      instances.push_back(open("cuda:" + std::to_string(i)));
  }
  void TearDown() override {
    alula_collectives_destroy(collectives);
    results.clear();
    instances.clear();
    EXPECT_EQ(fakeNcclCount("misuses"), misuses);
    EXPECT_EQ(fakeNcclCount("communicators"), 0u);
    fakeCudaConfigure(80, 2, 12040);
  }

  static Instance open(const std::string &device) {
    alula_instance_options options = {};
    options.struct_bytes = sizeof options;
    options.device = device.c_str();
    Error error;
    Instance made = Instance::create(&options, error);
    EXPECT_FALSE(error) << error.message();
    return made;
  }

  static alula_collectives *
  create(uint32_t count,
         alula_device_collectives devices = ALULA_DEVICE_COLLECTIVES_ALWAYS,
         uint32_t timeout = 0) {
    alula_collectives_options options = {};
    options.struct_bytes = sizeof options;
    options.participant_count = count;
    options.timeout_ms = timeout;
    options.devices = devices;
    alula_collectives *made = nullptr;
    EXPECT_EQ(alula_collectives_create(&options, &made), nullptr);
    return made;
  }
  void make(uint32_t count,
            alula_device_collectives devices = ALULA_DEVICE_COLLECTIVES_ALWAYS,
            uint32_t timeout = 0) {
    alula_collectives_destroy(collectives);
    collectives = create(count, devices, timeout);
  }

  /// A load for each device.
  std::vector<Executable> load(const ArtifactWriter &file) {
    Diagnostic diagnostic;
    bytes.push_back(file.finish(diagnostic));
    EXPECT_FALSE(bytes.back().empty()) << diagnostic.text;
    std::vector<Executable> all;
    Error error;
    for (const Instance &instance : instances) {
      all.push_back(Executable::loadMemory(instance, bytes.back().data(),
                                           bytes.back().size(), error));
      EXPECT_FALSE(error) << error.message();
    }
    return all;
  }

  template <class T>
  Buffer put(uint32_t device, alula_dtype dtype, const std::vector<T> &data) {
    Error error;
    std::vector<int64_t> dims = {int64_t(
        data.size() * sizeof(T) / std::max(alula_dtype_get_bytes(dtype), 1u))};
    Buffer buffer = Buffer::create(instances[device], dtype, dims, error);
    EXPECT_FALSE(error) << error.message();
    buffer.write(data.data(), error);
    EXPECT_FALSE(error) << error.message();
    return buffer;
  }
  template <class T> static std::vector<T> get(const Buffer &buffer) {
    std::vector<T> data(buffer.bytes() / sizeof(T));
    Error error;
    buffer.read(data.data(), error);
    EXPECT_FALSE(error) << error.message();
    return data;
  }

  /// Participant p is device p; those without arguments are never called.
  std::vector<std::string>
  runAll(const std::vector<Executable> &models,
         const std::vector<std::vector<Buffer>> &arguments) {
    size_t count = arguments.size();
    std::vector<std::string> messages(count);
    codes.assign(count, ALULA_STATUS_OK);
    results.assign(count, {});
    std::vector<std::thread> threads;
    for (size_t i = 0; i < count; ++i)
      if (!arguments[i].empty())
        threads.emplace_back([&, i] {
          alula_call_options options = {};
          options.struct_bytes = sizeof options;
          options.collectives = collectives;
          options.participant = uint32_t(i);
          options.cancel = cancelled == i ? &cancel : nullptr;
          Error mine;
          results[i] = models[i].call(0, arguments[i], mine, &options);
          messages[i] = mine ? mine.message() : "";
          codes[i] = mine ? mine.code() : ALULA_STATUS_OK;
        });
    for (auto &thread : threads)
      thread.join();
    return messages;
  }

  static void addCollective(ArtifactWriter &file, const CollectiveSpec &spec,
                            size_t given, size_t gotten) {
    FunctionWriter &f = file.addFunction("main");
    f.addArgument("x", file.addType(spec.dtype, {int64_t(given)}));
    f.addResult("y", file.addType(spec.dtype, {int64_t(gotten)}));
    uint32_t number = file.addCollective(spec);
    f.collectiveDone(f.collectiveStart(number, f.argument(0), f.result(0)));
  }

  /// What all get of one collective; elements are bytes of `dtype`.
  template <class T>
  std::vector<std::vector<T>>
  exchange(alula_collective_kind kind, alula_dtype dtype, const Groups &groups,
           uint64_t count, const std::vector<std::vector<T>> &given,
           size_t gotten, alula_reduction reduction = ALULA_REDUCTION_NONE,
           alula_device_collectives devices = ALULA_DEVICE_COLLECTIVES_ALWAYS) {
    ArtifactWriter file;
    CollectiveSpec spec = {.kind = kind,
                           .reduction = reduction,
                           .dtype = dtype,
                           .groups =
                               file.addGroups(uint32_t(given.size()), groups),
                           .count = count};
    size_t each = alula_dtype_get_bytes(dtype) / sizeof(T);
    addCollective(file, spec, given[0].size() / each, gotten);
    std::vector<Executable> models = load(file);
    make(uint32_t(given.size()), devices);
    std::vector<std::vector<Buffer>> arguments(given.size());
    for (uint32_t i = 0; i < given.size(); ++i)
      arguments[i].push_back(put(i, dtype, given[i]));
    std::vector<std::string> messages = runAll(models, arguments);
    std::vector<std::vector<T>> all;
    for (size_t i = 0; i < given.size(); ++i) {
      EXPECT_EQ(messages[i], "");
      all.push_back(results[i].empty() ? std::vector<T>()
                                       : get<T>(results[i][0]));
    }
    return all;
  }

  /// A sum over `count` devices of `size` numbers, in a loop.
  std::vector<Executable> loadSum(uint32_t count, int64_t turns = 1,
                                  int64_t size = 1) {
    ArtifactWriter file;
    uint32_t type = file.addType(ALULA_DTYPE_I64, {size});
    Groups all(1);
    for (uint32_t i = 0; i < count; ++i)
      all[0].push_back(i);
    uint32_t sum = file.addCollective({.kind = ALULA_COLLECTIVE_ALL_REDUCE,
                                       .reduction = ALULA_REDUCTION_SUM,
                                       .dtype = ALULA_DTYPE_I64,
                                       .groups = file.addGroups(count, all),
                                       .count = uint64_t(size)});
    FunctionWriter &f = file.addFunction("main");
    f.addArgument("x", type);
    f.addResult("y", type);
    f.setArenaBytes(uint64_t(size) * 8);
    uint32_t x = f.argument(0), y = f.result(0),
             a = f.arena(0, uint64_t(size) * 8);
    Operand zero = f.immediate(0), bytes8 = f.immediate(size * 8);
    f.copy(a, zero, x, zero, bytes8);
    for (int64_t i = 0; i < turns; ++i) {
      f.collectiveDone(f.collectiveStart(sum, a, y));
      f.copy(a, zero, y, zero, bytes8);
    }
    return load(file);
  }

  std::vector<std::vector<Buffer>> makeNumbers(std::vector<int64_t> numbers) {
    std::vector<std::vector<Buffer>> arguments(numbers.size());
    for (uint32_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] >= 0)
        arguments[i].push_back(put<int64_t>(i, ALULA_DTYPE_I64, {numbers[i]}));
    return arguments;
  }
  /// New collectives work, whatever has happened.
  void expectSum(const std::vector<Executable> &models) {
    make(2);
    EXPECT_EQ(runAll(models, makeNumbers({3, 4})),
              (std::vector<std::string>{"", ""}));
    for (size_t i : {0u, 1u})
      EXPECT_EQ(get<int64_t>(results[i][0]), (std::vector<int64_t>{7}));
  }
  static bool has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
  }

  std::vector<Instance> instances;
  std::vector<std::string> bytes;
  alula_collectives *collectives = nullptr;
  std::vector<alula_status_code> codes;
  std::vector<std::vector<Buffer>> results;
  uint64_t misuses = 0;
  size_t cancelled = SIZE_MAX;
  int cancel = 0;
};

} // namespace alula
