// Kernels given as LLVM text: what they call is found in the library.

#include "compiler/target/cpu/library.h"
#include "compiler/target/cpu/link_image.h"
#include "compiler/target/cpu/test_kernels.h"

#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/Support/Endian.h"

#include "gtest/gtest.h"

using namespace alula::cpu;

namespace {
constexpr const char *callsTransform = R"(
declare void @alula_fft_f32(ptr, ptr, ptr, i64, i64, i64, ptr, ptr)
define void @kernel(ptr %p, i64 %n) {
  call void @alula_fft_f32(ptr %p, ptr %p, ptr %p, i64 %n, i64 -1, i64 0, ptr %p, ptr %p)
  ret void
})";

constexpr const char *callsNothingKnown = R"(
declare float @alula_no_such_function(float)
define float @kernel(float %x) {
  %y = call float @alula_no_such_function(float %x)
  ret float %y
})";
} // namespace

TEST(Library, InlinesWhatKernelsCall) {
  for (const char *name : everyMachine) {
    Machine machine = llvm::cantFail(findMachine(name));
    auto object = compile(loopOverExp, machine);
    ASSERT_TRUE(bool(object)) << toText(object.takeError());
    auto undefined = findUndefined(*object);
    ASSERT_TRUE(bool(undefined)) << toText(undefined.takeError());
    EXPECT_TRUE(undefined->empty()) << name;
    auto image = linkImage({*object}, {"kernel"}, machine);
    EXPECT_TRUE(bool(image)) << toText(image.takeError());
  }
}

namespace {
/// Counts the loops that LLVM says it vectorized.
struct VectorizedLoops : llvm::DiagnosticHandler {
  unsigned &count;
  explicit VectorizedLoops(unsigned &count) : count(count) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    count += info.getKind() == llvm::DK_OptimizationRemark;
    return true;
  }
  bool isPassedOptRemarkEnabled(llvm::StringRef pass) const override {
    return pass == "loop-vectorize";
  }
  bool isAnyRemarkEnabled() const override { return true; }
};

bool vectorizes(const std::string &function, const std::string &from,
                const std::string &to, const Machine &machine) {
  std::string ir = loopOverExp;
  auto replace = [&](const std::string &old, const std::string &text) {
    for (size_t at = 0; (at = ir.find(old, at)) != std::string::npos;
         at += text.size())
      ir.replace(at, old.size(), text);
  };
  replace("float", "FROM");
  replace("declare FROM @alula_exp_f32", "declare TO @alula_exp_f32");
  replace("call FROM", "call TO");
  replace("store FROM", "store TO");
  replace("getelementptr FROM, ptr %out", "getelementptr TO, ptr %out");
  replace("alula_exp_f32", "alula_" + function);
  replace("FROM", from);
  replace("TO", to);
  unsigned count = 0;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<VectorizedLoops>(count));
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(ir, diagnostic, context);
  EXPECT_TRUE(bool(module)) << diagnostic.getMessage().str();
  auto object = generateObject(*module, machine);
  EXPECT_TRUE(bool(object)) << toText(object.takeError());
  return count != 0;
}
} // namespace

TEST(Library, LetsLoopsVectorize) {
  for (const char *name : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    Machine machine = llvm::cantFail(findMachine(name));
    for (const char *function :
         {"exp", "expm1", "log", "log1p", "logistic", "tanh", "sin", "cos",
          "tan", "sqrt", "rsqrt", "cbrt", "erf", "erfc"})
      EXPECT_TRUE(
          vectorizes(std::string(function) + "_f32", "float", "float", machine))
          << function << " on " << name;
    for (const char *function : {"exp", "expm1", "log", "log1p", "logistic",
                                 "tanh", "sqrt", "rsqrt", "cbrt"})
      EXPECT_TRUE(vectorizes(std::string(function) + "_f64", "double", "double",
                             machine))
          << function << " of f64 on " << name;
    for (const char *type :
         {"f16", "bf16", "f8e4m3fn", "f8e5m2", "f8e8m0fnu", "f4e2m1fn"}) {
      EXPECT_TRUE(
          vectorizes(std::string("encode_") + type, "float", "i32", machine))
          << type << " on " << name;
      EXPECT_TRUE(
          vectorizes(std::string("decode_") + type, "i32", "float", machine))
          << type << " on " << name;
    }
  }
}

TEST(Library, GivesTheSameBytesTwice) {
  Machine machine = llvm::cantFail(findMachine("x86-64-v3"));
  EXPECT_EQ(llvm::cantFail(compile(loopOverExp, machine)),
            llvm::cantFail(compile(loopOverExp, machine)));
}

TEST(Library, NamesAFunctionThatItLacks) {
  Machine machine = llvm::cantFail(findMachine("x86-64-v2"));
  auto object = compile(callsNothingKnown, machine);
  ASSERT_TRUE(bool(object)) << toText(object.takeError());
  auto image = linkImage({*object}, {"kernel"}, machine);
  ASSERT_FALSE(bool(image));
  EXPECT_NE(toText(image.takeError()).find("alula_no_such_function"),
            std::string::npos);
}

