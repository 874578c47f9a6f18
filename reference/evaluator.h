// The machine inside the interpreter: scopes, op calls, limits. Private to
// this room.
#pragma once

#include "reference/interpreter.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace alula::reference {

class Evaluator;
class Process;
class OpTable;
struct ProbeState;

/// Values of the ops of one block, and the block around it.
struct Scope {
  const Scope *parent = nullptr;
  llvm::DenseMap<mlir::Value, Value> values;
  const Value *find(mlir::Value value) const;
};

/// One op about to be computed. Handlers read operands and attributes, make
/// tensors and add results; on failure they have reported why.
class OpCall {
public:
  OpCall(Evaluator &evaluator, mlir::Operation *op, const Scope &scope,
         llvm::ArrayRef<Value> operands, llvm::ArrayRef<mlir::Type> types,
         std::vector<Value> &results)
      : evaluator(evaluator), op(op), scope(scope), operands(operands),
        types(types), results(results) {}

  Evaluator &evaluator;
  mlir::Operation *op;
  const Scope &scope;
  llvm::ArrayRef<Value> operands;
  /// Types to produce; expressed ones when the op is computed on dequantized
  /// operands.
  llvm::ArrayRef<mlir::Type> types;
  std::vector<Value> &results;

  const Tensor &tensor(size_t k) const { return operands[k].getTensor(); }
  mlir::ShapedType getShapedType(size_t k) const {
    return mlir::cast<mlir::ShapedType>(types[k]);
  }
  mlir::Type getElementType(size_t k) const {
    return getShapedType(k).getElementType();
  }

  mlir::InFlightDiagnostic error() const;
  /// Whether sums keep more bits than their type has.
  bool getWide() const;
  /// Accounts for work before it is done; fails with a message when the
  /// program's steps are used up.
  mlir::LogicalResult charge(int64_t a, int64_t b = 1, int64_t c = 1) const;

  mlir::FailureOr<Tensor> newTensor(mlir::Type elementType,
                                    llvm::ArrayRef<int64_t> dims) const;
  mlir::LogicalResult give(Value value) const {
    results.push_back(std::move(value));
    return mlir::success();
  }

  // Attributes; a missing one gives the default.
  llvm::SmallVector<int64_t> getInts(llvm::StringRef name, size_t count = 0,
                                     int64_t missing = 0) const;
  int64_t getInt(llvm::StringRef name, int64_t missing = 0) const;
  bool getFlag(llvm::StringRef name) const;
  /// Pairs of an n x 2 attribute such as `padding`; zeros if missing.
  llvm::SmallVector<std::pair<int64_t, int64_t>>
  getPairs(llvm::StringRef name, size_t count) const;
};

using Handler = mlir::LogicalResult (*)(OpCall &call);

enum class Quantized : uint8_t {
  Stored,      ///< Works on stored values, or knows quantization itself.
  Dequantized, ///< dequantize, compute on the expressed type, quantize.
};

struct OpEntry {
  Handler handler = nullptr;
  Quantized quantized = Quantized::Stored;
  bool pure = true;
};

/// What all processes of one program share.
struct Program {
  Program(const EvalOptions &options, std::shared_ptr<MemoryBudget> budget,
          const OpTable &table, std::shared_ptr<ProbeState> probes)
      : options(options), budget(std::move(budget)), table(table),
        probes(std::move(probes)) {}

  const EvalOptions &options;
  std::shared_ptr<MemoryBudget> budget;
  const OpTable &table;
  llvm::DenseMap<mlir::Attribute, Tensor> constants;
  llvm::DenseMap<const void *, const OpEntry *> entries;
  llvm::StringMap<mlir::Operation *> symbols;
  std::atomic<int64_t> steps{0};
  /// Number of rng ops run so far.
  uint64_t randomStreams = 0;
  std::shared_ptr<ProbeState> probes;
};

class Evaluator {
public:
  Evaluator(Program &program, Process *process)
      : program(program), process(process) {}

  Program &program;
  /// Null for a program on one device that was not placed on a grid.
  Process *process;

  mlir::LogicalResult callFunction(mlir::Operation *caller,
                                   mlir::Operation *callee,
                                   llvm::ArrayRef<Value> arguments,
                                   std::vector<Value> &results);
  /// Looks a function up by name; reports at `user` if there is none.
  mlir::Operation *findFunction(mlir::Operation *user, llvm::StringRef name);
  /// Runs a region's only block; `scope` is what it may capture from.
  mlir::LogicalResult runRegion(mlir::Operation *owner, mlir::Region &region,
                                llvm::ArrayRef<Value> arguments,
                                const Scope *scope,
                                std::vector<Value> &results);
  mlir::LogicalResult runOp(mlir::Operation *op,
                            llvm::ArrayRef<Value> operands, const Scope &scope,
                            std::vector<Value> &results);
  mlir::LogicalResult charge(mlir::Operation *op, int64_t work);

  /// The value of a constant op's attribute, kept for the next time.
  mlir::FailureOr<Tensor> getConstant(mlir::Operation *op,
                                      mlir::ElementsAttr attribute,
                                      mlir::Type elementType);

private:
  int64_t depth = 0;
};

/// An error of the form "op: rule"; the op's name is put in front.
mlir::InFlightDiagnostic reportAt(mlir::Operation *op);

/// Real numbers of a quantized tensor in its expressed type, and back.
mlir::FailureOr<Tensor> dequantize(const OpCall &call, const Tensor &tensor);
mlir::FailureOr<Tensor> quantize(const OpCall &call, const Tensor &tensor,
                                 mlir::Type quantizedType);
bool isQuantized(mlir::Type elementType);
mlir::Type getExpressedType(mlir::Type elementType);

} // namespace alula::reference
