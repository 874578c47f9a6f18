#include "reference/interpreter.h"

#include "dialect/newer/source.h"
#include "dialect/stablehlo/ops.h"
#include "reference/check/dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace mlir;
using namespace alula::reference;

namespace {

class InterpreterTest : public testing::Test {
protected:
  InterpreterTest()
      : context(makeRegistry(), MLIRContext::Threading::DISABLED),
        handler(&context, [this](Diagnostic &diagnostic) {
          errors += diagnostic.str() + "\n";
          return success();
        }) {
    context.printOpOnDiagnostic(false);
    context.loadAllAvailableDialects();
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registry.insert<func::FuncDialect, stablehlo::StablehloDialect,
                    check::CheckDialect, interpreter::InterpreterDialect>();
    return registry;
  }

  func::FuncOp parse(llvm::StringRef text) {
    module = alula::newer::parseSource(text, &context);
    EXPECT_TRUE(module) << errors;
    return module ? module->lookupSymbol<func::FuncOp>("main")
                  : func::FuncOp();
  }

  template <typename T>
  alula::reference::Value makeValue(Type type, llvm::ArrayRef<int64_t> dims,
                                    std::vector<T> elements) {
    std::optional<Tensor> tensor = makeTensor(
        type, dims,
        {reinterpret_cast<const uint8_t *>(elements.data()),
         elements.size() * sizeof(T)});
    EXPECT_TRUE(tensor);
    return tensor ? alula::reference::Value(*tensor)
                  : alula::reference::Value();
  }

  /// Evaluates main without inputs; the printed first result, or the errors.
  std::string eval(llvm::StringRef text, const EvalOptions &options = {}) {
    func::FuncOp function = parse(text);
    if (!function)
      return errors;
    auto results = evalFunction(function, {}, options);
    if (failed(results))
      return errors;
    return results->empty() ? "" : printTensor(results->front().getTensor());
  }

  MLIRContext context;
  std::string errors;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
};

TEST_F(InterpreterTest, RunsOnInputs) {
  func::FuncOp function = parse(R"(
    func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
      %0 = stablehlo.multiply %a, %a : tensor<?xf32>
      return %0 : tensor<?xf32>
    })");
  auto input = makeValue<float>(Float32Type::get(&context), {3}, {1, 2, 3});
  auto results = evalFunction(function, {input});
  ASSERT_TRUE(succeeded(results)) << errors;
  EXPECT_EQ(printTensor(results->front().getTensor()),
            "dense<[1.000000e+00, 4.000000e+00, 9.000000e+00]> : "
            "tensor<3xf32>");
}

TEST_F(InterpreterTest, RefusesOtherInputs) {
  func::FuncOp function = parse(R"(
    func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      return %a : tensor<2xf32>
    })");
  auto input = makeValue<float>(Float32Type::get(&context), {3}, {1, 2, 3});
  EXPECT_TRUE(failed(evalFunction(function, {input})));
  EXPECT_EQ(errors, "'func.func' op input 0 must be 'tensor<2xf32>', it is "
                    "'tensor<3xf32>'\n");
  errors.clear();
  EXPECT_TRUE(failed(evalFunction(function, {})));
  EXPECT_EQ(errors, "'func.func' op takes 1 inputs, got 0\n");
}

TEST_F(InterpreterTest, RefusesAbsurdSizes) {
  EXPECT_EQ(eval(R"(
    func.func @main() -> tensor<4503599627370496xi8> {
      %0 = stablehlo.iota dim = 0 : tensor<4503599627370496xi8>
      return %0 : tensor<4503599627370496xi8>
    })"),
            "'stablehlo.iota' op a tensor of 4503599627370496xi8 needs "
            "4503599627370496 bytes beside 0 in use, the limit is "
            "17179869184\n");
  errors.clear();
  EXPECT_EQ(eval(R"(
    func.func @main() -> tensor<?x?xf64> {
      %0 = stablehlo.constant dense<4294967296> : tensor<2xi64>
      %1 = stablehlo.dynamic_iota %0, dim = 0
        : (tensor<2xi64>) -> tensor<?x?xf64>
      return %1 : tensor<?x?xf64>
    })"),
            "'stablehlo.dynamic_iota' op a tensor of "
            "4294967296x4294967296xf64 needs more bytes than 64 bits can "
            "count\n");
}

constexpr llvm::StringLiteral endless = R"(
    func.func @main() -> tensor<i1> {
      %0 = stablehlo.constant dense<true> : tensor<i1>
      %1 = stablehlo.while(%a = %0) : tensor<i1>
       cond { stablehlo.return %a : tensor<i1> }
       do { stablehlo.return %a : tensor<i1> }
      return %1 : tensor<i1>
    })";

