// Kernels with equal bodies become one, which is compiled once:
//   dispatch.launch @main_0(%x); dispatch.launch @main_1(%y)
//   →  dispatch.launch @main_0(%x); dispatch.launch @main_0(%y)
// Layers of a model and steps of an unrolled loop are such. Where many differ
// in a few numbers alone (the rate of each step), these become inputs.

#include "compiler/dispatch/passes.h"
#include "dialect/dispatch/in_place.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/MapVector.h"

namespace alula::dispatch {
#define GEN_PASS_DEF_SHAREKERNELS
#include "compiler/dispatch/passes.h.inc"
} // namespace alula::dispatch

using namespace mlir;
using namespace alula::dispatch;

namespace {
/// Fewer kernels that differ in numbers stay apart: a number that is known
/// makes better code, and an input is one more binding of each launch.
constexpr size_t minKernelsOfOneForm = 4;

/// Floating-point arithmetic takes as long with a number from memory. A shift,
/// an integer division and a power do not.
bool mayBeGiven(stablehlo::ConstantOp constant) {
  auto type = dyn_cast<RankedTensorType>(constant.getType());
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  auto element = type ? dyn_cast<FloatType>(type.getElementType()) : nullptr;
  return elements && elements.isSplat() && element && element.getWidth() >= 8 &&
         llvm::all_of(constant->getUsers(), [&](Operation *user) {
           return user->getBlock() == constant->getBlock() &&
                  isa<stablehlo::AddOp, stablehlo::DivOp, stablehlo::MaxOp,
                      stablehlo::MinOp, stablehlo::MulOp, stablehlo::SelectOp,
                      stablehlo::SubtractOp>(user);
         });
}

struct Kernel {
  ExecutableOp executable;
  EntryOp entry;
  func::FuncOp function;
  /// Constants that could be inputs, and their values.
  SmallVector<stablehlo::ConstantOp> numbers;
  SmallVector<Attribute> values;
  SmallVector<LaunchOp> launches;
};

/// Of one form: equal but for the values of their numbers.
using Form = SmallVector<Kernel *>;

/// The form is compared with all numbers zero.
void forgetValues(Kernel &kernel) {
  for (stablehlo::ConstantOp constant : kernel.numbers) {
    auto type = cast<RankedTensorType>(constant.getType());
    constant.setValueAttr(DenseElementsAttr::get(
        type, FloatAttr::get(type.getElementType(), 0.0)));
  }
}

void restoreValues(Kernel &kernel) {
  for (auto [constant, value] : llvm::zip_equal(kernel.numbers, kernel.values))
    constant.setValueAttr(cast<ElementsAttr>(value));
}

Attribute getInPlace(func::FuncOp function) {
  return function->getAttr(inPlaceName);
}

llvm::hash_code hashForm(Kernel &kernel) {
  llvm::hash_code hash = llvm::hash_combine(kernel.function.getFunctionType(),
                                            kernel.entry.getBindings());
  kernel.function.getBody().walk([&](Operation *op) {
    hash =
        llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                     op, OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

bool haveOneForm(Kernel &a, Kernel &b) {
  return a.function.getFunctionType() == b.function.getFunctionType() &&
         a.entry.getBindings() == b.entry.getBindings() &&
         a.entry.getConstantCount() == b.entry.getConstantCount() &&
         getInPlace(a.function) == getInPlace(b.function) &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.function.getBody(), &b.function.getBody(),
             OperationEquivalence::IgnoreLocations);
}

struct ShareKernels
    : public alula::dispatch::impl::ShareKernelsBase<ShareKernels> {
  void runOnOperation() override {
    findKernels();
    for (Kernel &kernel : kernels)
      forgetValues(kernel);
    SmallVector<Form> forms = findForms();
    for (Kernel &kernel : kernels)
      restoreValues(kernel);
    for (Form &form : forms)
      share(form);
  }

private:
  void findKernels() {
    kernels.clear();
    SymbolTable symbols(getOperation());
    llvm::MapVector<StringAttr, SmallVector<LaunchOp>> launches;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](LaunchOp launch) {
        launches[launch.getEntry().getRootReference()].push_back(launch);
      });
    for (auto &[name, own] : launches) {
      auto executable = symbols.lookup<ExecutableOp>(name);
      // What somebody else has written stays as it is.
      if (!executable || !executable.isPrivate() || executable.getObjectsAttr())
        continue;
      auto entries = executable.getBody().getOps<EntryOp>();
      if (!llvm::hasSingleElement(entries) || (*entries.begin()).getPinned())
        continue;
      Kernel kernel{executable, *entries.begin(), {}, {}, {}, own};
      kernel.function = executable.getInnerModule().lookupSymbol<func::FuncOp>(
          kernel.entry.getSymName());
      if (!kernel.function || kernel.function.isExternal())
        continue;
      for (auto constant :
           kernel.function.front().getOps<stablehlo::ConstantOp>())
        if (mayBeGiven(constant)) {
          kernel.numbers.push_back(constant);
          kernel.values.push_back(constant.getValue());
        }
      kernels.push_back(std::move(kernel));
    }
  }

  SmallVector<Form> findForms() {
    SmallVector<Form> forms;
    DenseMap<size_t, SmallVector<size_t>> formsOfHash;
    for (Kernel &kernel : kernels) {
      SmallVector<size_t> &candidates = formsOfHash[hashForm(kernel)];
      auto *found = llvm::find_if(candidates, [&](size_t form) {
        return haveOneForm(*forms[form].front(), kernel);
      });
      if (found != candidates.end()) {
        forms[*found].push_back(&kernel);
        continue;
      }
      candidates.push_back(forms.size());
      forms.push_back({&kernel});
    }
    return forms;
  }

  void share(Form &form) {
    // Equal ones first.
    Form distinct;
    DenseMap<Attribute, Kernel *> ofValues;
    for (Kernel *kernel : form) {
      auto values = ArrayAttr::get(&getContext(), kernel->values);
      auto [equal, isNew] = ofValues.try_emplace(values, kernel);
      if (isNew)
        distinct.push_back(kernel);
      else
        replace(*kernel, *equal->second);
    }
    if (distinct.size() < minKernelsOfOneForm)
      return;
    Kernel &first = *distinct.front();
    SmallVector<size_t> given;
    for (size_t i = 0; i < first.numbers.size(); ++i)
      if (llvm::any_of(distinct, [&](Kernel *kernel) {
            return kernel->values[i] != first.values[i];
          }))
        given.push_back(i);
    for (Kernel *kernel : distinct)
      for (LaunchOp launch : kernel->launches)
        giveNumbers(launch, *kernel, given);
    takeNumbers(first, given);
    for (Kernel *kernel : llvm::drop_begin(distinct))
      replace(*kernel, first);
  }

  void replace(Kernel &kernel, Kernel &by) {
    for (LaunchOp launch : kernel.launches)
      launch.setEntryAttr(SymbolRefAttr::get(
          by.executable.getSymNameAttr(),
          {FlatSymbolRefAttr::get(by.entry.getSymNameAttr())}));
    by.launches.append(kernel.launches);
    kernel.executable.erase();
  }

  /// Numbers become the last inputs.
  static void takeNumbers(Kernel &kernel, ArrayRef<size_t> given) {
    LaunchOp launch = kernel.launches.front();
    auto index =
        static_cast<unsigned>(launch.getInputs().size() - given.size());
    SmallVector<Attribute> bindings(kernel.entry.getBindings().getValue());
    for (size_t i : given) {
      stablehlo::ConstantOp constant = kernel.numbers[i];
      auto type = cast<RankedTensorType>(constant.getType());
      auto scalar = RankedTensorType::get({}, type.getElementType());
      kernel.function.insertArgument(index, scalar, {}, constant.getLoc());
      bindings.insert(bindings.begin() + index,
                      AccessAttr::get(constant.getContext(), Access::Read));
      Value number = kernel.function.getArgument(index++);
      if (type.getRank()) {
        OpBuilder builder(constant);
        number = builder.create<stablehlo::BroadcastInDimOp>(
            constant.getLoc(), type, number, builder.getDenseI64ArrayAttr({}));
      }
      constant.replaceAllUsesWith(number);
      constant.erase();
    }
    kernel.entry.setBindingsAttr(
        ArrayAttr::get(kernel.entry.getContext(), bindings));
  }

  static void giveNumbers(LaunchOp launch, Kernel &kernel,
                          ArrayRef<size_t> given) {
    OpBuilder builder(launch);
    SmallVector<Value> numbers;
    for (size_t i : given) {
      auto elements = cast<DenseElementsAttr>(kernel.values[i]);
      auto scalar = RankedTensorType::get({}, elements.getElementType());
      numbers.push_back(builder.create<stablehlo::ConstantOp>(
          kernel.numbers[i].getLoc(),
          cast<ElementsAttr>(elements.resizeSplat(scalar))));
    }
    launch.getInputsMutable().append(numbers);
  }

  SmallVector<Kernel> kernels;
};
} // namespace
