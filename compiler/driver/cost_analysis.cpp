// Counts what a program computes and moves.
//
// Bytes follow a model of fusion: elementwise operations and those that only
// say where elements come from, and calls of functions that do nothing else,
// are computed by whoever reads them, unless several read a value and it costs
// less to store it: a residual's sum. An operation whose result only such a
// value reads computes that too, in registers. What is left, and what a block
// hands on, reads the arrays behind it once and writes its results. A kernel is
// what all of that became: its bytes are those of its arguments and results.

#include "compiler/driver/cost_analysis.h"

#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace alula::driver;

namespace {
/// Dimensions that a transpose has moved and a reshape makes one for a product:
/// they have no stride, so that the product reads a copy.
bool isCopiedForProduct(Operation *op) {
  auto isFactor = [](Operation *user) {
    return stablehlo::readsAny(user, stablehlo::Access::Contracted);
  };
  return isa<stablehlo::TransposeOp>(op) &&
         llvm::any_of(op->getUsers(), [&](Operation *user) {
           return isa<stablehlo::ReshapeOp>(user) &&
                  llvm::any_of(user->getUsers(), isFactor);
         });
}

/// Computed by whoever reads it, if it isn't a call.
bool isFusedByItself(Operation *op) {
  using stablehlo::Access;
  if (isCopiedForProduct(op))
    return false;
  // An array that the program spells out is read from memory like any other.
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
    return constant.getValue().isSplat();
  return op->hasTrait<mlir::OpTrait::IsTerminator>() ||
         (op->getNumRegions() == 0 &&
          stablehlo::readsOnly(
              op, Access::Unread | Access::Elementwise | Access::Reshaped |
                      Access::Permuted | Access::Moved | Access::Repeated |
                      Access::Part | Access::Fill | Access::Picked |
                      Access::Indices | Access::Sizes | Access::Bits |
                      Access::Carried));
}

class Analysis {
public:
  /// One run of a block: its operations, and what they read and write.
  Costs countBlock(Block &block);
  /// The same of a kernel, whose operations hand on nothing in memory.
  Costs countKernel(Block &block);
  bool isUnknown = false;

private:
  double getElements(Type type);
  double getBytes(Type type);
  double getBytes(ValueRange values);
  double getFlopsOfOne(Type type, double ofComplexProduct);
  double getTerms(Operation *op);

  func::FuncOp findCallee(func::CallOp op);
  bool isFused(Operation *op);
  void countOp(Operation *op, Costs &costs);
  void countElements(Operation *op, Costs &costs);
  void countDot(Operation *op, Costs &costs);
  void countConvolution(stablehlo::ConvolutionOp op, Costs &costs);
  void countRegion(Operation *op, double times, Costs &costs);
  void countWhile(stablehlo::WhileOp op, Costs &costs);
  void countBranches(Operation *op, Costs &costs);
  void countCall(func::CallOp op, Costs &costs);
  void countLibraryCall(stablehlo::CustomCallOp op, Costs &costs);

  const llvm::MapVector<Value, double> &getSourcesInside(func::CallOp op,
                                                         Value result);
  bool findSources(Value value, llvm::MapVector<Value, double> &sources,
                   size_t mostOnTheWay = SIZE_MAX);
  void addReads(ValueRange read, Block &block, Costs &costs);
  bool findReaders(Value value, Block &block,
                   llvm::SetVector<Operation *> &readers);
  Value findEpilogueOf(Value value, Block &block,
                       const llvm::MapVector<Value, double> &sources);
  bool isWorthStoring(Value value, Block &block);
  void findStored(Block &block);

