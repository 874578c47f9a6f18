// Kernels as LLVM's text, for tests.

#pragma once

#include "compiler/target/cpu/object_code.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

namespace alula::cpu {

inline const char *const everyMachine[] = {"x86-64",    "x86-64-v2",
                                           "x86-64-v3", "x86-64-v4",
                                           "aarch64",   "riscv64"};

/// out[i] = exp(in[i]), eight at a time as far as the compiler likes.
inline constexpr const char *loopOverExp = R"(
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

inline llvm::Expected<std::string> compile(const char *text,
                                           const Machine &machine) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  if (!module)
    return llvm::createStringError(diagnostic.getMessage());
  return generateObject(*module, machine);
}

inline std::string toText(llvm::Error error) {
  return llvm::toString(std::move(error));
}

} // namespace alula::cpu
