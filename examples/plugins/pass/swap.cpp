// A pass plugin: a dialect with the one op `swap.mul_add`, which is a * b + c,
// or, with --swap-mul-add, (a + b) * c. Products that are added to something
// become this op, and this op becomes products and sums.

#include "alula/plugin.hpp"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {
class MulAddOp
    : public Op<MulAddOp, OpTrait::NOperands<3>::Impl, OpTrait::OneResult,
                OpTrait::ZeroRegions, OpTrait::ZeroSuccessors,
                OpTrait::SameOperandsAndResultType> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MulAddOp)
  using Op::Op;
  static StringRef getOperationName() { return "swap.mul_add"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

class SwapDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SwapDialect)
  explicit SwapDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<SwapDialect>()) {
    addOperations<MulAddOp>();
  }
  static StringRef getDialectNamespace() { return "swap"; }
};

// Ops of Alula's dialects are made and known by their names.
Value makeOp(OpBuilder &b, Location loc, StringRef name, Type type, Value x,
             Value y) {
  OperationState state(loc, name, {x, y}, {type});
  return b.create(state)->getResult(0);
}

// stablehlo.add(stablehlo.multiply(a, b), c) → swap.mul_add(a, b, c)
struct FormMulAdd : PassWrapper<FormMulAdd, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FormMulAdd)
  StringRef getArgument() const override { return "form-mul-add"; }
  StringRef getDescription() const override { return "find swap.mul_add"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<SwapDialect>();
  }
  void runOnOperation() override {
    getOperation().walk([](Operation *add) {
      if (add->getName().getStringRef() != "stablehlo.add")
        return;
      Operation *product = add->getOperand(0).getDefiningOp();
      if (!product ||
          product->getName().getStringRef() != "stablehlo.multiply" ||
          !product->hasOneUse())
        return;
      OpBuilder b(add);
      OperationState state(
          add->getLoc(), MulAddOp::getOperationName(),
          {product->getOperand(0), product->getOperand(1), add->getOperand(1)},
          add->getResultTypes());
      add->replaceAllUsesWith(b.create(state));
      add->erase();
      product->erase();
    });
  }
};

// swap.mul_add(a, b, c) → a * b + c, or (a + b) * c
struct LowerMulAdd : PassWrapper<LowerMulAdd, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerMulAdd)
  LowerMulAdd() = default;
  explicit LowerMulAdd(bool swap) { swapped = swap; }
  LowerMulAdd(const LowerMulAdd &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "lower-mul-add"; }
  StringRef getDescription() const override { return "lower swap.mul_add"; }
  LogicalResult initialize(MLIRContext *context) override {
    return success(context->getOrLoadDialect("stablehlo") != nullptr);
  }
  void runOnOperation() override {
    StringRef first = swapped ? "stablehlo.add" : "stablehlo.multiply";
    StringRef second = swapped ? "stablehlo.multiply" : "stablehlo.add";
    getOperation().walk([&](MulAddOp op) {
      OpBuilder b(op);
      Location loc = op.getLoc();
      Type type = op->getResult(0).getType();
      Value inner =
          makeOp(b, loc, first, type, op->getOperand(0), op->getOperand(1));
      Value outer = makeOp(b, loc, second, type, inner, op->getOperand(2));
      op->getResult(0).replaceAllUsesWith(outer);
      op.erase();
    });
  }
  Option<bool> swapped{*this, "swapped", llvm::cl::desc("as (a + b) * c"),
                       llvm::cl::init(false)};
};

struct Swap : alula::Plugin {
  static constexpr const char *id = "swap", *version = "1.0";
  static constexpr const char *description = "a * b + c as one op";
  static constexpr const char *stages[] = {"preprocess"};
  static constexpr alula_option options[] = {alula::makeOption(
      ALULA_OPTION_BOOL, "mul-add", "false", "(a + b) * c instead")};

  explicit Swap(const char *const *values)
      : swapped(StringRef(values[0]) == "true") {}
  static void addDialects(DialectRegistry &registry) {
    registry.insert<SwapDialect>();
  }
  static void registerPasses() {
    PassRegistration<FormMulAdd>();
    PassRegistration<LowerMulAdd>();
  }
  void addPasses(StringRef, OpPassManager &passes) {
    passes.addPass(std::make_unique<FormMulAdd>());
    passes.addPass(std::make_unique<LowerMulAdd>(swapped));
  }
  bool swapped;
};
} // namespace

ALULA_PLUGIN(Swap)