  llvm::DenseMap<Operation *, Costs> functions;
  llvm::DenseMap<Attribute, func::FuncOp> callees;
  /// Whether calls of a function are computed by whoever reads their results,
  /// and what these are computed from.
  llvm::DenseMap<Operation *, bool> fusedFunctions;
  llvm::DenseMap<Value, std::unique_ptr<llvm::MapVector<Value, double>>>
      sourcesInside;
  llvm::SetVector<Operation *> calling;
  /// Fused values that are written and read nevertheless, and results that only
  /// one of these reads, which never are.
  llvm::DenseSet<Value> stored, kept;
};

void add(Costs &to, const Costs &what, double times) {
  to.flops += what.flops * times;
  to.transcendentals += what.transcendentals * times;
  to.bytesAccessed += what.bytesAccessed * times;
}

double Analysis::getElements(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return 0;
  double count = 1;
  if (!shaped.hasRank()) {
    isUnknown = true;
    return count;
  }
  for (int64_t dim : shaped.getShape()) {
    isUnknown |= ShapedType::isDynamic(dim);
    count *= ShapedType::isDynamic(dim) ? 1 : static_cast<double>(dim);
  }
  return count;
}

double Analysis::getBytes(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return 0;
  Type element = shaped.getElementType();
  double bytes = 1;
  if (auto complex = dyn_cast<ComplexType>(element))
    bytes = complex.getElementType().getIntOrFloatBitWidth() / 4.0;
  else if (element.isIntOrFloat())
    bytes = std::max(1.0, element.getIntOrFloatBitWidth() / 8.0);
  return bytes * getElements(type);
}

double Analysis::getBytes(ValueRange values) {
  double bytes = 0;
  for (Value value : values)
    bytes += getBytes(value.getType());
  return bytes;
}

/// What a complex number takes, or 1.
double Analysis::getFlopsOfOne(Type type, double ofComplex) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && isa<ComplexType>(shaped.getElementType()) ? ofComplex : 1;
}

void Analysis::countElements(Operation *op, Costs &costs) {
  if (op->getNumResults() != 1)
    return;
  double elements = getElements(op->getResult(0).getType());
  stablehlo::Cost cost = stablehlo::getElementCost(op);
  if (cost == stablehlo::Cost::None)
    return;
  if (cost >= stablehlo::Cost::Root) {
    costs.transcendentals += elements;
    return;
  }
  Type type = op->getResult(0).getType();
  double each = 1;
  if (isa<stablehlo::MulOp>(op))
    each = getFlopsOfOne(type, 6);
  else if (isa<stablehlo::AddOp, stablehlo::SubtractOp>(op))
    each = getFlopsOfOne(type, 2);
  costs.flops += elements * each;
}

double Analysis::getTerms(Operation *op) {
  std::optional<int64_t> terms = stablehlo::countTerms(op);
  isUnknown |= !terms;
  return static_cast<double>(terms.value_or(1));
}

void Analysis::countDot(Operation *op, Costs &costs) {
  Type result = op->getResult(0).getType();
  double flopsOfPair = getFlopsOfOne(result, 4) * 2;
  costs.flops += getElements(result) * getTerms(op) * flopsOfPair;
}

/// How many pairs of an output place and a kernel place meet the input, not
/// padding or a hole of dilation.
double countPairs(int64_t input, int64_t kernel, int64_t output, int64_t stride,
                  int64_t low, int64_t inputDilation, int64_t kernelDilation) {
  constexpr int64_t most = 1 << 22;
  auto all = static_cast<double>(kernel) * static_cast<double>(output);
  if (all > most)
    return all;
  int64_t pairs = 0;
  for (int64_t place = 0; place < output; ++place)
    for (int64_t tap = 0; tap < kernel; ++tap) {
      int64_t at = place * stride - low + tap * kernelDilation;
      pairs += at >= 0 && at % inputDilation == 0 && at / inputDilation < input;
    }
  return static_cast<double>(pairs);
}

