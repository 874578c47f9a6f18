// A kernel library: products of two f32 matrices become calls of a function of
// ours, which --kernels-as=link takes from --kernels-file (an object, or
// bitcode, which is inlined), and --kernels-as=import from a plugin of the
// runtime, if it is there.

#include "alula/plugin.hpp"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {
enum class How { Bitcode, Object, Import };

class CallKernels : public PassWrapper<CallKernels, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CallKernels)
  CallKernels(How how, std::string file) : how(how), file(std::move(file)) {}
  StringRef getArgument() const override { return "call-kernels"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect>();
  }

  void runOnOperation() override {
    for (Operation &op : *getOperation().getBody())
      if (op.getName().getStringRef() == "dispatch.executable")
        runOnExecutable(&op);
  }

private:
  void runOnExecutable(Operation *executable) {
    SmallVector<Operation *> products;
    executable->walk([&](Operation *op) {
      if (isProduct(op))
        products.push_back(op);
    });
    // One name, one type: products of other sizes than the first stay.
    llvm::erase_if(products, [&](Operation *product) {
      return product->getOperandTypes() != products[0]->getOperandTypes();
    });
    for (Operation *product : products)
      replace(product);
    if (!products.empty() && how != How::Import)
      executable->setAttr(
          "objects",
          parseAttribute("[#dispatch.object<path = \"" + file + "\">]",
                         executable->getContext()));
  }

  static bool isProduct(Operation *op) {
    if (op->getName().getStringRef() != "stablehlo.dot_general")
      return false;
    auto a = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    auto b = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
    std::string dims;
    llvm::raw_string_ostream(dims)
        << op->getAttrDictionary().get("dot_dimension_numbers");
    return a && b && a.getRank() == 2 && b.getRank() == 2 &&
           a.hasStaticShape() && b.hasStaticShape() &&
           a.getElementType().isF32() && b.getElementType().isF32() &&
           StringRef(dims).contains("lhs_contracting_dimensions = [1]") &&
           StringRef(dims).contains("rhs_contracting_dimensions = [0]");
  }

  /// The declaration for these types, beside the functions of the kernel.
  func::FuncOp declare(Operation *product, FunctionType type) {
    auto module = product->getParentOfType<ModuleOp>();
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isDeclaration() && function.getFunctionType() == type)
        return function;
    auto b = OpBuilder::atBlockBegin(module.getBody());
    auto function = b.create<func::FuncOp>(
        product->getLoc(),
        how == How::Import ? "?kernels_matmul" : "kernels_matmul", type);
    function.setPrivate();
    function->setAttr("dispatch.import",
                      b.getStringAttr(how == How::Bitcode  ? "bitcode"
                                      : how == How::Object ? "static"
                                                           : "dynamic"));
    return function;
  }

  void replace(Operation *product) {
    Location loc = product->getLoc();
    OpBuilder b(product);
    auto a = cast<RankedTensorType>(product->getOperand(0).getType());
    auto r = cast<RankedTensorType>(product->getResult(0).getType());
    SmallVector<Value> operands(product->getOperands());
    for (int64_t size : {a.getDimSize(0), a.getDimSize(1), r.getDimSize(1)})
      operands.push_back(b.create<arith::ConstantIndexOp>(loc, size));
    auto type = b.getFunctionType(ValueRange(operands).getTypes(), {r});
    func::FuncOp function = declare(product, type);
    if (how != How::Import) {
      auto call = b.create<func::CallOp>(loc, function, operands);
      product->replaceAllUsesWith(call);
      product->erase();
      return;
    }
    OperationState has(loc, "dispatch.has_import");
    has.addAttribute("import", SymbolRefAttr::get(function));
    has.addTypes(RankedTensorType::get({}, b.getI1Type()));
    OperationState choice(loc, "stablehlo.if");
    choice.addOperands(b.create(has)->getResult(0));
    choice.addTypes(r);
    auto addBranch = [&](auto make) {
      Region *region = choice.addRegion();
      OpBuilder in(b.getContext());
      in.setInsertionPointToStart(&region->emplaceBlock());
      OperationState end(loc, "stablehlo.return");
      end.addOperands(make(in));
      in.create(end);
    };
    addBranch([&](OpBuilder &in) -> Value {
      return in.create<func::CallOp>(loc, function, operands).getResult(0);
    });
    addBranch([&](OpBuilder &in) -> Value {
      return in.clone(*product)->getResult(0);
    });
    product->replaceAllUsesWith(b.create(choice));
    product->erase();
  }

  How how;
  std::string file;
};

struct Kernels : alula::Plugin {
  static constexpr const char *id = "kernels", *version = "1.0";
  static constexpr const char *description = "products by a function of ours";
  static constexpr const char *stages[] = {"formation.end"};
  static constexpr const char *ways[] = {"bitcode", "object", "import"};
  static constexpr alula_option options[] = {
      {sizeof(alula_option), ALULA_OPTION_ENUM, "as", "how it gets its code",
       "import", nullptr, nullptr, ways, 3},
      alula::makeOption(ALULA_OPTION_STRING, "file", "",
                        "matmul.o or matmul.bc")};

  explicit Kernels(const char *const *values)
      : how(StringRef(values[0]) == "bitcode"  ? How::Bitcode
            : StringRef(values[0]) == "object" ? How::Object
                                               : How::Import),
        file(values[1]) {}
  void addPasses(StringRef, OpPassManager &passes) {
    passes.addPass(std::make_unique<CallKernels>(how, file));
  }
  How how;
  std::string file;
};
} // namespace

ALULA_PLUGIN(Kernels)
