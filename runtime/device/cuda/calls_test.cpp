// Calls of libraries in images, on the driver that interprets PTX and the
// cuBLASLt for tests.

#include "alula/runtime.hpp"
#include "artifact/cuda_image_writer.h"
#include "artifact/writer.h"
#include "runtime/device/cuda/api.h"
#include "runtime/device/cuda/fake/control.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

extern "C" uint64_t fakeCublasLtCount(const char *what);

namespace alula {
namespace {
using namespace artifact;

/// Where no library computes it: to = 3 * from; and what a loop counts.
const char code[] = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry triple(.param .u64 from, .param .u64 to)
{
  .reg .b32 %r<2>;
  .reg .f32 %f<2>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [from];
  ld.param.u64 %d2, [to];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 4;
  add.s64 %d1, %d1, %d3;
  add.s64 %d2, %d2, %d3;
  ld.global.f32 %f1, [%d1];
  mul.f32 %f1, %f1, 0f40400000;
  st.global.f32 [%d2], %f1;
  ret;
}
.visible .entry count(.param .u64 x, .param .u64 limit, .param .u64 again)
{
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .f32 %f<3>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [limit];
  ld.param.u64 %d3, [again];
  ld.global.f32 %f1, [%d1];
  ld.global.f32 %f2, [%d2];
  setp.lt.f32 %p1, %f1, %f2;
  selp.u32 %r1, 1, 0, %p1;
  st.global.u8 [%d3], %r1;
  ret;
}
)";

/// to = from x matrix, of 8 rows and columns.
const char product[] = "cublaslt m=8 n=8 k=8 batch=1 a=f32,n,8,0 b=f32,n,8,0 "
                       "d=f32,8,64";

class Calls : public testing::Test {
protected:
  void SetUp() override {
    setenv("FAKE_CUBLASLT", "", 1);
    fakeCudaConfigure(80, 2, 12040);
    fakeCudaReset();
  }
  void TearDown() override {
    EXPECT_EQ(fakeCublasLtCount("objects"), 0u);
    EXPECT_EQ(fakeCudaCount("graphs"), 0u);
    fakeCudaReset();
  }

  static CudaLaunchSpec launch(const char *entry, uint32_t bindings,
                               uint32_t threads) {
    CudaLaunchSpec spec;
    spec.entry = entry;
    for (uint32_t i = 0; i < bindings; ++i)
      spec.arguments.push_back({ALULA_CUDA_ARGUMENT_BINDING, 8, i, 0});
    spec.block[0] = threads;
    return spec;
  }
  static CudaLaunchSpec call(const char *text, uint32_t launches) {
    return CudaLaunchSpec::makeCall(text, launches,
                                    {{ALULA_CUDA_ARGUMENT_BINDING, 8, 0, 0},
                                     {ALULA_CUDA_ARGUMENT_BINDING, 8, 2, 0},
                                     {ALULA_CUDA_ARGUMENT_BINDING, 8, 1, 0}});
  }