void Analysis::countConvolution(stablehlo::ConvolutionOp op, Costs &costs) {
  auto lhs = dyn_cast<RankedTensorType>(op.getLhs().getType());
  auto rhs = dyn_cast<RankedTensorType>(op.getRhs().getType());
  auto result = dyn_cast<RankedTensorType>(op.getResult().getType());
  if (!lhs || !rhs || !result || !lhs.hasStaticShape() ||
      !rhs.hasStaticShape() || !result.hasStaticShape()) {
    isUnknown = true;
    return;
  }
  auto numbers = op.getDimensionNumbers();
  double pairs = 2 * getFlopsOfOne(result, 4);
  pairs *= static_cast<double>(
      rhs.getDimSize(unsigned(numbers.getKernelInputFeatureDimension())));
  for (int64_t dim :
       {numbers.getOutputBatchDimension(), numbers.getOutputFeatureDimension()})
    pairs *= static_cast<double>(result.getDimSize(unsigned(dim)));
  auto at = [](std::optional<ArrayRef<int64_t>> list, size_t i) {
    return list && i < list->size() ? (*list)[i] : 1;
  };
  SmallVector<int64_t> padding;
  if (auto given = op.getPadding())
    padding.assign(given->getValues<int64_t>().begin(),
                   given->getValues<int64_t>().end());
  for (size_t i = 0; i < numbers.getInputSpatialDimensions().size(); ++i)
    pairs *= countPairs(
        lhs.getDimSize(unsigned(numbers.getInputSpatialDimensions()[i])),
        rhs.getDimSize(unsigned(numbers.getKernelSpatialDimensions()[i])),
        result.getDimSize(unsigned(numbers.getOutputSpatialDimensions()[i])),
        at(op.getWindowStrides(), i),
        2 * i < padding.size() ? padding[2 * i] : 0, at(op.getLhsDilation(), i),
        at(op.getRhsDilation(), i));
  costs.flops += pairs;
}

void Analysis::countRegion(Operation *op, double times, Costs &costs) {
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      Costs body = countBlock(block);
      // Numbers in registers: only the computation counts.
      body.bytesAccessed = 0;
      add(costs, body, std::max(times, 0.0));
    }
}

/// The integer that a value is known to be.
std::optional<int64_t> getConstant(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto numbers = dyn_cast<DenseIntElementsAttr>(constant.getValue());
  if (!numbers || numbers.getNumElements() != 1)
    return std::nullopt;
  return (*numbers.begin()).getSExtValue();
}

/// The same seen from inside a loop: a value that the loop hands on unchanged
/// is what it was before.
std::optional<int64_t> getConstantIn(stablehlo::WhileOp op, Value value) {
  if (auto constant = getConstant(value))
    return constant;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner()->getParentOp() != op)
    return std::nullopt;
  unsigned number = argument.getArgNumber();
  Block &body = op->getRegion(1).front();
  if (body.getTerminator()->getOperand(number) != body.getArgument(number))
    return std::nullopt;
  return getConstant(op->getOperand(number));
}

/// The length of a loop that counts up to a constant.
std::optional<double> getTripCount(stablehlo::WhileOp op) {
  Block &condition = op->getRegion(0).front();
  auto compare = condition.getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<stablehlo::CompareOp>();
  if (!compare)
    return std::nullopt;
  auto counter = dyn_cast<BlockArgument>(compare.getLhs());
  if (!counter || counter.getOwner() != &condition)
    return std::nullopt;
  unsigned number = counter.getArgNumber();
  Block &body = op->getRegion(1).front();
  auto next = body.getTerminator()
                  ->getOperand(number)
                  .getDefiningOp<stablehlo::AddOp>();
  if (!next)
    return std::nullopt;
  bool isFirst = next.getLhs() == body.getArgument(number);
  if (!isFirst && next.getRhs() != body.getArgument(number))
    return std::nullopt;
  auto step = getConstantIn(op, isFirst ? next.getRhs() : next.getLhs());
  auto end = getConstantIn(op, compare.getRhs());
  auto begin = getConstant(op->getOperand(number));
  if (!step || !end || !begin || *step <= 0)
    return std::nullopt;
  auto distance = static_cast<double>(*end) - static_cast<double>(*begin);
  auto each = static_cast<double>(*step);
  switch (compare.getComparisonDirection()) {
  case stablehlo::ComparisonDirection::LT:
  case stablehlo::ComparisonDirection::NE:
    return std::max(0.0, std::ceil(distance / each));
  case stablehlo::ComparisonDirection::LE:
    return std::max(0.0, std::floor(distance / each) + 1);
  default:
    return std::nullopt;
  }
}

