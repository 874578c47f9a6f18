#include "compiler/preprocess/bytecode_check.h"

#include "compiler/preprocess/check_contract.h"
#include "compiler/preprocess/envelope.h"
#include "compiler/preprocess/test_program.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "gtest/gtest.h"

#include <random>

#include <sys/resource.h>

using namespace alula::preprocess;
using alula::dispatch::ExecutableOp;

namespace {
class BytecodeCheck : public testing::Test {
protected:
  BytecodeCheck()
      : registry(makeRegistry()),
        context(registry, mlir::MLIRContext::Threading::DISABLED) {
    take(makeTestProgram(1));
  }

  /// The only executable of a program is what a tool got.
  void take(const std::string &text) {
    program = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(program);
    ExecutableOp executable = *program->getOps<ExecutableOp>().begin();
    envelope = wrap(executable);
    given = {serialize(*envelope, false), serialize(*envelope, true)};
    contract = readContract(executable);
  }

  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry = makeTestRegistry();
    registry.insert<mlir::LLVM::LLVMDialect>();
    return registry;
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

/// With jumps, buffers, data, locations and attributes of many kinds.
constexpr const char *manyThings = R"(
func.func @main(%a: tensor<4xf32>) {
  dispatch.launch @e::@e(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
dispatch.executable @e {
  dispatch.entry @e bindings([#dispatch<access read>, #dispatch<access write>])
    workgroups [1, 1, 1] scratch 0
    {x.a = [1 : i8, 2.5 : f64, "text", @e, array<i64: 1, 2>], x.b = i129,
     x.c = dense<[1, 2, 3]> : tensor<3xi16>, x.d = dense_resource<r> : tensor<2xi32>,
     x.e = dense<"s"> : tensor<2x!llvm.ptr>, x.f = (memref<4x?xf32, 2>) -> vector<4xi8>,
     x.g = affine_map<(d0) -> (d0 floordiv 3)>, x.h = 123456789012345678901 : i128}
  builtin.module {
    llvm.func @e(%args: !llvm.ptr, %x: i32, %y: i32, %z: i32) -> i32 {
      %c = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
      %b = llvm.icmp "slt" %x, %y : i32
      llvm.cond_br %b, ^a(%x : i32), ^b
    ^a(%i: i32):
      %d = llvm.icmp "slt" %i, %y : i32
      llvm.cond_br %d, ^a(%i : i32), ^b
    ^b:
      llvm.return %x : i32
    }
  }
}
{-# dialect_resources: {builtin: {r: "0x040000000100000002000000"}} #-})";

/// Anything may be wrong with it, except for the magic number.
std::string damage(std::string bytes, std::mt19937 &random) {
  auto pick = [&](size_t below) { return random() % below; };
  for (size_t n = 1 + pick(3); n--;) {
    size_t at = 4 + pick(bytes.size() - 4);
    switch (pick(4)) {
    case 0:
      bytes[at] = char(pick(256));
      break;
    case 1:
      bytes[at] ^= char(1 << pick(8));
      break;
    case 2:
      bytes.insert(at, std::string(pick(9), char(0xff)));
      break;
    default:
      bytes.erase(at, pick(9));
    }
    bytes.resize(std::max<size_t>(bytes.size(), 8));
  }
  return bytes;
}

TEST_F(BytecodeCheck, damageIsAnErrorOrNoDamage) {
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  MemoryLimit limit(rlim_t(1) << 30);
#endif
  const char *asked = getenv("ALULA_STRESS_RUNS");
  int count = asked ? 100 * std::atoi(asked) : 3000;
  for (const std::string &text :
       {makeTestProgram(1), std::string(manyThings)}) {
    take(text);
    ASSERT_EQ(checkBytecode(given.bytecode), std::nullopt);
    std::mt19937 random(11);
    unsigned refused = 0, taken = 0;
    for (int i = 0; i < count; ++i) {
      Reply reply =
          checkReply(damage(given.bytecode, random), given, contract, registry);
      if (reply.problem)
        EXPECT_EQ(reply.problem->tag.rfind("pre-", 0), 0u);
      ++(reply.problem ? refused : taken);
    }
    EXPECT_GT(refused, 150u);
    EXPECT_GT(taken, 0u);
  }
}
} // namespace
