#include "compiler/preprocess/bytecode_check.h"

#include "compiler/preprocess/envelope.h"
#include "compiler/preprocess/test_program.h"

#include "gtest/gtest.h"

#include <random>

#include <sys/resource.h>

using namespace alula::preprocess;
using alula::dispatch::ExecutableOp;

namespace {
class BytecodeCheck : public testing::Test {
protected:
  BytecodeCheck()
      : registry(makeTestRegistry()),
        context(registry, mlir::MLIRContext::Threading::DISABLED) {
    program =
        mlir::parseSourceString<mlir::ModuleOp>(makeTestProgram(1), &context);
    ExecutableOp executable = *program->getOps<ExecutableOp>().begin();
    envelope = wrap(executable);
    given = {serialize(*envelope, false), serialize(*envelope, true)};
    contract = readContract(executable);
  }

  mlir::DialectRegistry registry;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> program, envelope;
  Given given;
  Contract contract;
};

TEST_F(BytecodeCheck, takesWhatMlirWrites) {
  EXPECT_EQ(checkBytecode(given.bytecode), std::nullopt);
  Reply reply =
      checkReply(given.bytecode, {given.text, ""}, contract, registry);
  EXPECT_FALSE(reply.problem);
  EXPECT_TRUE(reply.bytes.empty());
}

TEST_F(BytecodeCheck, takesJumpsBuffersAndResources) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      R"("x.op"() ({
  ^a(%a: memref<4x?xf32, strided<[1, ?]>>, %b: vector<4xi8>):
    "x.jump"(%a)[^b] : (memref<4x?xf32, strided<[1, ?]>>) -> ()
  ^b:
    "x.end"() {d = dense_resource<r> : tensor<2xi32>,
               t = memref<*xf32>, s = memref<2xf32, 3>} : () -> ()
  }) : () -> ()
  {-# dialect_resources: {builtin: {r: "0x040000000100000002000000"}} #-})",
      [&] {
        context.allowUnregisteredDialects();
        return &context;
      }());
  ASSERT_TRUE(module);
  EXPECT_EQ(checkBytecode(serialize(*module, true)), std::nullopt);
}

TEST_F(BytecodeCheck, countsReachNoFurtherThanTheBytes) {
  // Behind the producer's name: a section of strings, of 2^40 of them.
  std::string bytes("ML\xefR\x0dx\0", 7);
  bytes += std::string("\x00\x0d\x40\x00\x00\x00\x00\x01", 8);
  auto problem = checkBytecode(bytes);
  ASSERT_TRUE(problem);
  EXPECT_NE(problem->find("byte "), std::string::npos) << *problem;
}

TEST_F(BytecodeCheck, deepTextIsRefused) {
  std::string deep =
      "!x<" + std::string(300, '<') + std::string(300, '>') + ">";
  context.allowUnregisteredDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "module attributes {x.t = " + deep + "} {}", &context);
  ASSERT_TRUE(module);
  auto problem = checkBytecode(serialize(*module, true));
  ASSERT_TRUE(problem);
  EXPECT_NE(problem->find("is nested too deeply"), std::string::npos)
      << *problem;
}

/// What there is to allocate, so that a reader that trusts a count ends here.
class MemoryLimit {
public:
  explicit MemoryLimit(rlim_t bytes) {
    getrlimit(RLIMIT_DATA, &before);
    rlimit limit = before;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_DATA, &limit);
  }
  ~MemoryLimit() { setrlimit(RLIMIT_DATA, &before); }

private:
  rlimit before;
};

TEST_F(BytecodeCheck, damageIsAnErrorOrNoDamage) {
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  MemoryLimit limit(rlim_t(1) << 30);
#endif
  std::mt19937 random(11);
  auto pick = [&](size_t below) { return random() % below; };
  unsigned refused = 0, taken = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = given.bytecode;
    for (size_t n = 1 + pick(3); n--;) {
      size_t at = 4 + pick(damaged.size() - 4);
      switch (pick(4)) {
      case 0:
        damaged[at] = char(pick(256));
        break;
      case 1:
        damaged[at] ^= char(1 << pick(8));
        break;
      case 2:
        damaged.insert(at, std::string(pick(9), char(0xff)));
        break;
      default:
        damaged.erase(at, pick(9));
      }
      damaged.resize(std::max<size_t>(damaged.size(), 8));
    }
    Reply reply = checkReply(damaged, given, contract, registry);
    if (reply.problem) {
      EXPECT_EQ(reply.problem->tag.rfind("pre-", 0), 0u);
      ++refused;
    } else {
      ++taken;
    }
  }
  EXPECT_GT(refused, 150u);
  EXPECT_GT(taken, 0u);
}
} // namespace