TEST(Routines, AreObjectsOfTheirOwn) {
  for (const char *name : everyMachine) {
    Machine machine = llvm::cantFail(findMachine(name));
    auto object = compile(callsTransform, machine);
    ASSERT_TRUE(bool(object)) << toText(object.takeError());
    EXPECT_EQ(llvm::cantFail(findUndefined(*object)),
              std::vector<std::string>{"alula_fft_f32"});
    auto routine = getRoutineObject(machine, "alula_fft_f32");
    ASSERT_TRUE(bool(routine)) << toText(routine.takeError());
    auto builtins =
        getBuiltinsObject(machine, llvm::cantFail(findUndefined(*routine)));
    ASSERT_TRUE(bool(builtins)) << toText(builtins.takeError());
    std::vector<std::string> objects = {*object, *routine};
    if (!builtins->empty())
      objects.push_back(*builtins);
    auto image = linkImage(objects, {"kernel"}, machine);
    ASSERT_TRUE(bool(image)) << name << ": " << toText(image.takeError());
  }
}

namespace {
/// Whether code has an instruction of AVX-512 with this prefix and this code in
/// the map 0F38.
bool hasInstruction(llvm::StringRef code, unsigned prefix, unsigned number) {
  auto at = [&](size_t i) { return static_cast<unsigned char>(code[i]); };
  for (size_t i = 0; i + 5 < code.size(); ++i)
    if (at(i) == 0x62 && (at(i + 1) & 7) == 2 &&
        (at(i + 2) & 0x87) == (4 | prefix) && at(i + 4) == number)
      return true;
  return false;
}
} // namespace

/// Whether code of aarch64 has an instruction whose bits under `mask` are
/// these.
static bool hasWord(llvm::StringRef code, uint32_t mask, uint32_t bits) {
  for (size_t i = 0; i + 4 <= code.size(); i += 4)
    if ((llvm::support::endian::read32le(code.data() + i) & mask) == bits)
      return true;
  return false;
}

TEST(Routines, MultiplyByLanesAndMatricesOnAarch64) {
  constexpr uint32_t byLane = 0xffc0f400, whole = 0xffe0fc00;
  struct {
    const char *routine;
    uint32_t lane, matrix;
  } cases[] = {{"alula_product_f32", 0x4f801000, 0},
               {"alula_product_bf16", 0x4f801000, 0x6e40ec00},
               {"alula_product_i8", 0x4f80e000, 0x4e80a400},
               {"alula_product_ui8", 0x6f80e000, 0x6e80a400}};
  for (const char *name : {"aarch64", "aarch64-dot", "aarch64-mmla"}) {
    Machine machine = llvm::cantFail(findMachine(name));
    bool dots = machine.facts.int8Dot,
         matrices = machine.facts.hasMatrixProducts;
    for (const auto &[routine, lane, matrix] : cases) {
      auto code = getRoutineObject(machine, routine);
      ASSERT_TRUE(bool(code)) << toText(code.takeError());
      bool isBytes = lane != 0x4f801000;
      if (!matrix || !matrices) {
        EXPECT_EQ(hasWord(*code, byLane, lane), !isBytes || dots)
            << name << " " << routine;
      }
      if (matrix) {
        EXPECT_EQ(hasWord(*code, whole, matrix), matrices)
            << name << " " << routine;
      }
    }
  }
}

TEST(Routines, HaveDotInstructionsWhereTheMachineDoes) {
  unsigned count = 0;
  for (const char *name :
       {"x86-64-v4-bf16", "x86-64-v4-vnni", "x86-64-v4", "x86-64-v3",
        "x86-64-v2", "x86-64", "aarch64", "riscv64"}) {
    Machine machine = llvm::cantFail(findMachine(name));
    auto has = [&](const char *feature) {
      return llvm::is_contained(machine.features, feature);
    };
    auto pairs = getRoutineObject(machine, "alula_product_bf16");
    ASSERT_TRUE(bool(pairs)) << toText(pairs.takeError());
    ASSERT_NE(*pairs, "");
    EXPECT_EQ(hasInstruction(*pairs, 2, 0x52), has("avx512bf16")) << name;
    for (const char *routine : {"alula_product_i8", "alula_product_ui8"}) {
      auto fours = getRoutineObject(machine, routine);
      ASSERT_TRUE(bool(fours)) << toText(fours.takeError());
      ASSERT_NE(*fours, "");
      EXPECT_EQ(hasInstruction(*fours, 1, 0x50), has("avx512vnni")) << name;
      count += has("avx512vnni");
    }
  }
  EXPECT_EQ(count, 4u);
}

TEST(Routines, AreNoScalarFunctions) {
  Machine machine = llvm::cantFail(findMachine("x86-64-v3"));
  EXPECT_EQ(llvm::cantFail(getRoutineObject(machine, "alula_exp_f32")), "");
  EXPECT_EQ(llvm::cantFail(getRoutineObject(machine, "alula_no_such")), "");
}
