// What becomes of kernels that are given as LLVM text.

#include "compiler/target/cpu/library.h"
#include "compiler/target/cpu/object_code.h"
#include "compiler/target/cpu/test_kernels.h"

#include "gtest/gtest.h"

using namespace alula::cpu;

namespace {
/// out[i] = bf16(f16 in[i])
constexpr const char *loopOverHalves = R"(
define void @kernel(ptr noalias %in, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr half, ptr %in, i64 %i
  %half = load half, ptr %from
  %x = fpext half %half to double
  %again = fptrunc double %x to half
  %y = fpext half %again to float
  %brain = fptrunc float %y to bfloat
  %z = fpext bfloat %brain to float
  %last = fptrunc float %z to bfloat
  %to = getelementptr bfloat, ptr %out, i64 %i
  store bfloat %last, ptr %to
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
})";

/// out[i][j] = bf16(in[i][j]), 8 times 128 of them.
constexpr const char *smallNest = R"(
define void @kernel(ptr noalias %in, ptr noalias %out) {
entry:
  br label %rows
rows:
  %i = phi i64 [ 0, %entry ], [ %i.next, %row.done ]
  br label %columns
columns:
  %j = phi i64 [ 0, %rows ], [ %j.next, %columns ]
  %row = mul nuw nsw i64 %i, 128
  %at = add nuw nsw i64 %row, %j
  %from = getelementptr float, ptr %in, i64 %at
  %x = load float, ptr %from
  %y = fptrunc float %x to bfloat
  %to = getelementptr bfloat, ptr %out, i64 %at
  store bfloat %y, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp ult i64 %j.next, 128
  br i1 %more, label %columns, label %row.done
row.done:
  %i.next = add nuw nsw i64 %i, 1
  %more.rows = icmp ult i64 %i.next, 8
  br i1 %more.rows, label %rows, label %done
done:
  ret void
})";

/// out = min(in, 4), as the optimizer leaves it.
constexpr const char *lesserHalves = R"(
define void @kernel(ptr noalias %in, ptr noalias %out) {
  %x = load <32 x half>, ptr %in
  %less = fcmp olt <32 x half> %x, splat (half 4.0)
  %y = select <32 x i1> %less, <32 x half> %x, <32 x half> splat (half 4.0)
  store <32 x half> %y, ptr %out
  ret void
})";

llvm::Expected<std::string> makeForm(const std::string &wanted,
                                     const std::string &ir,
                                     const Machine &machine) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(ir, diagnostic, context);
  std::string found;
  auto object = generateObject(*module, machine, {},
                               [&](llvm::StringRef form, llvm::StringRef text) {
                                 if (form == wanted)
                                   found = text.str();
                               });
  if (!object)
    return object.takeError();
  return found;
}
} // namespace

TEST(Loops, ScaleByOneInstructionWhereThereIsOne) {
  std::string ofDoubles = loopOverExp;
  for (size_t at; (at = ofDoubles.find("float")) != std::string::npos;)
    ofDoubles.replace(at, 5, "double");
  ofDoubles.replace(ofDoubles.find("exp_f32"), 7, "exp_f64");
  ofDoubles.replace(ofDoubles.find("exp_f32"), 7, "exp_f64");
  for (const char *name : everyMachine) {
    Machine machine = llvm::cantFail(findMachine(name));
    bool hasOne = llvm::is_contained(machine.features, "avx512vl");
    for (const std::string &ir : {std::string(loopOverExp), ofDoubles}) {
      auto assembly = makeForm(".s", ir, machine);
      ASSERT_TRUE(bool(assembly)) << toText(assembly.takeError());
      llvm::StringRef text = *assembly;
      const char *suffix = ir == ofDoubles ? "d" : "s";
      // In the vectors and in what is left over.
      EXPECT_EQ(text.contains(std::string("vscalefp") + suffix), hasOne)
          << name;
      EXPECT_EQ(text.contains(std::string("vscalefs") + suffix), hasOne)
          << name;
      EXPECT_FALSE(text.contains("alula_scale")) << name;
      // What becomes zero is masked: it would take 100 times as long.
      llvm::SmallVector<llvm::StringRef> lines;
      text.split(lines, '\n');
      for (llvm::StringRef line : lines)
        if (line.contains("vscalef"))
          EXPECT_TRUE(line.contains("{z}")) << line.str();
    }
  }
}

TEST(Loops, HaveTwoChainsOfInstructions) {
  Machine machine = llvm::cantFail(findMachine("x86-64-v3"));
  auto optimized = makeForm(".opt.ll", loopOverExp, machine);
  ASSERT_TRUE(bool(optimized)) << toText(optimized.takeError());
  EXPECT_EQ(llvm::StringRef(*optimized).count("load <8 x float>"), 2u);
}

TEST(Loops, OfANestAreNotAllUnrolled) {
  for (const char *name : everyMachine) {
    Machine machine = llvm::cantFail(findMachine(name));
    auto object = compile(smallNest, machine);
    ASSERT_TRUE(bool(object)) << toText(object.takeError());
    EXPECT_LT(object->size(), 3500u) << name;
  }
}

