#include "compiler/preprocess/host_functions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace alula::preprocess;
using alula::dispatch::EntryOp;
using alula::dispatch::ExecutableOp;
using alula::dispatch::LaunchOp;

namespace {
func::FuncOp findFunction(EntryOp entry, FlatSymbolRefAttr name) {
  if (!name)
    return {};
  auto inner = cast<ExecutableOp>(entry->getParentOp()).getInnerModule();
  return inner ? inner.lookupSymbol<func::FuncOp>(name.getValue())
               : func::FuncOp();
}

std::string show(ArrayRef<int64_t> sizes) {
  return "[" +
         llvm::join(
             llvm::map_range(sizes,
                             [](int64_t size) { return std::to_string(size); }),
             ", ") +
         "]";
}

bool isInteger(Type type) { return type.isIntOrIndex(); }

/// What the host has commands for.
bool isHostOp(Operation &op) {
  return isa<arith::ArithDialect>(op.getDialect()) &&
         llvm::all_of(op.getOperandTypes(), isInteger) &&
         llvm::all_of(op.getResultTypes(), isInteger);
}

std::optional<Problem> checkFunction(EntryOp entry, FlatSymbolRefAttr name,
                                     StringRef attribute,
                                     std::optional<size_t> results) {
  if (!name)
    return std::nullopt;
  std::string whose = (attribute + " of entry @" + entry.getSymName()).str();
  func::FuncOp function = findFunction(entry, name);
  if (!function || function.isExternal())
    return breach(whose + " must name a function with a body: names @" +
                  name.getValue());
  std::string expected = std::to_string(entry.getConstantCount()) +
                         " index and return " +
                         (results ? std::to_string(*results) + " index"
                                  : std::string("index alone"));
  FunctionType type = function.getFunctionType();
  bool fits = type.getNumInputs() == entry.getConstantCount() &&
              (!results || type.getNumResults() == *results) &&
              llvm::all_of(type.getInputs(), llvm::IsaPred<IndexType>) &&
              llvm::all_of(type.getResults(), llvm::IsaPred<IndexType>);
  if (!fits)
    return breach(whose + " must take " + expected + ": is " +
                  debugString(type));
  if (!function.getBody().hasOneBlock())
    return breach(whose + " must have one block: has " +
                  Twine(function.getBlocks().size()));
  for (Operation &op : function.front().without_terminator())
    if (!isHostOp(op))
      return breach(whose +
                    " must be arithmetic of integers, which the host can do: "
                    "has " +
                    op.getName().getStringRef());
  return std::nullopt;
}

/// The results as far as they follow from the constants that are known.
Contract::Numbers evaluate(func::FuncOp function,
                           const Contract::Numbers &constants) {
  llvm::DenseMap<Value, Attribute> known;
  Builder b(function.getContext());
  for (auto [argument, number] : llvm::zip(function.getArguments(), constants))
    if (number)
      known[argument] = b.getIndexAttr(*number);
  for (Operation &op : function.front().without_terminator()) {
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(known.lookup(operand));
    SmallVector<OpFoldResult> results;
    if (failed(op.fold(operands, results)))
      continue;
    for (auto [result, folded] : llvm::zip(op.getResults(), results)) {
      auto attribute = dyn_cast<Attribute>(folded);
      known[result] = attribute ? attribute : known.lookup(cast<Value>(folded));
    }
  }
  Contract::Numbers numbers;
  for (Value value : function.front().getTerminator()->getOperands()) {
    auto number = dyn_cast_or_null<IntegerAttr>(known.lookup(value));
    numbers.push_back(number ? std::optional(number.getInt()) : std::nullopt);
  }
  return numbers;
}

std::optional<Problem> checkCounts(StringRef entry, ArrayRef<int64_t> counts,
                                   StringRef was, const GridLimits &limits) {
  for (auto [count, most] : llvm::zip(counts, limits.count))
    if (count < 1 || count > most)
      return breach("sizes of the grid of entry @" + entry +
                    " must be from 1 to " + Twine(most) + ": was " + was +
                    ", is " + show(counts));
  return std::nullopt;
}
} // namespace

std::optional<Problem>
alula::preprocess::checkHostFunctions(EntryOp entry,
                                      const Contract::Entry &was) {
  if (auto problem = checkFunction(entry, entry.getWorkgroupCountAttr(),
                                   "workgroup_count", 3))
    return problem;
  return checkFunction(entry, entry.getAddedConstantsAttr(), "added_constants",
                       std::nullopt);
}

std::optional<Problem> alula::preprocess::checkSizes(ExecutableOp executable,
                                                     const Contract &before) {
  for (auto [entry, was] :
       llvm::zip(executable->getRegion(0).getOps<EntryOp>(), before.entries)) {
    auto show = [&](StringRef name) {
      Attribute value = entry->getAttr(name);
      return value ? debugString(value) : "none";
    };
    auto counts = entry->getAttrOfType<DenseI64ArrayAttr>("workgroups");
    if (!counts || counts.size() != 3)
      return breach(
          "the grid of entry @" + was.name + " must have three sizes: was " +
          was.attributes.at("workgroups") + ", is " + show("workgroups"));
    if (auto problem =
            checkCounts(was.name, counts.asArrayRef(),
                        was.attributes.at("workgroups"), before.limits))
      return problem;
    auto size = entry->getAttrOfType<DenseI64ArrayAttr>("workgroup_size");
    if (!size)
      continue;
    int64_t product = 1;
    bool isGood = size.size() == 3;
    for (int64_t each : size.asArrayRef())
      isGood = isGood && each >= 1 && each <= UINT32_MAX &&
               !__builtin_mul_overflow(product, each, &product);
    if (!isGood)
      return breach("the workgroup_size of entry @" + was.name +
                    " must be three sizes from 1: was none, is " +
                    show("workgroup_size"));
  }
  return std::nullopt;
}