void Analysis::countWhile(stablehlo::WhileOp op, Costs &costs) {
  std::optional<double> trips = getTripCount(op);
  isUnknown |= !trips;
  double times = trips.value_or(1);
  add(costs, countBlock(op->getRegion(0).front()), times + 1);
  add(costs, countBlock(op->getRegion(1).front()), times);
}

void Analysis::countBranches(Operation *op, Costs &costs) {
  Costs dearest;
  for (Region &region : op->getRegions()) {
    Costs branch = countBlock(region.front());
    if (branch.flops + branch.bytesAccessed + branch.transcendentals >=
        dearest.flops + dearest.bytesAccessed + dearest.transcendentals)
      dearest = branch;
  }
  add(costs, dearest, 1);
}

func::FuncOp Analysis::findCallee(func::CallOp op) {
  auto [found, isNew] = callees.try_emplace(op.getCalleeAttr());
  if (isNew)
    found->second = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, op.getCalleeAttr());
  return found->second;
}

/// Computed by whoever reads it: a call too, of a function all of whose
/// operations are.
bool Analysis::isFused(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  if (!call)
    return isFusedByItself(op);
  func::FuncOp callee = findCallee(call);
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
    return false;
  // One that calls itself is not.
  auto [found, isNew] = fusedFunctions.try_emplace(callee, false);
  if (!isNew)
    return found->second;
  bool areAll = llvm::all_of(callee.getBody().front(), [&](Operation &inner) {
    return isa<stablehlo::ConstantOp>(inner) || isFused(&inner);
  });
  return fusedFunctions[callee] = areAll;
}

void Analysis::countCall(func::CallOp op, Costs &costs) {
  func::FuncOp callee = findCallee(op);
  // A program that calls itself is refused later.
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock() ||
      !calling.insert(callee)) {
    isUnknown = true;
    return;
  }
  auto found = functions.find(callee);
  if (found == functions.end()) {
    Costs counted;
    if (isFused(op))
      for (Operation &inner : callee.getBody().front())
        countOp(&inner, counted);
    else
      counted = countBlock(callee.getBody().front());
    found = functions.try_emplace(callee, counted).first;
  }
  calling.remove(callee);
  add(costs, found->second, 1);
}

/// Operations of our own library: the usual counts, to the highest order.
void Analysis::countLibraryCall(stablehlo::CustomCallOp op, Costs &costs) {
  auto type = op.getNumOperands()
                  ? dyn_cast<RankedTensorType>(op.getOperand(0).getType())
                  : RankedTensorType();
  StringRef name = op.getCallTargetName();
  if (!type || type.getRank() < 2 || !name.consume_front("alula.")) {
    isUnknown |= !name.starts_with("alula.");
    return;
  }
  double all = getElements(type);
  auto rows = static_cast<double>(
      std::max<int64_t>(type.getDimSize(unsigned(type.getRank() - 2)), 1));
  auto columns = static_cast<double>(
      std::max<int64_t>(type.getDimSize(unsigned(type.getRank() - 1)), 1));
  double least = std::min(rows, columns), batch = all / (rows * columns);
  double cube = batch * rows * columns * least * getFlopsOfOne(type, 4);
  double factor = llvm::StringSwitch<double>(name)
                      .Case("lu", 2.0 / 3)
                      .Cases("geqrf", "geqp3", "householder_product", 4.0 / 3)
                      .Cases("hessenberg", "tridiagonal", 10.0 / 3)
                      .Case("eigh", 9)
                      .Cases("eig", "schur", 25)
                      .Case("svd", 20)
                      .Default(0);
  isUnknown |= factor == 0;
  costs.flops += factor * cube;
}