TEST_F(InterpreterTest, StopsAtTheStepLimit) {
  EvalOptions options;
  options.maxSteps = 2;
  EXPECT_EQ(eval(R"(
    func.func @main() -> tensor<8xi8> {
      %0 = stablehlo.iota dim = 0 : tensor<8xi8>
      return %0 : tensor<8xi8>
    })",
                 options),
            "'stablehlo.iota' op the program needs more than 2 steps, the "
            "limit\n");
}

TEST_F(InterpreterTest, StopsWhenCancelled) {
  std::atomic<bool> cancel{true};
  EvalOptions options;
  options.cancel = &cancel;
  EXPECT_EQ(eval(endless, options), "'stablehlo.constant' op cancelled\n");
}

TEST_F(InterpreterTest, StopsEndlessLoopsWithoutWork) {
  // Not even an op runs in its regions: the loop itself counts.
  EvalOptions options;
  options.maxSteps = 1000;
  EXPECT_EQ(eval(endless, options), "'stablehlo.while' op the program needs "
                                    "more than 1000 steps, the limit\n");
}

TEST_F(InterpreterTest, StopsRecursion) {
  EvalOptions options;
  options.maxDepth = 50;
  EXPECT_EQ(eval(R"(
    func.func @main() -> tensor<i1> {
      %0 = call @main() : () -> tensor<i1>
      return %0 : tensor<i1>
    })",
                 options),
            "'func.call' op calls and regions are nested deeper than 50\n");
}

TEST_F(InterpreterTest, NamesUnknownOps) {
  EXPECT_EQ(eval(R"(
    func.func @main() -> tensor<i1> {
      %0 = stablehlo.custom_call @unheard_of() : () -> tensor<i1>
      return %0 : tensor<i1>
    })"),
            "'stablehlo.custom_call' op the reference does not know the "
            "target @unheard_of\n");
}

TEST_F(InterpreterTest, DetectsDeadlock) {
  EXPECT_EQ(eval(R"(
    func.func @gather(%a: tensor<1xi32>) -> tensor<2xi32> {
      %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64,
        replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
        : (tensor<1xi32>) -> tensor<2xi32>
      return %0 : tensor<2xi32>
    }
    func.func @nothing() { return }
    func.func @main() -> tensor<2xi32> {
      %a = stablehlo.constant dense<1> : tensor<1xi32>
      %0 = "interpreter.run_parallel"(%a) {programs = [[@gather], [@nothing]]}
        : (tensor<1xi32>) -> tensor<2xi32>
      return %0 : tensor<2xi32>
    })"),
            "'stablehlo.all_gather' op deadlock: replica 0, partition 0 "
            "waits here and no process can go on\n");
}

TEST_F(InterpreterTest, SumsWideOnRequest) {
  constexpr llvm::StringLiteral text = R"(
    func.func @main() -> tensor<f32> {
      %0 = stablehlo.constant dense<[1.0e8, 1.0, -1.0e8]> : tensor<3xf32>
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add
        across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
      return %1 : tensor<f32>
    })";
  EXPECT_EQ(eval(text), "dense<0.000000e+00> : tensor<f32>");
  EvalOptions options;
  options.wideSums = true;
  EXPECT_EQ(eval(text, options), "dense<1.000000e+00> : tensor<f32>");
}

TEST_F(InterpreterTest, FoldsPureOps) {
  func::FuncOp function = parse(R"(
    func.func @main(%a: tensor<2xi4>) -> tensor<2xi4> {
      %0 = stablehlo.add %a, %a : tensor<2xi4>
      %1 = stablehlo.replica_id : tensor<ui32>
      return %0 : tensor<2xi4>
    })");
  Operation &add = function.getBody().front().front();
  auto type = cast<ShapedType>(add.getResult(0).getType());
  llvm::APInt elements[] = {llvm::APInt(4, 3), llvm::APInt(4, 5)};
  ElementsAttr operand = DenseElementsAttr::get(
      type, llvm::ArrayRef<llvm::APInt>(elements));
  auto folded = foldOp(&add, {operand, operand});
  ASSERT_TRUE(folded);
  llvm::APInt sums[] = {llvm::APInt(4, 6), llvm::APInt(4, 10)};
  EXPECT_EQ(folded->front(), DenseElementsAttr::get(
                                 type, llvm::ArrayRef<llvm::APInt>(sums)));
  // Where the process is, is not for a folder to say.
  EXPECT_FALSE(foldOp(add.getNextNode(), {}));
  EXPECT_EQ(errors, "");
}

} // namespace
