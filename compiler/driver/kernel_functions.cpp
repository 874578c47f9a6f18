// Kernels as others see them: a list with costs, or functions of StableHLO.

#include "compiler/driver/kernel_functions.h"

#include "compiler/emit/emit.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace alula::driver;
using alula::dispatch::EntryOp;
using alula::dispatch::ExecutableOp;
using alula::dispatch::LaunchOp;
using alula::dispatch::ViewOp;

namespace {
/// The first name and the first place of a file in a location, outermost first.
void readLocation(Location location, std::string &name, std::string &place) {
  if (auto named = dyn_cast<NameLoc>(location)) {
    if (name.empty())
      name = named.getName().str();
    readLocation(named.getChildLoc(), name, place);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    readLocation(call.getCallee(), name, place);
    readLocation(call.getCaller(), name, place);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      readLocation(part, name, place);
  } else if (auto file = dyn_cast<FileLineColLoc>(location)) {
    if (place.empty())
      place =
          (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
  }
}

/// The body of an entry; null if it is in an object.
func::FuncOp getBody(ExecutableOp executable, StringRef entry) {
  ModuleOp inner = executable.getInnerModule();
  auto body = inner ? inner.lookupSymbol<func::FuncOp>(entry) : nullptr;
  return body && !body.isExternal() ? body : nullptr;
}

/// Only what has no meaning for others has a prefix of ours.
bool isOurs(StringAttr name) {
  StringRef text = name.getValue();
  auto [dialect, rest] = text.split('.');
  return !rest.empty() &&
         !llvm::is_contained({"mhlo", "jax", "tf", "stablehlo"}, dialect);
}

DictionaryAttr dropOurs(DictionaryAttr attributes) {
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attribute :
       attributes ? attributes.getValue() : ArrayRef<NamedAttribute>())
    if (!isOurs(attribute.getName()))
      kept.push_back(attribute);
  return attributes ? DictionaryAttr::get(attributes.getContext(), kept)
                    : attributes;
}

void dropOurAttributes(Operation *op) {
  op->setDiscardableAttrs(dropOurs(op->getDiscardableAttrDictionary()));
  auto function = dyn_cast<func::FuncOp>(op);
  for (unsigned i = 0; function && i < function.getNumArguments(); ++i)
    function.setArgAttrs(i, dropOurs(function.getArgAttrDict(i)));
  for (unsigned i = 0; function && i < function.getNumResults(); ++i)
    function.setResultAttrs(i, dropOurs(function.getResultAttrDict(i)));
}

/// %r = dispatch.launch @k::@k(%x) → %r = call @k(%x)
LogicalResult replace(LaunchOp launch, StringRef function) {
  if (!launch.getConstants().empty() || !launch.getResultDims().empty())
    return launch.emitError(
        "'dispatch.launch': the host computes sizes for it");
  OpBuilder builder(launch);
  auto call = builder.create<func::CallOp>(
      launch.getLoc(), function, launch.getResultTypes(), launch.getInputs());
  launch.replaceAllUsesWith(call.getResults());
  launch.erase();
  return success();
}

/// %r = dispatch.view %x → %r = stablehlo.reshape %x
LogicalResult replace(ViewOp view) {
  auto from = cast<RankedTensorType>(view.getSource().getType());
  auto to = cast<RankedTensorType>(view.getResult().getType());
  if (from.getElementType() != to.getElementType() || !from.hasStaticShape() ||
      !to.hasStaticShape())
    return view.emitError("'dispatch.view': it is not a reshape");
  OpBuilder builder(view);
  view.replaceAllUsesWith(
      builder.create<stablehlo::ReshapeOp>(view.getLoc(), to, view.getSource())
          .getResult());
  view.erase();
  return success();
}

bool isCommon(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return llvm::is_contained({"builtin", "func", "stablehlo", "chlo"}, dialect);
}
} // namespace