void Analysis::countOp(Operation *op, Costs &costs) {
  if (isFusedByItself(op))
    return countElements(op, costs);
  if (isa<stablehlo::DotGeneralOp, stablehlo::DotOp>(op))
    return countDot(op, costs);
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op))
    return countConvolution(convolution, costs);
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
    return countWhile(loop, costs);
  if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
    return countBranches(op, costs);
  if (auto call = dyn_cast<func::CallOp>(op))
    return countCall(call, costs);
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    return countLibraryCall(call, costs);
  if (isa<stablehlo::ReduceOp>(op))
    return countRegion(op,
                       getElements(op->getOperand(0).getType()) -
                           getElements(op->getResult(0).getType()),
                       costs);
  if (isa<stablehlo::ReduceWindowOp>(op))
    return countRegion(
        op, getElements(op->getResult(0).getType()) * (getTerms(op) - 1),
        costs);
  if (auto sort = dyn_cast<stablehlo::SortOp>(op)) {
    double elements = getElements(op->getOperand(0).getType());
    return countRegion(op, elements * std::log2(std::max(elements, 2.0)),
                       costs);
  }
  if (isa<stablehlo::ScatterOp, stablehlo::SelectAndScatterOp>(op)) {
    unsigned last = op->getNumOperands() - 1;
    if (isa<stablehlo::SelectAndScatterOp>(op))
      last = 1;
    return countRegion(op, getElements(op->getOperand(last).getType()), costs);
  }
  if (isa<stablehlo::FftOp>(op)) {
    double elements = getElements(op->getOperand(0).getType());
    costs.flops += 5 * elements * std::log2(std::max(elements, 2.0));
    return;
  }
  if (isa<stablehlo::MapOp>(op))
    return countRegion(op, getElements(op->getResult(0).getType()), costs);
}

/// What a result of a fused call is computed from: arguments and constants of
/// the function.
const llvm::MapVector<Value, double> &
Analysis::getSourcesInside(func::CallOp op, Value result) {
  Value inside = findCallee(op).getBody().front().getTerminator()->getOperand(
      cast<OpResult>(result).getResultNumber());
  if (auto found = sourcesInside.find(inside); found != sourcesInside.end())
    return *found->second;
  auto sources = std::make_unique<llvm::MapVector<Value, double>>();
  findSources(inside, *sources);
  return *(sourcesInside[inside] = std::move(sources));
}

/// The arrays that computing a value reads, each with as many bytes as that
/// reads at most. False if there are more operations on the way than that.
bool Analysis::findSources(Value value, llvm::MapVector<Value, double> &sources,
                           size_t mostOnTheWay) {
  using stablehlo::Access;
  // Pairs of a value and the most of it that is read; a limit of -1 is none.
  SmallVector<std::pair<Value, double>> open = {{value, -1}};
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    auto [next, limit] = open.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (op && isFused(op) && !stored.contains(next)) {
      if (!seen.insert(next).second)
        continue;
      if (seen.size() > mostOnTheWay)
        return false;
      auto addOpen = [&](Value read, double bytes) {
        open.emplace_back(read, limit < 0 ? bytes : std::min(limit, bytes));
      };
      if (auto call = dyn_cast<func::CallOp>(op)) {
        for (auto [source, bytes] : getSourcesInside(call, next)) {
          auto argument = dyn_cast<BlockArgument>(source);
          bool isWhole = bytes >= getBytes(source.getType());
          addOpen(argument ? call.getOperand(argument.getArgNumber()) : source,
                  isWhole ? limit : bytes);
        }
        continue;
      }
      for (OpOperand &use : op->getOpOperands()) {
        // At most one element for each of its own.
        Access access = stablehlo::getAccess(use);
        bool isPiece = access == Access::Moved || access == Access::Picked;
        double bytes = isPiece ? getBytes(next.getType()) : limit;
        addOpen(use.get(), bytes);
      }
      continue;
    }
    double bytes = getBytes(next.getType());
    double read = limit < 0 ? bytes : std::min(limit, bytes);
    double &known = sources[next];
    known = std::min(bytes, std::max(known, read));
  }
  return true;
}

void Analysis::addReads(ValueRange read, Block &block, Costs &costs) {
  llvm::MapVector<Value, double> sources;
  for (Value value : read)
    findSources(value, sources);
  for (auto &[source, bytes] : sources) {
    if (kept.contains(source))
      continue;
    costs.bytesAccessed += bytes;
    auto argument = dyn_cast<BlockArgument>(source);
    if (argument && argument.getOwner() == &block)
      costs.argumentBytes[argument.getArgNumber()] += bytes;
  }
}