  /// A function of (x, matrix, limit): as long as x[0] < limit, x = x times the
  /// matrix, by a kernel of these launches with the bindings x, to, matrix; at
  /// least once, or, without a loop, `times`.
  static std::string write(std::vector<CudaLaunchSpec> launches,
                           uint32_t times = 0) {
    ArtifactWriter file;
    CudaImageWriter image;
    image.addModule(code, 80, false);
    image.addKernel(launches);
    image.addKernel({launch("count", 3, 1)});
    uint32_t step = file.addKernel({"step", {1, 2, 1}, 0, 0}),
             count = file.addKernel({"count", {1, 1, 2}, 0, 0});
    VariantSpec variant;
    variant.name = "gpu";
    variant.target = "cuda";
    variant.features = {"sm_80"};
    variant.kind = ALULA_IMAGE_CUDA;
    variant.image = image.finish(variant.entries);
    file.addVariant(std::move(variant));
    FunctionWriter &f = file.addFunction("main");
    uint32_t type = file.addType(ALULA_DTYPE_F32, {64});
    for (const char *name : {"x", "matrix", "limit"})
      f.addArgument(name, type);
    f.addResult("y", type);
    f.setArenaBytes(320);
    uint32_t y = f.result(0), to = f.arena(0, 256), condition = f.arena(256, 1);
    Operand one = f.immediate(1), zero = f.immediate(0), all = f.immediate(256);
    f.copy(y, zero, f.argument(0), zero, all);
    auto multiply = [&] {
      f.dispatch(step, one, one, one, {y, to, f.argument(1)});
      f.copy(y, zero, to, zero, all);
    };
    for (uint32_t i = 0; i < times; ++i)
      multiply();
    if (!times) {
      uint32_t test = f.newBlock(), body = f.newBlock();
      Operand again = f.newRegister();
      f.loop(test, again, body);
      f.setBlock(test);
      f.dispatch(count, one, one, one, {y, f.argument(2), condition});
      f.load(again, ALULA_DTYPE_I1, condition, zero);
      f.setBlock(body);
      multiply();
    }
    Diagnostic diagnostic;
    std::string bytes = file.finish(diagnostic);
    EXPECT_FALSE(bytes.empty()) << diagnostic.text;
    return bytes;
  }

  struct Session {
    Error error;
    Instance instance;
    Executable model;
    std::string computedBy;

    explicit Session(const std::string &bytes)
        : instance(open(error)),
          model(Executable::loadMemory(instance, bytes.data(), bytes.size(),
                                       error)) {}

    static Instance open(Error &error) {
      alula_instance_options options = {};
      options.struct_bytes = sizeof options;
      options.device = "cuda";
      return Instance::create(&options, error);
    }

    Buffer makeMatrix(float diagonal) {
      std::vector<float> data(64);
      for (size_t i = 0; i < 8; ++i)
        data[i * 9] = diagonal;
      Buffer made = Buffer::create(instance, ALULA_DTYPE_F32, {64}, error);
      made.write(data.data(), error);
      return made;
    }

