// A target of its own: `--target=toy`. A kernel becomes a text of a line for
// each op, which toy_runtime.c runs.
//
//   constant V N            V has N elements, one number each line after it
//   dot V A B M K N         matrices
//   add|subtract|multiply|divide|maximum|minimum V A B N
//   negate|tanh V A N
//   broadcast V A N RANK D0 … S0 …   sizes of the result, strides in A
//   result V I N            the I-th result
//
// Values 0, 1, … are the inputs; the first line is "toy INPUTS VALUES".

#include "alula/plugin.hpp"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir;

namespace {
using Codes = std::map<std::string, std::string>;

/// Writes the text of an executable's kernel.
class Translator {
public:
  explicit Translator(std::string &code) : os(code) {}

  LogicalResult run(func::FuncOp kernel) {
    if (!llvm::hasSingleElement(kernel.getBody()))
      return kernel.emitError("toy: a kernel must have one block");
    for (Value argument : kernel.getArguments())
      if (failed(add(argument)))
        return failure();
    unsigned inputs = numbers.size();
    for (Operation &op : kernel.getBody().front())
      if (failed(translate(&op)))
        return failure();
    os << "toy " << inputs << " " << numbers.size() << "\n" << text;
    return success();
  }

private:
  LogicalResult add(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || !type.getElementType().isF32())
      return emitError(value.getLoc(), "toy: only f32 of static shape: is ")
             << value.getType();
    unsigned number = numbers.size();
    numbers[value] = number;
    return success();
  }

  static int64_t count(Value value) {
    return cast<RankedTensorType>(value.getType()).getNumElements();
  }

  LogicalResult translate(Operation *op) {
    llvm::raw_string_ostream line(text);
    StringRef name = op->getName().getStringRef();
    if (isa<func::ReturnOp>(op)) {
      for (auto [i, value] : llvm::enumerate(op->getOperands()))
        line << "result " << numbers[value] << " " << i << " " << count(value)
             << "\n";
      return success();
    }
    name.consume_front("stablehlo.");
    if (op->getNumResults() != 1 || failed(add(op->getResult(0))))
      return op->emitError("toy: can't run it");
    Value result = op->getResult(0);
    line << (name == "dot_general"        ? "dot"
             : name == "broadcast_in_dim" ? "broadcast"
                                          : name)
         << " " << numbers[result];
    for (Value operand : op->getOperands())
      line << " " << numbers[operand];
    bool isKnown = llvm::StringSwitch<bool>(name)
                       .Cases("add", "subtract", "multiply", "divide", true)
                       .Cases("maximum", "minimum", "negate", "tanh", true)
                       .Default(false);
    if (isKnown) {
      line << " " << count(result) << "\n";
      return success();
    }
    if (name == "constant")
      return translateConstant(op, line);
    if (name == "dot_general")
      return translateDot(op, line);
    if (name == "broadcast_in_dim")
      return translateBroadcast(op, line);
    return op->emitError("toy: can't run it");
  }

  LogicalResult translateConstant(Operation *op, llvm::raw_ostream &line) {
    line << " " << count(op->getResult(0)) << "\n";
    auto value = op->getAttrDictionary().getAs<DenseFPElementsAttr>("value");
    if (!value)
      return op->emitError("toy: can't read it");
    for (const APFloat &number : value)
      line << llvm::format("%.9g", number.convertToFloat()) << "\n";
    return success();
  }

  LogicalResult translateDot(Operation *op, llvm::raw_ostream &line) {
    std::string dims;
    llvm::raw_string_ostream(dims)
        << op->getAttrDictionary().get("dot_dimension_numbers");
    auto a = cast<RankedTensorType>(op->getOperand(0).getType());
    auto r = cast<RankedTensorType>(op->getResult(0).getType());
    if (a.getRank() != 2 || r.getRank() != 2 ||
        !StringRef(dims).contains("lhs_contracting_dimensions = [1]") ||
        !StringRef(dims).contains("rhs_contracting_dimensions = [0]"))
      return op->emitError("toy: only rows times columns");
    line << " " << a.getDimSize(0) << " " << a.getDimSize(1) << " "
         << r.getDimSize(1) << "\n";
    return success();
  }

