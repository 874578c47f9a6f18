// Values of a program over all devices as one device has them: split in one way
// or in several, and moved when somebody wants another.
#pragma once

#include "compiler/partition/named_axes.h"
#include "compiler/partition/reshard.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace alula::partition {

/// For whom something is moved.
struct MoveReason {
  /// Null: for the function's own results.
  mlir::Operation *op = nullptr;
  /// "operand" or "result", and which.
  llvm::StringRef what;
  size_t number = 0;
  llvm::StringRef why;
};

class LocalValues {
public:
  struct Local {
    mlir::Value value;
    Sharding sharding;
    /// Of the whole; null where it is no tensor of static shape.
    mlir::RankedTensorType type;
    /// The same, split in other ways.
    llvm::SmallVector<std::pair<Sharding, mlir::Value>, 1> others;
  };

  LocalValues(mlir::func::FuncOp function, int64_t devices,
              mlir::RewriterBase &rewriter);

  void set(mlir::Value value, mlir::Value local, Sharding sharding);
  /// The same value is there in another way, too.
  void addOther(mlir::Value value, mlir::Value local, const Sharding &sharding);
  /// Until the next value is set.
  const Local &find(mlir::Value value) { return locals[value]; }
  /// A value split as wanted, from what is there in some way and nearest.
  mlir::Value get(mlir::Value value, const Sharding &wanted);
  mlir::Value getWhole(mlir::Value value);

  /// For whom values are moved from now on.
  void setReason(MoveReason given) { reason = given; }
  /// What was moved, for whom and why, equal ones counted.
  llvm::SmallVector<mlir::Attribute> getNotes() const;
  ReshardBuilder &getReshards() { return reshards; }

private:
  void note(llvm::StringRef name, int64_t bytes, const Sharding *from,
            const Sharding *to);
  void print(llvm::raw_ostream &out, const Sharding &sharding);
  bool isVisible(mlir::Value value) const;
  void leaveLoops(mlir::Value value);

  mlir::RewriterBase &rewriter;
  ReshardBuilder reshards;
  MeshNames names;
  MoveReason reason;
  std::map<std::string, unsigned> notes;
  llvm::DenseMap<mlir::Value, Local> locals;
};

} // namespace alula::partition
