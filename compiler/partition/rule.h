// How an op may be split: which dimensions of its operands and results are
// pieces of one thing, a factor, and what splitting it costs.
//
//   dot_general ([i, k], [k, j]) -> [i, j]: i and j pass through, k reduces
#pragma once

#include "compiler/partition/spans.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace alula::partition {

enum class FactorKind : uint8_t {
  Pass,      ///< Each device computes its pieces from its pieces.
  Reduce,    ///< In operands only: devices' results are to be combined.
  Replicate, ///< The op needs all of it.
};

struct Factor {
  int64_t size;
  FactorKind kind = FactorKind::Pass;
  /// Pieces may be padded: what is in the padding only gets into padding.
  bool mayPad = false;
};

/// A dimension of an operand of which a result, or a place of another operand,
/// has elements near its own: its pieces are made longer by what neighbours
/// have. Positions are places of elements times `dilation`; result k reads
/// [stride · k + begin, + extent), or the element k places before the end.
struct Window {
  unsigned factor;
  size_t operand, dim;
  /// Of the dimension that is split: of what k counts.
  int64_t results;
  int64_t stride = 1, begin = 0, extent = 1, dilation = 1;
  bool isReversed = false;
  /// Behind the last element comes the first one.
  bool wraps = false;
};

/// How results along `Reduce` factors are combined.
enum class Reducer : uint8_t { Sum, Product, Max, Min, And, Or };

/// Factors of each dimension of a tensor, from major to minor.
using TensorFactors = llvm::SmallVector<llvm::SmallVector<unsigned, 1>>;

struct Rule {
  llvm::SmallVector<Factor> factors;
  /// Empty for what is no tensor and what has no dimensions.
  llvm::SmallVector<TensorFactors> operands, results;
  Reducer reducer = Reducer::Sum;
  /// Cheap at any size: in the way of no sharding.
  bool isElementwise = false;
  /// What the op makes of padding only gets into padding.
  bool mayPad = false;
  /// If each of so many operands, the first ones, is a sum of parts, then the
  /// results are sums of what the op makes of the parts.
  size_t linearOperands = 0;
  /// Factors that windows have are those of no other dimension of an operand.
  llvm::SmallVector<Window, 2> windows;

  unsigned add(int64_t size, FactorKind kind = FactorKind::Pass) {
    factors.push_back({size, kind});
    return static_cast<unsigned>(factors.size() - 1);
  }
};

struct WindowReads;

/// Where the op on pieces is built.
struct LocalSite {
  mlir::OpBuilder &builder;
  mlir::Operation *op;
  const Rule &rule;
  /// How each factor is split.
  llvm::ArrayRef<Spans> factors;
  /// On pieces.
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<mlir::Type> resultTypes;
  /// Which piece along some digits is this device's: tensor<i32>.
  llvm::function_ref<mlir::Value(llvm::ArrayRef<Span>)> getShard;
  /// The op with these operands and result types, and `attributes` changed.
  llvm::function_ref<llvm::SmallVector<mlir::Value>(
      LocalSite &, llvm::ArrayRef<mlir::NamedAttribute>)>
      clone;
  /// The elements that a device's results read, from its piece and others';
  /// `fill` where there are none, or anything if it is null.
  llvm::function_ref<mlir::Value(mlir::Value, const Window &,
                                 const WindowReads &, mlir::Value)>
      read;
  /// The same of an array that each device has all of.
  llvm::function_ref<mlir::Value(mlir::Value, const Window &,
                                 const WindowReads &)>
      readWhole;

  Spans getSpans(const TensorFactors &tensor, size_t dim) const;
  /// For each window that is split: its operand becomes what is read, and `use`
  /// hears of the padding that is left, [first, last].
  void
  readWindows(llvm::function_ref<mlir::Value(const Window &)> getFill,
              llvm::function_ref<void(const Window &, int64_t, int64_t)> use);
};

/// Nothing: the op is computed whole. Sizes that aren't known have no rule.
std::optional<Rule> getRule(mlir::Operation *op);
/// The op on pieces, for an op with a rule.
llvm::SmallVector<mlir::Value> buildLocal(LocalSite &site);

// The families. Nothing where the op is of another one.
std::optional<Rule> getElementwiseRule(mlir::Operation *op);
std::optional<Rule> getShapeRule(mlir::Operation *op);
std::optional<Rule> getSliceRule(mlir::Operation *op);
std::optional<Rule> getReduceRule(mlir::Operation *op);
std::optional<Rule> getDotRule(mlir::Operation *op);
std::optional<Rule> getConvRule(mlir::Operation *op);
std::optional<Rule> getGatherScatterRule(mlir::Operation *op);
std::optional<Rule> getRngRule(mlir::Operation *op);
std::optional<Rule> getCallRule(mlir::Operation *op);

std::optional<llvm::SmallVector<mlir::Value>> buildLocalShape(LocalSite &site);
std::optional<llvm::SmallVector<mlir::Value>> buildLocalSlice(LocalSite &site);
std::optional<llvm::SmallVector<mlir::Value>> buildLocalWindow(LocalSite &site);
std::optional<llvm::SmallVector<mlir::Value>> buildLocalConv(LocalSite &site);
std::optional<llvm::SmallVector<mlir::Value>> buildLocalRng(LocalSite &site);
std::optional<llvm::SmallVector<mlir::Value>> buildLocalCall(LocalSite &site);
std::optional<llvm::SmallVector<mlir::Value>>
buildLocalGatherScatter(LocalSite &site);

/// Of `spans` what a factor can be split by.
Spans getFittingPrefix(llvm::ArrayRef<Span> spans, const Factor &factor);
/// The window that an operand has along a dimension, if any.
const Window *findWindow(const Rule &rule, size_t operand, size_t dim);
/// Null for what is no tensor with known sizes.
mlir::RankedTensorType getStaticType(mlir::Value value);
/// What a region of two numbers does, if it is one of these.
std::optional<Reducer> findReducer(mlir::Region &region);
/// The same name of it in a region that is built.
mlir::Value buildReducer(mlir::OpBuilder &builder, mlir::Location location,
                         Reducer reducer, mlir::Value a, mlir::Value b);
/// What changes nothing if it is combined; null if the type has none.
mlir::TypedAttr getNeutral(Reducer reducer, mlir::Type element,
                           mlir::RankedTensorType type);
/// Whether a value is known to be that, at every place.
bool isNeutral(mlir::Value value, Reducer reducer);
/// A constant i32 of no dimensions.
mlir::Value buildNumber(mlir::OpBuilder &builder, mlir::Location location,
                        int64_t number, mlir::Type element);

} // namespace alula::partition
