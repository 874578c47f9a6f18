// The region of a reduce, scatter, sort or map, prepared once and run on many
// elements.
#pragma once

#include "reference/evaluator.h"
#include "reference/lane_function.h"

namespace alula::reference {

/// How many elements are computed at a time.
inline constexpr size_t laneCount = 256;

/// One elementwise op as lanes.
struct LaneStep {
  LaneFunction function;
  LaneInfo info;
};

/// The step of an elementwise op on operands of these kinds; nothing if the op
/// is not elementwise or has no meaning on them.
std::optional<LaneStep> findLaneStep(mlir::Operation *op,
                                     llvm::ArrayRef<Kind> operandKinds,
                                     Kind resultKind);

/// A region from scalars to scalars. Bodies of elementwise ops become a list
/// of lane steps; others are interpreted op by op.
class ScalarBody {
public:
  /// Reports and fails if the region's arguments or results are not scalars.
  static mlir::FailureOr<ScalarBody> prepare(const OpCall &call,
                                             mlir::Region &region);

  size_t getNumArguments() const { return argumentKinds.size(); }
  size_t getNumResults() const { return resultKinds.size(); }
  Kind getArgumentKind(size_t k) const { return argumentKinds[k]; }
  mlir::Type getArgumentType(size_t k) const { return argumentTypes[k]; }
  Kind getResultKind(size_t k) const { return resultKinds[k]; }
  mlir::Type getResultType(size_t k) const { return resultTypes[k]; }

  /// The sum of both arguments as floats. Such a body may carry its partial
  /// sums unrounded: `keepWide` makes `run` do that.
  bool isFloatSum() const { return floatSum; }
  void keepWide() { wide = floatSum; }

  /// Runs on n <= laneCount elements. Results may alias arguments.
  mlir::LogicalResult run(size_t n, llvm::ArrayRef<const Cell *> arguments,
                          llvm::ArrayRef<Cell *> results);

private:
  struct Step {
    LaneStep lane;
    unsigned operands[3];
    unsigned result;
    Kind kind;
  };
  bool compile(mlir::Block &block, llvm::ArrayRef<unsigned> arguments,
               const Scope *scope, llvm::SmallVectorImpl<unsigned> &results,
               unsigned depth);
  bool compileOp(mlir::Operation &op,
                 llvm::DenseMap<mlir::Value, unsigned> &registers,
                 const Scope *scope, unsigned depth);
  unsigned addRegister(Kind kind);
  unsigned addConstant(Kind kind, const Cell &cell);
  mlir::LogicalResult interpret(size_t n,
                                llvm::ArrayRef<const Cell *> arguments,
                                llvm::ArrayRef<Cell *> results);

  Evaluator *evaluator = nullptr;
  mlir::Operation *owner = nullptr;
  mlir::Region *region = nullptr;
  const Scope *scope = nullptr;
  bool compiled = false, floatSum = false, wide = false;
  llvm::SmallVector<Kind> argumentKinds, resultKinds, registerKinds;
  llvm::SmallVector<mlir::Type> argumentTypes, resultTypes;
  std::vector<Step> steps;
  llvm::SmallVector<unsigned> resultRegisters;
  std::vector<Cell> cells;
};

} // namespace alula::reference
