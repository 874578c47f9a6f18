// Kernels given as LLVM text: what they call is found in the library, and
// their images stand alone.

#include "compiler/target/cpu/library.h"
#include "compiler/target/cpu/link_image.h"
#include "compiler/target/cpu/object_code.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace alula::cpu;

namespace {
/// out[i] = exp(in[i]), eight at a time as far as the compiler likes.
constexpr const char *loopOverExp = R"(
declare float @alula_exp_f32(float)
define void @kernel(ptr noalias %in, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %in, i64 %i
  %x = load float, ptr %from
  %y = call float @alula_exp_f32(float %x)
  %to = getelementptr float, ptr %out, i64 %i
  store float %y, ptr %to
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
})";

constexpr const char *callsMemory = R"(
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define void @kernel(ptr %out, i64 %n) {
  call void @llvm.memset.p0.i64(ptr %out, i8 7, i64 %n, i1 false)
  ret void
})";

constexpr const char *callsNothingKnown = R"(
declare float @alula_no_such_function(float)
define float @kernel(float %x) {
  %y = call float @alula_no_such_function(float %x)
  ret float %y
})";

const char *const everyMachine[] = {"x86-64",    "x86-64-v2", "x86-64-v3",
                                    "x86-64-v4", "aarch64",   "riscv64"};

llvm::Expected<std::string> compile(const char *text, const Machine &machine) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  if (!module)
    return llvm::createStringError(diagnostic.getMessage());
  return generateObject(*module, machine);
}

std::string toText(llvm::Error error) {
  return llvm::toString(std::move(error));
}
} // namespace

TEST(Library, InlinesWhatKernelsCall) {
  for (const char *name : everyMachine) {
    Machine machine = llvm::cantFail(findMachine(name));
    auto object = compile(loopOverExp, machine);
    ASSERT_TRUE(bool(object)) << toText(object.takeError());
    auto calls = callsOutside(*object);
    ASSERT_TRUE(bool(calls)) << toText(calls.takeError());
    EXPECT_FALSE(*calls) << name;
    auto image = linkImage({*object}, {"kernel"}, machine);
    EXPECT_TRUE(bool(image)) << toText(image.takeError());
  }
}

TEST(Library, GivesTheSameBytesTwice) {
  Machine machine = llvm::cantFail(findMachine("x86-64-v3"));
  EXPECT_EQ(llvm::cantFail(compile(loopOverExp, machine)),
            llvm::cantFail(compile(loopOverExp, machine)));
}

TEST(Builtins, AreLinkedWithoutWhatIsNotCalled) {
  for (const char *name : everyMachine) {
    Machine machine = llvm::cantFail(findMachine(name));
    auto object = compile(callsMemory, machine);
    ASSERT_TRUE(bool(object)) << toText(object.takeError());
    auto calls = callsOutside(*object);
    ASSERT_TRUE(bool(calls)) << toText(calls.takeError());
    EXPECT_TRUE(*calls) << name;
    auto builtins = getBuiltinsObject(machine);
    ASSERT_TRUE(bool(builtins)) << toText(builtins.takeError());
    auto image = linkImage({*object, *builtins}, {"kernel"}, machine);
    ASSERT_TRUE(bool(image)) << name << ": " << toText(image.takeError());
  }
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
