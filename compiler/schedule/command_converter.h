#pragma once

#include "compiler/schedule/storage_planner.h"
#include "dialect/dispatch/collectives.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace alula::schedule {

/// Turns one host function on tensors into commands on slots. `storage_plan.h`
/// says where values live. Sizes of dynamic dimensions are index values,
/// carried by loops and branches like any other.
class CommandConverter {
  using Block = mlir::Block;
  using Location = mlir::Location;
  using LogicalResult = mlir::LogicalResult;
  using Operation = mlir::Operation;
  using Region = mlir::Region;
  using Type = mlir::Type;
  using Value = mlir::Value;
  using ValueRange = mlir::ValueRange;
  using LaunchOp = dispatch::LaunchOp;
  template <typename T> using SmallVector = llvm::SmallVector<T>;

public:
  explicit CommandConverter(mlir::func::FuncOp function)
      : function(function), plan(planStorage(function)), builder(function),
        location(function.getLoc()) {}

  LogicalResult run();

private:
  // ---- Globals ----

  /// Whether a global has a value from the start.
  bool isInitialised(mlir::FlatSymbolRefAttr global);
  void checkGlobals();
  void defineGlobals();
  /// The entry no longer has arguments and results that stand for globals.
  void dropGlobals();
  /// Results say whose memory they take over.
  void addAliases();

  // ---- Sizes ----

  Value makeIndex(int64_t value);
  void addArgumentDims();
  /// The sizes of the dynamic dimensions of a value, in order.
  SmallVector<Value> getDims(Value value) { return dims.lookup(value); }
  Value getDim(Value value, int64_t dim);
  Value multiply(Value a, Value b);
  Value getBytes(Value value);
  /// Element `number`, in row-major order, of a tensor of integers.
  Value loadInteger(Value slot, Type element, Value number);

  // ---- Slots ----

  Value getSlot(int number);
  Value getSlot(Value value) { return getSlot(plan.getMemoryNumber(value)); }
  /// A local slot gets memory for a value.
  void allocate(int number, Value value);
  void move(Operation *at);
  /// A dynamic result gets storage for a value.
  void bindResult(int number, Value value);
  void free(Operation *op);

  // ---- Ops ----

  LogicalResult convertBlock(Block &block);
  LogicalResult convert(Operation &op);
  SmallVector<Value> mapAll(ValueRange values);
  LogicalResult convertLaunch(LaunchOp launch);
  LogicalResult convertCall(mlir::func::CallOp call);
  /// The sizes of a custom call's dynamic results stand in operands.
  LogicalResult loadResultDims(mlir::stablehlo::CustomCallOp call);
  LogicalResult convertCustomCall(mlir::stablehlo::CustomCallOp call);

  void startCollective(dispatch::CollectiveStartOp start);
  void awaitCollective(dispatch::CollectiveDoneOp done);

  // ---- Control flow: what it carries are sizes ----

  SmallVector<Value> getAllDims(ValueRange values);
  /// The other way round: each value gets as many sizes as it needs.
  void takeDims(ValueRange values, ValueRange sizes);
  /// A one-element tensor of integers as a value of the same type.
  Value load(Value tensor);
  LogicalResult convertLoop(mlir::stablehlo::WhileOp loop);
  LogicalResult convertBranch(Region &from, Region &to);
  SmallVector<Type> getDimTypes(ValueRange values);
  LogicalResult convertIf(mlir::stablehlo::IfOp branches);
  LogicalResult convertCase(mlir::stablehlo::CaseOp branches);

  // ---- Integers ----

  LogicalResult convertDim(mlir::tensor::DimOp dim);
  LogicalResult convertExtract(mlir::tensor::ExtractOp extract);
  /// Sizes that nobody asked for.
  static void eraseUnused(Block &body);

  mlir::func::FuncOp function;
  StoragePlan plan;
  mlir::OpBuilder builder;
  Location location;
  Block *old = nullptr;
  Operation *lastSlot = nullptr;
  llvm::DenseMap<Value, SmallVector<Value>> dims;
  llvm::DenseMap<int64_t, Value> constants;
  mlir::SymbolTableCollection symbols;
  llvm::DenseMap<int, Value> slots;
  /// Of collectives that are on their way.
  llvm::DenseMap<Value, Value> handles;
  mlir::IRMapping scalars;
};

} // namespace alula::schedule