std::vector<KernelDescription> alula::driver::describeKernels(ModuleOp module) {
  std::vector<KernelDescription> kernels;
  for (auto executable : module.getOps<ExecutableOp>())
    for (auto entry : executable.getBody().getOps<EntryOp>()) {
      KernelDescription kernel;
      kernel.name = entry.getSymName().str();
      readLocation(entry.getLoc(), kernel.sourceName, kernel.source);
      if (func::FuncOp body = getBody(executable, entry.getSymName())) {
        kernel.costs = analyzeKernelCosts(body);
        llvm::SetVector<StringRef> names;
        llvm::SetVector<StringAttr> typed;
        body.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
          if (!op->hasTrait<OpTrait::IsTerminator>() &&
              !isa<stablehlo::ConstantOp>(op)) {
            names.insert(op->getName().stripDialect());
            for (Type type : op->getResultTypes())
              typed.insert(StringAttr::get(
                  op->getContext(),
                  op->getName().stripDialect() + ":" +
                      llvm::to_string(getElementTypeOrSelf(type))));
          }
        });
        kernel.operations = llvm::join(names.getArrayRef(), " ");
        llvm::interleave(
            typed,
            [&](StringAttr text) { kernel.typedOperations += text.getValue(); },
            [&] { kernel.typedOperations += " "; });
      }
      kernels.push_back(std::move(kernel));
    }
  return kernels;
}

/// As an artifact may hold it, on one line.
static std::string makeLine(StringRef text) {
  std::string line = llvm::json::fixUTF8(text);
  for (char &c : line)
    if (static_cast<unsigned char>(c) < 32 || c == 127)
      c = '?';
  return line;
}

void alula::driver::keepKernelFacts(ModuleOp module) {
  Builder b(module.getContext());
  NamedAttrList facts;
  for (const KernelDescription &kernel : describeKernels(module)) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (!kernel.operations.empty() && !kernel.costs.isUnknown)
      for (auto [word, value] :
           {std::pair("flops", kernel.costs.flops),
            std::pair("transcendentals", kernel.costs.transcendentals),
            std::pair("bytes", kernel.costs.bytesAccessed)})
        os << word << " " << llvm::format("%.0f", value) << "\n";
    for (auto [word, value] :
         {std::pair("operations", StringRef(kernel.operations)),
          std::pair("typed", StringRef(kernel.typedOperations)),
          std::pair("name", StringRef(kernel.sourceName)),
          std::pair("source", StringRef(kernel.source))})
      if (!value.empty())
        os << word << " " << makeLine(value) << "\n";
    facts.set(kernel.name, b.getStringAttr(text));
  }
  module->setAttr(emit::kernelFactsName, facts.getDictionary(b.getContext()));
}

LogicalResult alula::driver::makeKernelFunctions(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::MapVector<Attribute, StringAttr> functions;
  SmallVector<ExecutableOp> executables(module.getOps<ExecutableOp>());
  for (ExecutableOp executable : executables) {
    SmallVector<std::pair<Attribute, func::FuncOp>> bodies;
    for (auto entry : executable.getBody().getOps<EntryOp>()) {
      func::FuncOp body = getBody(executable, entry.getSymName());
      if (!body)
        return entry.emitError("'dispatch.entry': its code is in an object");
      bodies.emplace_back(
          SymbolRefAttr::get(executable.getSymNameAttr(),
                             FlatSymbolRefAttr::get(entry.getSymNameAttr())),
          body);
    }
    symbols.remove(executable);
    for (auto [name, body] : bodies) {
      body->remove();
      body.setPrivate();
      functions[name] = symbols.insert(body);
    }
    executable.erase();
  }
  SmallVector<LaunchOp> launches;
  SmallVector<ViewOp> views;
  module.walk([&](LaunchOp op) { launches.push_back(op); });
  module.walk([&](ViewOp op) { views.push_back(op); });
  for (LaunchOp launch : launches)
    if (failed(replace(launch, functions[launch.getEntry()])))
      return failure();
  for (ViewOp view : views)
    if (failed(replace(view)))
      return failure();
  module.walk([](Operation *op) { dropOurAttributes(op); });
  auto result = module.walk([](Operation *op) {
    if (isCommon(op))
      return WalkResult::advance();
    op->emitError() << "'" << op->getName()
                    << "': StableHLO has no word for it";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

std::string alula::driver::printWithLocations(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().enableDebugInfo());
  return text;
}