/// Whether the bytes that an operation moves are told by its regions.
bool isCountedInside(Operation *op) {
  return isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp,
             func::CallOp>(op);
}

/// Most operations that are looked at between a value and what it is computed
/// from or read by: whatever takes more is not computed twice.
constexpr size_t mostOnTheWay = 256;

/// The operations that read a value from memory, or compute it again, where it
/// is not stored. False if they are too many to tell.
bool Analysis::findReaders(Value value, Block &block,
                           llvm::SetVector<Operation *> &readers) {
  llvm::SetVector<Value> open;
  open.insert(value);
  for (size_t i = 0; i < open.size(); ++i) {
    if (open.size() > mostOnTheWay)
      return false;
    for (Operation *user : open[i].getUsers()) {
      Operation *reader = block.findAncestorOpInBlock(*user);
      if (!reader)
        continue;
      bool isComputed =
          isFused(reader) && !reader->hasTrait<mlir::OpTrait::IsTerminator>() &&
          llvm::none_of(reader->getResults(),
                        [&](Value result) { return stored.contains(result); });
      if (isComputed)
        open.insert(reader->result_begin(), reader->result_end());
      else
        readers.insert(reader);
    }
  }
  return true;
}

/// The result, of an operation that computes the stored value on its way to
/// memory: as many elements, and nobody else reads it.
Value Analysis::findEpilogueOf(Value value, Block &block,
                               const llvm::MapVector<Value, double> &sources) {
  for (auto &[source, bytes] : sources) {
    Operation *op = source.getDefiningOp();
    if (!op || op->getBlock() != &block || op->getNumResults() != 1 ||
        isFused(op) || isCountedInside(op) ||
        isa<stablehlo::ConstantOp, stablehlo::DynamicUpdateSliceOp>(op) ||
        getElements(source.getType()) != getElements(value.getType()) ||
        bytes != getBytes(source.getType()))
      continue;
    llvm::SetVector<Operation *> readers;
    if (findReaders(source, block, readers) && readers.size() == 1 &&
        readers.front() == value.getDefiningOp())
      return source;
  }
  return {};
}

/// Whether a fused value costs less if it is written once and read by each of
/// its readers than if each of them computes it. It counts as stored here.
bool Analysis::isWorthStoring(Value value, Block &block) {
  llvm::SetVector<Operation *> readers;
  if (!findReaders(value, block, readers) || readers.size() < 2)
    return false;
  auto times = static_cast<double>(readers.size());
  llvm::MapVector<Value, double> sources;
  for (Value operand : value.getDefiningOp()->getOperands())
    if (!findSources(operand, sources, mostOnTheWay))
      return true;
  double read = 0, own = 0, bytes = getBytes(value.getType());
  for (auto &source : sources)
    read += source.second;
  if (Value result = findEpilogueOf(value, block, sources))
    own = getBytes(result.getType());
  double once = read - own + bytes + times * bytes, again = own + times * read;
  // What the block hands on is written anyway, and not read.
  if (llvm::is_contained(block.getTerminator()->getOperands(), value)) {
    once -= bytes;
    again += bytes;
  }
  return once < again;
}

void Analysis::findStored(Block &block) {
  auto add = [&](Value value) {
    stored.insert(value);
    if (isWorthStoring(value, block))
      return true;
    stored.erase(value);
    return false;
  };
  // Last first, since readers of what is stored later are one. Then the others
  // way round, since what is stored earlier is read as one array.
  SmallVector<Value> found;
  for (Operation &op : llvm::reverse(block))
    if (isFused(&op) && op.getNumResults() == 1 &&
        !isa<stablehlo::ConstantOp>(op) && !op.getResult(0).hasOneUse() &&
        add(op.getResult(0)))
      found.push_back(op.getResult(0));
  for (Value value : llvm::reverse(found)) {
    if (!add(value))
      continue;
    llvm::MapVector<Value, double> sources;
    for (Value operand : value.getDefiningOp()->getOperands())
      findSources(operand, sources);
    if (Value result = findEpilogueOf(value, block, sources))
      kept.insert(result);
  }
}