    /// y[0] of the identity and twice the identity, or the error.
    std::string run(float limit, bool isTraced = false) {
      Buffer x = makeMatrix(1), matrix = makeMatrix(2),
             bound = makeMatrix(limit);
      alula_call_options options = {};
      options.struct_bytes = sizeof options;
      if (isTraced) {
        options.trace_user = this;
        options.trace = [](void *user, const alula_trace_event *event) {
          if (event->computed_by)
            static_cast<Session *>(user)->computedBy = event->computed_by;
        };
      }
      alula_buffer *given[] = {x.get(), matrix.get(), bound.get()},
                   *result = nullptr;
      if (!error)
        error.take(alula_call(model.get(), 0, &options, given, 3, &result, 1));
      if (error) {
        std::string message = error.message();
        error.clear();
        return message;
      }
      std::vector<float> data(64);
      Buffer(result).read(data.data(), error);
      EXPECT_EQ(data[1], 0);
      EXPECT_EQ(data[0], data[63]);
      return std::to_string(int(data[0]));
    }
  };
};

TEST_F(Calls, AreMadeInsteadOfTheNextLaunches) {
  Session session(write({call(product, 1), launch("triple", 2, 64)}, 3));
  uint64_t before = fakeCublasLtCount("products");
  EXPECT_EQ(session.run(0), "8");
  EXPECT_EQ(fakeCublasLtCount("products"), before + 3);
  EXPECT_EQ(session.run(0, /*isTraced=*/true), "8");
  EXPECT_EQ(session.computedBy, "cublaslt");
}

TEST_F(Calls, OurCodeRunsWhereNoLibraryDoes) {
  std::string wrongLeading = product;
  wrongLeading.replace(wrongLeading.find("n,8"), 3, "n,4");
  for (auto [text, why] :
       {std::pair(std::string("nobody m=8"),
                  "generated: there is no library for 'nobody m=8'"),
        std::pair(std::string("../x m=8"),
                  "generated: there is no library for '../x m=8'"),
        std::pair(std::string("cublaslt m=8"),
                  "generated: cublaslt: it does not know 'cublaslt m=8'"),
        std::pair(wrongLeading, "generated: cublaslt: there is no algorithm: "
                                "CUBLAS_STATUS_INVALID_VALUE")}) {
    Session session(write({call(text.c_str(), 1), launch("triple", 2, 64)}, 3));
    EXPECT_EQ(session.run(0), "27");
    EXPECT_EQ(session.run(0, /*isTraced=*/true), "27");
    EXPECT_EQ(session.computedBy, why);
  }
}

TEST_F(Calls, WhatMustBeTakenIsAnErrorElsewhere) {
  Session missing(write({call("nobody m=8", 0)}, 1));
  EXPECT_EQ(missing.run(0),
            "function 'main': kernel 'step': generated: there is no library "
            "for 'nobody m=8'");
  setenv("FAKE_CUBLASLT", "decline", 1);
  Session declined(write({call(product, 0)}, 1));
  EXPECT_EQ(declined.run(0),
            "function 'main': kernel 'step': generated: cublaslt: there is no "
            "algorithm: CUBLAS_STATUS_NOT_SUPPORTED");
  setenv("FAKE_CUBLASLT", "fail", 1);
  Session fails(write({call(product, 0)}, 1));
  EXPECT_EQ(fails.run(0), "function 'main': kernel 'step': cublasLtMatmul: "
                          "CUBLAS_STATUS_EXECUTION_FAILED");
}

TEST_F(Calls, WithoutArgumentsDoNothing) {
  CudaLaunchSpec none = CudaLaunchSpec::makeCall(product, 1, {});
  std::vector<CudaLaunchSpec> launches = {
      none, launch("triple", 2, 64), call(product, 1), launch("triple", 2, 64)};
  Session taken(write(launches, 1));
  uint64_t before = fakeCudaCount("launches");
  EXPECT_EQ(taken.run(0), "2");
  EXPECT_EQ(fakeCudaCount("launches"), before + 1);
  setenv("FAKE_CUBLASLT", "decline", 1);
  Session declined(write(launches, 1));
  EXPECT_EQ(declined.run(0), "3");
}

TEST_F(Calls, AreNodesOfGraphs) {
  Session session(write({call(product, 1), launch("triple", 2, 64)}, 3));
  uint64_t graphs = fakeCudaCount("graph launches"),
           captures = fakeCudaCount("captures");
  // The second time; later ones have other arguments, and capture again.
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(session.run(0), "8");
  EXPECT_EQ(fakeCudaCount("graph launches"), graphs + 3);
  EXPECT_GE(fakeCudaCount("captures"), captures + 3);
  for (const char *name : {"StreamBeginCapture", "GraphAddChildGraphNode",
                           "GraphExecChildGraphNodeSetParams"}) {
    Session other(write({call(product, 1), launch("triple", 2, 64)}, 3));
    EXPECT_EQ(other.run(0), "8");
    fakeCudaFailNext(name, runtime::cuda::invalidValue);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(other.run(0), "8") << name;
    fakeCudaReset();
  }
}

TEST_F(Calls, AreInLoopsThatTheDeviceDecides) {
  Session session(write({call(product, 1), launch("triple", 2, 64)}));
  for (auto [limit, result] :
       {std::pair(1.f, "1"), std::pair(2.f, "2"), std::pair(100.f, "128")}) {
    uint64_t graphs = fakeCudaCount("graph launches");
    EXPECT_EQ(session.run(limit), result);
    EXPECT_EQ(fakeCudaCount("graph launches"), graphs + 1);
  }
  // And in those that the host decides.
  fakeCudaConfigure(80, 2, 12020);
  uint64_t graphs = fakeCudaCount("graph launches");
  Session old(write({call(product, 1), launch("triple", 2, 64)}));
  EXPECT_EQ(old.run(100), "128");
  EXPECT_EQ(fakeCudaCount("graph launches"), graphs);
}

} // namespace
} // namespace alula
