// Three forms: tensors, as tools get them; loops over buffers, as the kernel
// room leaves them; and LLVM's dialect with the convention of
// alula/kernel_abi.h, which nobody lowers any more.

#include "compiler/preprocess/bodies.h"

#include "compiler/preprocess/host_functions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace alula::preprocess;
using alula::dispatch::EntryOp;
using alula::dispatch::ExecutableOp;

namespace {
BodyForm getForm(FunctionOpInterface function) {
  if (!function)
    return BodyForm::None;
  if (isa<LLVM::LLVMFuncOp>(function))
    return BodyForm::Llvm;
  return llvm::any_of(function.getArgumentTypes(), llvm::IsaPred<MemRefType>)
             ? BodyForm::Loops
             : BodyForm::Tensors;
}

std::string showTypes(ArrayRef<std::string> inputs,
                      ArrayRef<std::string> results) {
  return "(" + llvm::join(inputs, ", ") + ") -> (" + llvm::join(results, ", ") +
         ")";
}

Problem wrongType(const Contract::Entry &is, const Contract::Entry &was,
                  ArrayRef<std::string> inputs) {
  return breach(
      "the function of entry @" + was.name + " must keep its type: was " +
      showTypes(inputs, was.results) + ", is " +
      (is.form == BodyForm::None ? "none" : showTypes(is.inputs, is.results)));
}

/// The bindings' buffers, the host's numbers, and the workgroup if the function
/// asks for it.
std::optional<Problem> checkLoops(EntryOp entry, FunctionOpInterface function,
                                  size_t numbers) {
  size_t buffers = entry.getBindings().size();
  bool asksForItsGroup = function->hasAttr("kernel.workgroup");
  ArrayRef<Type> types = function.getArgumentTypes();
  size_t expected = buffers + numbers + asksForItsGroup;
  if (types.size() == expected && function.getNumResults() == 0 &&
      llvm::all_of(types.take_front(buffers), llvm::IsaPred<MemRefType>) &&
      llvm::all_of(types.drop_front(buffers), llvm::IsaPred<IndexType>))
    return std::nullopt;
  return breach("the function of entry @" + entry.getSymName() + " must take " +
                Twine(buffers) + " memrefs and " + Twine(expected - buffers) +
                " index and return nothing: is " +
                debugString(function.getFunctionType()));
}

Value findRoot(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

std::optional<Problem> checkWrites(EntryOp entry,
                                   FunctionOpInterface function) {
  std::optional<Problem> problem;
  function->walk([&](MemoryEffectOpInterface op) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    op.getEffects(effects);
    for (MemoryEffects::EffectInstance &effect : effects) {
      if (!isa<MemoryEffects::Write>(effect.getEffect()) || !effect.getValue())
        continue;
      auto argument = dyn_cast<BlockArgument>(findRoot(effect.getValue()));
      if (!argument || argument.getOwner() != &function.front() ||
          argument.getArgNumber() >= entry.getBindings().size())
        continue;
      auto access = cast<alula::dispatch::AccessAttr>(
          entry.getBindings()[argument.getArgNumber()]);
      if (access.getValue() != alula::dispatch::Access::Read)
        continue;
      problem = breach("binding " + Twine(argument.getArgNumber()) +
                       " of entry @" + entry.getSymName() + " is only read: " +
                       op->getName().getStringRef() + " writes to it");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return problem;
}

/// Nobody lowers what is beside it.
std::optional<Problem> checkAlone(EntryOp entry) {
  auto executable = cast<ExecutableOp>(entry->getParentOp());
  for (auto function : executable.getInnerModule().getOps<func::FuncOp>()) {
    bool isHosts =
        llvm::any_of(executable.getBody().getOps<EntryOp>(), [&](EntryOp each) {
          return each.getWorkgroupCount() == function.getSymName() ||
                 each.getAddedConstants() == function.getSymName();
        });
    if (!isHosts && !function.isExternal())
      return breach(
          "what a function in LLVM's dialect calls must be in it too: "
          "@" +
          function.getSymName() + " is a func.func");
  }
  return std::nullopt;
}

std::optional<Problem> checkConvention(EntryOp entry,
                                       LLVM::LLVMFuncOp function) {
  MLIRContext *context = function.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto i32 = IntegerType::get(context, 32);
  auto expected = LLVM::LLVMFunctionType::get(i32, {pointer, i32, i32, i32});
  if (function.getFunctionType() == expected &&
      function.getLinkage() == LLVM::Linkage::External)
    return std::nullopt;
  return breach("the function of entry @" + entry.getSymName() +
                " must be external and have the kernel's convention, " +
                debugString(expected) + ": is " +
                debugString(function.getFunctionType()));
}
} // namespace

void alula::preprocess::readBody(ExecutableOp executable,
                                 Contract::Entry &entry) {
  FunctionOpInterface function = getBody(executable, entry.name);
  entry.form = getForm(function);
  if (!function)
    return;
  for (Type type : function.getArgumentTypes())
    entry.inputs.push_back(debugString(type));
  for (Type type : function.getResultTypes())
    entry.results.push_back(debugString(type));
}

std::optional<Problem>
alula::preprocess::checkBody(EntryOp entry, const Contract::Entry &is,
                             const Contract::Entry &was) {
  auto executable = cast<ExecutableOp>(entry->getParentOp());
  FunctionOpInterface function = getBody(executable, was.name);
  size_t added = countAddedConstants(entry);
  if (is.form != BodyForm::Llvm && is.form != BodyForm::None &&
      was.attributes.at("scratch_bytes") != is.attributes.at("scratch_bytes"))
    return breach("entry @" + was.name +
                  " must keep its scratch_bytes, which is found later: was " +
                  was.attributes.at("scratch_bytes") + ", is " +
                  is.attributes.at("scratch_bytes"));
  // What comes back after the kernel room has its scratch already.
  if (is.form == BodyForm::Loops && was.form == is.form && !added &&
      is.inputs == was.inputs && is.results == was.results)
    return checkWrites(entry, function);
  switch (is.form) {
  case BodyForm::None:
    if (hasObjects(executable))
      return std::nullopt;
    return wrongType(is, was, was.inputs);
  case BodyForm::Tensors: {
    std::vector<std::string> inputs = was.inputs;
    inputs.insert(inputs.end(), added, "index");
    if (inputs == is.inputs && was.results == is.results)
      return std::nullopt;
    return wrongType(is, was, inputs);
  }
  case BodyForm::Loops:
    if (auto problem =
            checkLoops(entry, function, entry.getConstantCount() + added))
      return problem;
    return checkWrites(entry, function);
  case BodyForm::Llvm:
    if (auto problem = checkAlone(entry))
      return problem;
    return checkConvention(entry, cast<LLVM::LLVMFuncOp>(function));
  }
  return std::nullopt;
}

std::optional<Problem> alula::preprocess::checkCalls(ExecutableOp executable) {
  static constexpr StringLiteral builtins[] = {"memcpy", "memmove", "memset"};
  if (hasObjects(executable) || !executable.getInnerModule())
    return std::nullopt;
  for (auto function :
       executable.getInnerModule().getOps<FunctionOpInterface>()) {
    StringRef name = cast<SymbolOpInterface>(*function).getName();
    if (function.isExternal() && !function->hasAttr("dispatch.import") &&
        !name.starts_with("alula_") && !name.starts_with("llvm.") &&
        !llvm::is_contained(builtins, name))
      return breach("what a kernel calls must be of the kernel library or in "
                    "objects of the executable: @" +
                        name + " is not",
                    /*mayGoOn=*/true);
  }
  return std::nullopt;
}
