// Programs come and go: what they took comes back. ALULA_CYCLES=10000 is the
// whole of it.

#include "pjrt/test_client.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <malloc.h>

using namespace alula::pjrt_test;

namespace {
int getCycles() {
  const char *text = getenv("ALULA_CYCLES");
  return text ? atoi(text) : 200;
}

/// A program that nobody has compiled before, of one of several kinds.
std::string makeNewProgram(int number) {
  std::string constant = std::to_string(number) + ".0";
  std::string head = "func.func public @main(%a: tensor<64xf32>, "
                     "%b: tensor<64xf32>) -> tensor<64xf32> {\n"
                     "  %c = stablehlo.constant dense<" +
                     constant + "> : tensor<64xf32>\n";
  std::string tail = "  return %r : tensor<64xf32>\n}\n";
  const char *const kinds[] = {
      // A kernel.
      "  %d = stablehlo.multiply %a, %c : tensor<64xf32>\n"
      "  %r = stablehlo.add %d, %b : tensor<64xf32>\n",
      // The kernel library's functions.
      "  %d = stablehlo.add %a, %c : tensor<64xf32>\n"
      "  %e = stablehlo.tanh %d : tensor<64xf32>\n"
      "  %r = stablehlo.power %e, %b : tensor<64xf32>\n",
      // The library's product.
      "  %m = stablehlo.reshape %a : (tensor<64xf32>) -> tensor<8x8xf32>\n"
      "  %n = stablehlo.reshape %c : (tensor<64xf32>) -> tensor<8x8xf32>\n"
      "  %d = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0] : "
      "(tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
      "  %r = stablehlo.reshape %d : (tensor<8x8xf32>) -> tensor<64xf32>\n",
      // A loop.
      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %i, %r = stablehlo.while(%j = %zero, %x = %a) : tensor<i32>, "
      "tensor<64xf32>\n"
      "  cond {\n"
      "    %four = stablehlo.constant dense<4> : tensor<i32>\n"
      "    %p = stablehlo.compare LT, %j, %four : (tensor<i32>, tensor<i32>) "
      "-> tensor<i1>\n"
      "    stablehlo.return %p : tensor<i1>\n"
      "  } do {\n"
      "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "    %k = stablehlo.add %j, %one : tensor<i32>\n"
      "    %y = stablehlo.add %x, %c : tensor<64xf32>\n"
      "    stablehlo.return %k, %y : tensor<i32>, tensor<64xf32>\n"
      "  }\n",
  };
  return head + kinds[number % 4] + tail;
}

void compileRunAndDrop(Client &client, int number) {
  void *executable = client.compile(makeNewProgram(number));
  void *a = client.upload(std::vector<float>(64, 1));
  auto results = execute(executable, {a, a});
  ASSERT_EQ(results.size(), 1u);
  for (void *buffer : {a, results[0]})
    destroyBuffer(buffer);
  destroyExecutable(executable);
  // What is wrong leaves nothing behind either.
  if (number % 8 == 0)
    EXPECT_NE(client.tryCompile(makeNewProgram(number) + "}", executable), "");
}
} // namespace

TEST(Cycles, MemoryIsFlat) {
  Client client;
  int cycles = getCycles(), warm = cycles / 5;
  struct mallinfo2 before = {};
  long residentBefore = 0;
  for (int number = 1; number <= warm + cycles && !HasFailure(); ++number) {
    compileRunAndDrop(client, number);
    if (number == warm) {
      residentBefore = getResident();
      before = mallinfo2();
    }
    if (number % 1000 == 0)
      printf("%d programs: %ld KiB\n", number, getResident() / 1024);
  }
  long resident = getResident() - residentBefore;
  struct mallinfo2 after = mallinfo2();
  auto held = static_cast<long>(after.uordblks + after.hblkhd) -
              static_cast<long>(before.uordblks + before.hblkhd);
  printf("%d cycles: %ld bytes more on the heap, %ld KiB more in memory\n",
         cycles, held, resident / 1024);
  // The cache keeps the texts of some programs until it is swept.
  EXPECT_LT(held, 256 << 10);
  EXPECT_LT(resident, 4 << 20);
}