  LogicalResult translateBroadcast(Operation *op, llvm::raw_ostream &line) {
    auto dims = op->getAttrDictionary().getAs<DenseI64ArrayAttr>(
        "broadcast_dimensions");
    auto from = cast<RankedTensorType>(op->getOperand(0).getType());
    auto to = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<int64_t> strides(to.getRank(), 0);
    int64_t stride = 1;
    for (int64_t i = from.getRank() - 1; i >= 0; --i) {
      if (from.getDimSize(i) != 1)
        strides[dims[i]] = stride;
      stride *= from.getDimSize(i);
    }
    line << " " << to.getNumElements() << " " << to.getRank();
    for (int64_t size : to.getShape())
      line << " " << size;
    for (int64_t each : strides)
      line << " " << each;
    line << "\n";
    return success();
  }

  llvm::raw_string_ostream os;
  std::string text;
  llvm::DenseMap<Value, unsigned> numbers;
};

/// `target.translate`: keeps the code until it is serialised.
class TranslateToToy
    : public PassWrapper<TranslateToToy, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TranslateToToy)
  TranslateToToy(Codes &codes) : codes(codes) {}
  StringRef getArgument() const override { return "translate-to-toy"; }
  void runOnOperation() override {
    for (Operation &executable : *getOperation().getBody()) {
      if (executable.getName().getStringRef() != "dispatch.executable")
        continue;
      StringRef name = SymbolTable::getSymbolName(&executable);
      std::string &code = codes[name.str()];
      executable.walk([&](func::FuncOp kernel) {
        code.clear();
        if (failed(Translator(code).run(kernel)))
          signalPassFailure();
      });
    }
  }

private:
  Codes &codes;
};

struct Toy {
  Codes codes;
};

int32_t create(const alula_host *, const char *const *, void **self, char **) {
  *self = new Toy();
  return 0;
}

int32_t addPasses(void *self, const alula_stage *, void *passes, char **) {
  static_cast<OpPassManager *>(passes)->addPass(
      std::make_unique<TranslateToToy>(static_cast<Toy *>(self)->codes));
  return 0;
}

int32_t serialise(void *self, const alula_stage *stage, const void *, size_t,
                  alula_bytes *image, char **) {
  const std::string &code = static_cast<Toy *>(self)->codes[stage->executable];
  image->size = code.size();
  image->data = stage->host->allocate(code.size());
  memcpy(image->data, code.data(), code.size());
  return 0;
}

const char *const devices[] = {"small", "large"};
const alula_target target = {
    sizeof(alula_target), "toy", "runs text", devices, 2, "text", serialise};
const alula_target *const targets[] = {&target};
const char *const stages[] = {"target.translate"};
const alula_hooks hooks = {
    sizeof(alula_hooks), 0,       stages,  1, nullptr, nullptr,
    addPasses,           nullptr, targets, 1};
const alula_plugin table = {sizeof(alula_plugin),
                            ALULA_PLUGIN_ABI_MAJOR,
                            ALULA_PLUGIN_ABI_MINOR,
                            ALULA_TIER_M,
                            "toy",
                            "1.0",
                            "the target toy",
                            ALULA_PLUGIN_BUILD_KEY,
                            alula::getMlirAnchor(),
                            ALULA_ACTIVE_DEFAULT,
                            nullptr,
                            0,
                            nullptr,
                            0,
                            create,
                            [](void *self) { delete static_cast<Toy *>(self); },
                            &hooks};
} // namespace

const alula_plugin *ALULA_PLUGIN_QUERY(uint16_t major, uint16_t) {
  return major == ALULA_PLUGIN_ABI_MAJOR ? &table : nullptr;
}