bool alula::preprocess::hasOwnGrid(EntryOp entry, const Contract::Entry &was) {
  auto body =
      getBody(cast<ExecutableOp>(entry->getParentOp()), entry.getSymName());
  return entry.getPinned() || was.attributes.count("pinned") || entry.getWorkgroupCount() ||
         entry.getWorkgroupSize() ||
         (body && body->hasAttr("kernel.workgroup")) ||
         debugString(entry.getWorkgroupsAttr()) !=
             was.attributes.at("workgroups");
}

std::optional<Problem> alula::preprocess::checkGrid(EntryOp entry,
                                                    const Contract::Entry &is,
                                                    const Contract::Entry &was,
                                                    const GridLimits &limits) {
  const std::string &name = was.name;
  if (auto count = findFunction(entry, entry.getWorkgroupCountAttr())) {
    auto body = getBody(cast<ExecutableOp>(entry->getParentOp()), name);
    if (is.form == BodyForm::Tensors ||
        (is.form == BodyForm::Loops && !body->hasAttr("kernel.workgroup")))
      return breach("a grid that the host computes needs a function that asks "
                    "for its workgroup: that of entry @" +
                    name + " takes " + llvm::join(is.inputs, ", "));
    for (const Contract::Numbers &constants : was.launches) {
      Contract::Numbers counts = evaluate(count, constants);
      // What is not known is asked when it is: 0 is nothing to do then.
      SmallVector<int64_t> known;
      for (std::optional<int64_t> each : counts)
        known.push_back(each.value_or(1));
      if (auto problem =
              checkCounts(name, known, was.attributes.at("workgroups"), limits))
        return problem;
    }
  }
  ArrayRef<int64_t> counts = entry.getWorkgroups();
  if ((is.form == BodyForm::Tensors || is.form == BodyForm::Loops) &&
      (counts[1] != 1 || counts[2] != 1))
    return breach(
        "a body of " + Twine(is.form == BodyForm::Loops ? "loops" : "tensors") +
        " is shared along one dimension: the grid of entry @" + name + " was " +
        was.attributes.at("workgroups") + ", is " + show(counts));
  int64_t product = 1;
  if (auto size = entry.getWorkgroupSize())
    for (int64_t each : *size)
      product *= each;
  if (product > limits.size)
    return breach("the workgroup_size of entry @" + name + " must be at most " +
                      Twine(limits.size) + " in all: was none, is " +
                      show(*entry.getWorkgroupSize()),
                  /*mayGoOn=*/true);
  return std::nullopt;
}

size_t alula::preprocess::countAddedConstants(EntryOp entry) {
  auto function = findFunction(entry, entry.getAddedConstantsAttr());
  return function ? function.getNumResults() : 0;
}

Contract::Numbers alula::preprocess::readConstants(LaunchOp launch) {
  Contract::Numbers numbers;
  for (Value constant : launch.getConstants()) {
    APInt value;
    numbers.push_back(matchPattern(constant, m_ConstantInt(&value))
                          ? std::optional(value.getSExtValue())
                          : std::nullopt);
  }
  return numbers;
}

static SmallVector<Value> inlineAt(func::FuncOp function, LaunchOp launch,
                                   ValueRange constants) {
  OpBuilder builder(launch);
  IRMapping mapping;
  mapping.map(function.getArguments(), constants);
  for (Operation &op : function.front().without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : function.front().getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

static void inlineHostFunctions(EntryOp entry, ArrayRef<LaunchOp> launches) {
  func::FuncOp count = findFunction(entry, entry.getWorkgroupCountAttr());
  func::FuncOp added = findFunction(entry, entry.getAddedConstantsAttr());
  // One grid for all is the entry's own.
  std::set<std::vector<int64_t>> grids;
  bool isKnown = count && !launches.empty();
  for (LaunchOp launch : launches) {
    SmallVector<Value> constants(launch.getConstants());
    if (count) {
      Contract::Numbers grid = evaluate(count, readConstants(launch));
      isKnown &= llvm::all_of(grid, [](auto &each) { return each; });
      if (isKnown)
        grids.insert({*grid[0], *grid[1], *grid[2]});
    }
    if (added)
      launch.getConstantsMutable().append(inlineAt(added, launch, constants));
  }
  if (isKnown && grids.size() == 1)
    entry.setWorkgroups(*grids.begin());
  else if (count)
    for (LaunchOp launch : launches)
      launch.getWorkgroupsMutable().assign(
          inlineAt(count, launch,
                   launch.getConstants().take_front(count.getNumArguments())));
  entry.setConstantCount(entry.getConstantCount() + countAddedConstants(entry));
}

void alula::preprocess::inlineHostFunctions(
    ExecutableOp executable,
    llvm::function_ref<ArrayRef<LaunchOp>(StringRef)> getLaunches) {
  // One function may do for several entries.
  llvm::SetVector<Operation *> done;
  for (auto entry : executable.getBody().getOps<EntryOp>()) {
    ::inlineHostFunctions(entry, getLaunches(entry.getSymName()));
    for (FlatSymbolRefAttr name :
         {entry.getWorkgroupCountAttr(), entry.getAddedConstantsAttr()})
      if (auto function = findFunction(entry, name))
        done.insert(function);
  }
  for (auto entry : executable.getBody().getOps<EntryOp>()) {
    entry.removeWorkgroupCountAttr();
    entry.removeAddedConstantsAttr();
  }
  for (Operation *function : done)
    function->erase();
}