Costs Analysis::countBlock(Block &block) {
  Costs costs;
  costs.argumentBytes.resize(block.getNumArguments());
  findStored(block);
  for (Operation &op : block) {
    countOp(&op, costs);
    if (op.getNumResults() == 1 && stored.contains(op.getResult(0))) {
      addReads(op.getOperands(), block, costs);
      costs.bytesAccessed += getBytes(op.getResults());
      continue;
    }
    // What these do is counted inside.
    if (isFused(&op) || isCountedInside(&op))
      continue;
    if (isa<stablehlo::ConstantOp>(op))
      continue;
    if (isa<stablehlo::DynamicUpdateSliceOp>(op)) {
      // In place: only the piece moves.
      addReads(op.getOperands().drop_front(), block, costs);
      costs.bytesAccessed += getBytes(op.getOperand(1).getType());
      continue;
    }
    addReads(op.getOperands(), block, costs);
    if (op.getNumResults() != 1 || !kept.contains(op.getResult(0)))
      costs.bytesAccessed += getBytes(op.getResults());
  }
  // What a block hands on and nobody has written yet.
  SmallVector<Value> fused;
  for (Value value : block.getTerminator()->getOperands()) {
    costs.resultBytes += getBytes(value.getType());
    Operation *op = value.getDefiningOp();
    bool isComputed = op && isFused(op) && !stored.contains(value);
    // A function's own argument is copied if it is its result.
    bool isCopied = !op && isa<func::FuncOp>(block.getParentOp());
    if (!isComputed && !isCopied)
      continue;
    fused.push_back(value);
    costs.bytesAccessed += getBytes(value.getType());
  }
  addReads(fused, block, costs);
  return costs;
}

Costs Analysis::countKernel(Block &block) {
  Costs costs;
  costs.argumentBytes.resize(block.getNumArguments());
  llvm::MapVector<Value, double> read;
  auto addSources = [&](ValueRange values) {
    llvm::MapVector<Value, double> sources;
    for (Value value : values)
      findSources(value, sources);
    for (auto &[source, bytes] : sources)
      if (isa<BlockArgument>(source) ||
          isa<stablehlo::ConstantOp>(source.getDefiningOp()))
        read[source] =
            std::min(read[source] + bytes, getBytes(source.getType()));
  };
  for (Operation &op : block) {
    countOp(&op, costs);
    if (isFused(&op) || isCountedInside(&op) || isa<stablehlo::ConstantOp>(op))
      continue;
    bool isUpdate = isa<stablehlo::DynamicUpdateSliceOp>(op);
    addSources(isUpdate ? op.getOperands().drop_front() : op.getOperands());
  }
  for (Value value : block.getTerminator()->getOperands()) {
    costs.resultBytes += getBytes(value.getType());
    // In place: only the piece moves.
    auto update = value.getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
    costs.bytesAccessed +=
        getBytes(update ? update.getUpdate().getType() : value.getType());
    Operation *op = value.getDefiningOp();
    if (!op || isFused(op))
      addSources(value);
  }
  for (auto &[source, bytes] : read) {
    costs.bytesAccessed += bytes;
    if (auto argument = dyn_cast<BlockArgument>(source))
      costs.argumentBytes[argument.getArgNumber()] += bytes;
  }
  return costs;
}
} // namespace

static Costs analyze(func::FuncOp function,
                     Costs (Analysis::*count)(Block &block)) {
  Analysis analysis;
  if (!function.getBody().hasOneBlock())
    return {};
  Costs costs = (analysis.*count)(function.getBody().front());
  costs.isUnknown = analysis.isUnknown;
  return costs;
}

Costs alula::driver::analyzeCosts(func::FuncOp function) {
  return analyze(function, &Analysis::countBlock);
}

Costs alula::driver::analyzeKernelCosts(func::FuncOp body) {
  return analyze(body, &Analysis::countKernel);
}
