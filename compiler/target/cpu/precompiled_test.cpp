// What the compiler has of the library as object code.

#include "compiler/target/cpu/library.h"
#include "compiler/target/cpu/object_code.h"
#include "compiler/target/cpu/precompiled.h"

#include "llvm/Object/ObjectFile.h"
#include "gtest/gtest.h"

using namespace alula::cpu;

namespace {
bool defines(llvm::StringRef object, llvm::StringRef name) {
  auto file = llvm::object::ObjectFile::createObjectFile({object, "routine"});
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  return llvm::any_of((*file)->symbols(), [&](const auto &symbol) {
    auto found = symbol.getName();
    auto flags = symbol.getFlags();
    return found && flags && *found == name &&
           !(*flags & llvm::object::SymbolRef::SF_Undefined);
  });
}

TEST(Precompiled, HasProductsForEachLevel) {
  for (const char *name :
       {"x86-64-v3", "x86-64-v4", "x86-64-v4-vnni", "x86-64-v4-bf16"})
    for (const char *routine : {"alula_product_f32", "alula_product_i8"}) {
      // A copy begins where the reader of objects wants it to.
      std::string object = findPrecompiled(name, routine).str();
      EXPECT_TRUE(defines(object, routine)) << name << " " << routine;
      auto machine = findMachine(name);
      ASSERT_TRUE(bool(machine));
      auto given = getRoutineObject(*machine, routine);
      ASSERT_TRUE(bool(given));
      EXPECT_EQ(*given, object);
    }
}

TEST(Precompiled, HasTransformsForEachLevel) {
  for (const char *routine : {"alula_fft_f32", "alula_fft_f64"}) {
    llvm::StringRef plain = findPrecompiled("x86-64-v4", routine);
    EXPECT_TRUE(defines(plain.str(), routine)) << routine;
    // Compiled once, whatever else the machine can do.
    for (const char *name : {"x86-64-v4-vnni", "x86-64-v4-bf16"})
      EXPECT_EQ(findPrecompiled(name, routine), plain) << name;
    EXPECT_NE(findPrecompiled("x86-64-v3", routine), plain);
    // Of other machines, nothing else.
    for (const char *name :
         {"x86-64-v2", "aarch64", "aarch64-dot", "aarch64-mmla", "riscv64"})
      EXPECT_TRUE(defines(findPrecompiled(name, routine).str(), routine))
          << name;
  }
  EXPECT_TRUE(findPrecompiled("x86-64-v2", "alula_product_f32").empty());
}

TEST(Precompiled, HasFactorizations) {
  for (const char *routine :
       {"alula_cholesky_f32", "alula_eigen_general_f64",
        "alula_eigen_symmetric_f32", "alula_hessenberg_f64",
        "alula_householder_product_f32", "alula_lu_f64", "alula_qr_f32",
        "alula_schur_f64", "alula_svd_f32", "alula_triangular_solve_f64",
        "alula_tridiagonal_f32", "alula_cholesky_c64", "alula_svd_c64",
        "alula_eigen_general_c128", "alula_triangular_solve_c128"}) {
    llvm::StringRef plain = findPrecompiled("x86-64-v4", routine);
    EXPECT_TRUE(defines(plain.str(), routine)) << routine;
    EXPECT_EQ(findPrecompiled("x86-64-v4-bf16", routine), plain) << routine;
  }
  EXPECT_TRUE(defines(
      findPrecompiled("x86-64-v3", "alula_lu_pivots_to_permutation_i32").str(),
      "alula_lu_pivots_to_permutation_i32"));
}

TEST(Precompiled, OthersAreCompiledWhenAskedFor) {
  EXPECT_TRUE(findPrecompiled("x86-64", "alula_product_f32").empty());
  EXPECT_TRUE(findPrecompiled("aarch64", "alula_svd_c64").empty());
  EXPECT_TRUE(findPrecompiled("x86-64-v3", "alula_nothing").empty());
  EXPECT_TRUE(findPrecompiled("", "").empty());
  auto machine = findMachine("x86-64");
  ASSERT_TRUE(bool(machine));
  auto object = getRoutineObject(*machine, "alula_product_f32");
  ASSERT_TRUE(bool(object));
  EXPECT_TRUE(defines(*object, "alula_product_f32"));
}
} // namespace
