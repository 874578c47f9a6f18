// Which results take the place of an input.
//
// An op that updates a part of its operand writes that part alone, and a loop
// updates a carried value in place, if the kernel has no other use of the
// operand. Elementwise ops may overwrite the element that they have read, but
// only at the last use of the operand: otherwise the caller would have to copy
// it.

#include "compiler/dispatch/in_place.h"

#include "compiler/dispatch/host_sizes.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace alula::dispatch;

namespace {
class Chooser {
public:
  Chooser(const KernelGroup &group, ArrayRef<Value> inputs,
          ArrayRef<Value> outputs, HostSizes &sizes)
      : inputs(inputs), outputs(outputs), sizes(sizes),
        members(group.ops.begin(), group.ops.end()), last(group.getLast()),
        block(last->getBlock()) {}

  SmallVector<int64_t> choose() {
    SmallVector<int64_t> chosen(outputs.size(), -1);
    for (auto [output, input] : llvm::zip_equal(outputs, chosen)) {
      Value updated = getUpdated(cast<OpResult>(output));
      if (updated && isSameType(updated, output) && countUses(updated) == 1)
        input = find(updated, chosen);
    }
    if (outputs.size() == 1 && chosen[0] < 0 && isMap())
      for (auto [number, input] : llvm::enumerate(inputs))
        if (isSameType(input, outputs[0]) && isGivenUp(input) &&
            isReadAtIndex(input)) {
          chosen[0] = static_cast<int64_t>(number);
          break;
        }
    return chosen;
  }

private:
  /// The operand that an op changes a part of.
  static Value getUpdated(OpResult result) {
    Operation *op = result.getOwner();
    unsigned number = result.getResultNumber();
    if (number >= op->getNumOperands())
      return {};
    auto access = stablehlo::getAccess(op, number);
    bool isLoop =
        access == stablehlo::Access::Carried && stablehlo::isControlFlow(op);
    return isLoop || access == stablehlo::Access::Updated
               ? op->getOperand(number)
               : Value();
  }

  int64_t find(Value value, ArrayRef<int64_t> taken) {
    const auto *found = llvm::find(inputs, value);
    auto number = static_cast<int64_t>(found - inputs.begin());
    return found == inputs.end() || llvm::is_contained(taken, number) ? -1
                                                                      : number;
  }

  bool isSameType(Value a, Value b) {
    return a.getType() == b.getType() &&
           sizes.getDynamicDims(a) == sizes.getDynamicDims(b);
  }

  bool isMember(Operation *op) {
    Operation *ancestor = block->findAncestorOpInBlock(*op);
    return ancestor && members.contains(ancestor);
  }
  int64_t countUses(Value value) {
    return llvm::count_if(value.getUses(), [&](OpOperand &use) {
      return isMember(use.getOwner());
    });
  }

  /// Elements of the output are written one by one, each after all that it is
  /// made of has been read.
  bool isMap() {
    auto type = cast<RankedTensorType>(outputs[0].getType());
    return type.getRank() > 0 && llvm::all_of(members, [&](Operation *op) {
             return stablehlo::isElementwise(op) ||
                    stablehlo::readsOnly(op, stablehlo::Access::Repeated |
                                                 stablehlo::Access::Moved |
                                                 stablehlo::Access::Part);
           });
  }

  /// Whether element i of the output is made of no element of the input but i.
  bool isReadAtIndex(Value input) {
    SmallVector<Value> reached{input};
    DenseSet<Value> seen{input};
    while (!reached.empty())
      for (Operation *user : reached.pop_back_val().getUsers()) {
        if (!isMember(user))
          continue;
        if (!stablehlo::isElementwise(user) ||
            cast<RankedTensorType>(user->getResult(0).getType()).getShape() !=
                cast<RankedTensorType>(input.getType()).getShape())
          return false;
        if (seen.insert(user->getResult(0)).second)
          reached.push_back(user->getResult(0));
      }
    return true;
  }

  /// A value of the function's own that only this kernel reads, or an argument
  /// that makes way for the output after others have read it.
  bool isGivenUp(Value input) {
    auto argument = dyn_cast<BlockArgument>(input);
    if (argument && argument.getOwner() == block && becomesOutput(argument))
      return llvm::all_of(input.getUsers(), [&](Operation *user) {
        return isMember(user) ||
               block->findAncestorOpInBlock(*user)->isBeforeInBlock(last);
      });
    if (input.getParentBlock() != block ||
        !llvm::all_of(input.getUsers(),
                      [&](Operation *user) { return isMember(user); }))
      return false;
    if (Operation *maker = input.getDefiningOp())
      return !maker->hasTrait<mlir::OpTrait::ConstantLike>();
    return isa<stablehlo::WhileOp>(block->getParentOp());
  }

  /// An argument whose memory the output takes over at the function's end.
  bool becomesOutput(BlockArgument argument) {
    auto function = dyn_cast<func::FuncOp>(block->getParentOp());
    if (!function || !function.isPublic())
      return false;
    unsigned number = argument.getArgNumber();
    auto global = function.getArgAttr(number, "alula.global");
    auto named =
        function.getArgAttrOfType<IntegerAttr>(number, "tf.aliasing_output");
    for (OpOperand &use : outputs[0].getUses()) {
      if (!isa<func::ReturnOp>(use.getOwner()))
        continue;
      unsigned result = use.getOperandNumber();
      if ((global &&
           function.getResultAttr(result, "alula.global") == global) ||
          (named && named.getInt() == static_cast<int64_t>(result)))
        return true;
    }
    return false;
  }

  ArrayRef<Value> inputs, outputs;
  HostSizes &sizes;
  DenseSet<Operation *> members;
  Operation *last;
  Block *block;
};
} // namespace

SmallVector<int64_t> alula::dispatch::chooseInPlace(const KernelGroup &group,
                                                    ArrayRef<Value> inputs,
                                                    ArrayRef<Value> outputs,
                                                    HostSizes &sizes) {
  return Chooser(group, inputs, outputs, sizes).choose();
}
