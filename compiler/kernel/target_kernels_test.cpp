// A second target: loops that run one after the other, memory on the stack.

#include "compiler/kernel/target_kernels.h"

#include "compiler/kernel/emitters.h"
#include "compiler/kernel/lowering.h"
#include "compiler/kernel/passes.h"
#include "compiler/kernel/sequential_loop.h"
#include "dialect/chlo/ops.h"
#include "dialect/dispatch/ops.h"
#include "dialect/plan/plan.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
class OneByOne final : public Loops {
public:
  explicit OneByOne(Reader &reader) : reader(reader) {}

  void forEach(ValueRange sizes, Body body) override {
    fold(sizes, {}, [&](ValueRange indices, ValueRange) {
      body(indices);
      return SmallVector<Value>();
    });
  }
  void forEachBlock(Value count, int64_t,
                    llvm::function_ref<void(Value)> body) override {
    forEach(count, [&](ValueRange number) { body(number.front()); });
  }
  SmallVector<Value> fold(ValueRange sizes, ValueRange initial,
                          Fold body) override {
    SmallVector<Value> indices;
    std::function<SmallVector<Value>(ValueRange)> nest = [&](ValueRange state) {
      if (indices.size() == sizes.size())
        return body(indices, state);
      return foldRange(reader.index(0), sizes[indices.size()], state,
                       [&](ValueRange at, ValueRange inner) {
                         indices.push_back(at.front());
                         SmallVector<Value> next = nest(inner);
                         indices.pop_back();
                         return next;
                       });
    };
    return nest(initial);
  }
  SmallVector<Value> foldRange(Value lower, Value upper, ValueRange initial,
                               Fold body) override {
    return createSequentialLoop(reader, lower, upper, initial, body);
  }

private:
  Reader &reader;
};

class OnStack final : public Memory {
public:
  explicit OnStack(Lowering &lowering) : lowering(lowering) {}

  Value allocate(ValueRange sizes, Type type) override {
    SmallVector<int64_t> shape;
    for (Value size : sizes)
      shape.push_back(*getConstantIntValue(size));
    return lowering.b.create<memref::AllocaOp>(MemRefType::get(shape, type));
  }
  void fill(ArrayRef<Filling> fillings) override {
    for (auto [buffer, tensor] : fillings)
      lowering.forEach(
          lowering.getShape(tensor),
          [&, buffer = buffer, tensor = tensor](ValueRange indices) {
            lowering.store(lowering.getElement(tensor, indices),
                           getElementType(tensor), buffer, indices);
          });
  }

private:
  Lowering &lowering;
};

class AbacusKernels final : public TargetKernels {
  std::unique_ptr<Loops> createLoops(Reader &reader) const override {
    return std::make_unique<OneByOne>(reader);
  }
  std::unique_ptr<Memory> createMemory(Lowering &lowering) const override {
    return std::make_unique<OnStack>(lowering);
  }
  OpEmitters findEmitters(Operation *op) const override {
    if (isa<stablehlo::WhileOp>(op))
      return {emitWhile};
    if (isa<stablehlo::ConcatenateOp>(op))
      return {emitConcatenate};
    if (isa<stablehlo::ConstantOp>(op))
      return {emitConstant};
    return {};
  }
  void emitRowNest(const RowNest &, Lowering &) const override {}
};

class TargetKernelsTest : public testing::Test {
protected:
  TargetKernelsTest() {
    DialectRegistry registry;
    registry.insert<alula::dispatch::DispatchDialect, alula::plan::PlanDialect,
                    chlo::ChloDialect, func::FuncDialect,
                    stablehlo::StablehloDialect>();
    registry.addExtension(
        +[](MLIRContext *, alula::dispatch::DispatchDialect *dialect) {
          alula::dispatch::MachineFacts facts;
          for (auto &fact : alula::dispatch::getMachineFacts())
            facts.*fact.member = std::clamp<int64_t>(64, fact.least, fact.most);
          dialect->setDefaultMachine(facts);
        });
    registerTargetKernels(
        registry, "abacus", +[]() -> std::unique_ptr<TargetKernels> {
          return std::make_unique<AbacusKernels>();
        });
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The kernel of `body` on a machine of `kind`; empty after an error.
  std::string lower(llvm::StringRef kind, llvm::StringRef body) {
    std::string text =
        ("module attributes {dispatch.machine = #dispatch.machine<" + kind +
         ">} {\n dispatch.executable @e {\n"
         "  dispatch.entry @k bindings([#dispatch<access read>, "
         "#dispatch<access write>]) workgroups [1, 1, 1] scratch 0\n"
         "  builtin.module {\n" +
         body + "\n} } }")
            .str();
    auto module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return "";
    PassManager passes(&context);
    passes.nest<alula::dispatch::ExecutableOp>().addPass(
        createConvertStablehloToLoops());
    if (failed(passes.run(*module)))
      return "";
    return debugString(**module);
  }

  MLIRContext context;
};
} // namespace

TEST_F(TargetKernelsTest, LoopsAndMemoryAreTheTargets) {
  // The loop's next values are saved before any is written.
  std::string text = lower("abacus", R"(
    func.func @k(%x: tensor<4x8xf32>) -> tensor<8x8xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<4x8xf32>, tensor<i32>
        cond {
          %n = stablehlo.constant dense<3> : tensor<i32>
          %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %one = stablehlo.constant dense<1> : tensor<i32>
          %next = stablehlo.add %i, %one : tensor<i32>
          %turned = stablehlo.reverse %a, dims = [1] : tensor<4x8xf32>
          stablehlo.return %turned, %next : tensor<4x8xf32>, tensor<i32>
        }
      %y = stablehlo.exponential %r#0 : tensor<4x8xf32>
      %z = stablehlo.concatenate %y, %r#0, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
      return %z : tensor<8x8xf32>
    })");
  EXPECT_NE(text.find("scf.for"), std::string::npos);
  EXPECT_NE(text.find("memref.alloca()"), std::string::npos);
  EXPECT_EQ(text.find("scf.parallel"), std::string::npos);
  EXPECT_EQ(text.find("memref.alloc()"), std::string::npos);
  EXPECT_EQ(text.find("stablehlo"), std::string::npos);
}

TEST_F(TargetKernelsTest, WhatATargetCantDoIsSaid) {
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said += diagnostic.str();
    return success();
  });
  EXPECT_EQ(lower("abacus", R"(
    func.func @k(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %0 = stablehlo.cholesky %x, lower = true : tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    })"),
            "");
  EXPECT_EQ(said, "'stablehlo.cholesky': no native code: for this op");
}