namespace {
/// table[i] = 8 * i, for a routine.
constexpr const char *fillsTable = R"(
declare void @alula_fft_f32(ptr, ptr, ptr, i64, i64, i64, ptr, ptr)
define void @kernel(ptr %p, ptr %table) {
  br label %loop
loop:
  %i = phi i64 [0, %0], [%next, %loop]
  %to = getelementptr i64, ptr %table, i64 %i
  %offset = mul i64 %i, 8
  store i64 %offset, ptr %to
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, STEPS
  br i1 %more, label %loop, label %done
done:
  call void @alula_fft_f32(ptr %p, ptr %p, ptr %table, i64 8, i64 -1, i64 0, ptr %p, ptr %p)
  ret void
})";
} // namespace

TEST(Loops, OfTablesForRoutinesAreNotOptimized) {
  Machine machine = llvm::cantFail(findMachine("x86-64-v3"));
  for (auto [steps, isOptimized] :
       {std::pair("9", false), std::pair("256", false), std::pair("257", true),
        std::pair("10000", true)}) {
    std::string ir = fillsTable;
    ir.replace(ir.find("STEPS"), 5, steps);
    auto optimized = makeForm(".opt.ll", ir, machine);
    ASSERT_TRUE(bool(optimized)) << toText(optimized.takeError());
    EXPECT_EQ(llvm::StringRef(*optimized).contains("<4 x i64>"), isOptimized)
        << steps;
  }
}

/// out[i] = in[i] + 1, beside something written to each of many buffers.
std::string writeManyBuffers(unsigned buffers, unsigned steps) {
  std::string ir = R"(
define void @kernel(ptr %table, ptr noalias %in, ptr noalias %out) {
entry:
)";
  for (unsigned i = 0; i < buffers; ++i) {
    std::string number = std::to_string(i);
    ir += "  %slot" + number + " = getelementptr ptr, ptr %table, i64 " +
          number + "\n  %buffer" + number + " = load ptr, ptr %slot" + number +
          "\n  store i64 " + number + ", ptr %buffer" + number + "\n";
  }
  return ir + R"(
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %in, i64 %i
  %x = load float, ptr %from
  %y = fadd float %x, 1.0
  %to = getelementptr float, ptr %out, i64 %i
  store float %y, ptr %to
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, )" +
         std::to_string(steps) + R"(
  br i1 %done, label %end, label %loop
end:
  ret void
})";
}

TEST(Loops, OfFewStepsOnVeryManyBuffersAreNotOptimized) {
  Machine machine = llvm::cantFail(findMachine("x86-64-v3"));
  struct Case {
    unsigned buffers, steps;
    bool isOptimized;
  };
  for (auto [buffers, steps, isOptimized] :
       {Case{129, 16, false}, {129, 17, true}, {128, 16, true}}) {
    auto optimized =
        makeForm(".opt.ll", writeManyBuffers(buffers, steps), machine);
    ASSERT_TRUE(bool(optimized)) << toText(optimized.takeError());
    EXPECT_EQ(!llvm::StringRef(*optimized).contains("phi"), isOptimized)
        << buffers << " buffers, " << steps << " steps";
  }
}

TEST(Loops, ThatLlvmDeclinesToTransformAreNoWarning) {
  // Each element is made of the one before, whoever wants vectors.
  const char *ir = R"(
define void @kernel(ptr %x) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 1, %entry ], [ %next, %loop ]
  %before = sub i64 %i, 1
  %p = getelementptr float, ptr %x, i64 %before
  %q = getelementptr float, ptr %x, i64 %i
  %v = load volatile float, ptr %p
  %w = fmul float %v, %v
  store volatile float %w, ptr %q
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, 1000
  br i1 %done, label %end, label %loop, !llvm.loop !0
end:
  ret void
}
!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.vectorize.enable", i1 true}
!2 = !{!"llvm.loop.vectorize.width", i32 8})";
  testing::internal::CaptureStderr();
  auto assembly = makeForm(".s", ir, llvm::cantFail(findMachine("x86-64-v3")));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(bool(assembly));
}

TEST(SmallFloats, AreConvertedWithoutCalls) {
  for (const char *name : everyMachine) {
    Machine machine = llvm::cantFail(findMachine(name));
    auto object = compile(loopOverHalves, machine);
    ASSERT_TRUE(bool(object)) << toText(object.takeError());
    auto undefined = findUndefined(*object);
    ASSERT_TRUE(bool(undefined)) << toText(undefined.takeError());
    EXPECT_TRUE(undefined->empty()) << name << ": " << undefined->front();
  }
}

TEST(SmallFloats, AreComparedInVectors) {
  Machine machine = llvm::cantFail(findMachine("x86-64-v4"));
  auto object = compile(lesserHalves, machine);
  ASSERT_TRUE(bool(object)) << toText(object.takeError());
  // Number by number it is more than twice as much.
  EXPECT_LT(object->size(), 1200u);
}

// The passes of the code generator, and what was read of the library, are those
// of the modules before.
TEST(Objects, AreTheSameWhateverCameBefore) {
  for (const char *name : everyMachine) {
    Machine machine = llvm::cantFail(findMachine(name));
    std::string first = llvm::cantFail(compile(loopOverExp, machine));
    std::string other = llvm::cantFail(compile(loopOverHalves, machine));
    EXPECT_NE(first, other) << name;
    EXPECT_EQ(first, llvm::cantFail(compile(loopOverExp, machine))) << name;
    EXPECT_EQ(other, llvm::cantFail(compile(loopOverHalves, machine))) << name;
  }
}
