// Checks the exit of the schedule room: no tensor is left, every slot is its
// function's and in range, nothing read-only is written, every call of a kernel
// binds what its entry asks for.

#include "compiler/schedule/passes.h"

#include "dialect/dispatch/collectives.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"

namespace alula::schedule {
#define GEN_PASS_DEF_VERIFYSCHEDULEOUTPUT
#include "compiler/schedule/passes.h.inc"
} // namespace alula::schedule

using namespace mlir;
using namespace alula::dispatch;

namespace {
class Verifier {
public:
  Verifier(func::FuncOp function, SymbolTableCollection &symbols)
      : function(function), symbols(symbols) {
    if (auto bytes =
            function->getAttrOfType<IntegerAttr>("dispatch.arena_bytes"))
      arenaBytes = bytes.getInt();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto alias =
              function.getResultAttrOfType<IntegerAttr>(i, "dispatch.alias"))
        aliased.insert(alias.getInt());
  }

  LogicalResult run() {
    if (!function.getBody().hasOneBlock() ||
        !isa<alula::dispatch::ReturnOp>(function.front().getTerminator()))
      return function.emitError()
             << "'func.func': body must be a block of commands: @"
             << function.getSymName();
    WalkResult result = function.walk([&](Operation *op) {
      return failed(verify(op)) ? WalkResult::interrupt()
                                : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

private:
  LogicalResult verify(Operation *op) {
    bool isCommand =
        isa<func::FuncOp, SlotOp, alula::dispatch::ConstantOp,
            alula::dispatch::GlobalOp, CheckGlobalOp, DefineGlobalOp, RunOp,
            alula::dispatch::CallOp, CustomCallOp, StartCollectiveOp,
            AwaitCollectiveOp, ParticipantOp, LoadOp, ArgumentDimOp,
            BindResultOp, AllocOp, FreeOp, SwapOp, CopyOp,
            alula::dispatch::ReturnOp, scf::WhileOp, scf::ConditionOp,
            scf::IfOp, scf::IndexSwitchOp, scf::YieldOp, AssertOp, cf::AssertOp,
            UnrealizedConversionCastOp>(op) ||
        isa<arith::ArithDialect>(op->getDialect());
    if (!isCommand)
      return op->emitError()
             << "'" << op->getName().getStringRef() << "': no command for it";
    for (Value operand : op->getOperands())
      if (isa<TensorType>(operand.getType()))
        return op->emitError() << "'" << op->getName().getStringRef()
                               << "': a tensor is left: " << operand.getType();
    if (auto slot = dyn_cast<SlotOp>(op))
      return verifySlot(slot);
    if (auto run = dyn_cast<RunOp>(op))
      return verifyRun(run);
    if (auto copy = dyn_cast<CopyOp>(op))
      return verifyWritten(op, copy.getTarget());
    if (auto start = dyn_cast<StartCollectiveOp>(op))
      return verifyWritten(op, start.getResult());
    if (auto call = dyn_cast<CustomCallOp>(op)) {
      for (Value output : call.getOutputs())
        if (failed(verifyWritten(op, output)))
          return failure();
      return success();
    }
    if (auto swap = dyn_cast<SwapOp>(op)) {
      for (Value side : swap->getOperands())
        if (!isKind(side, SlotKind::Local) && !isKind(side, SlotKind::Arena))
          return op->emitError()
                 << "'dispatch.swap': slots must be local or in "
                    "the arena";
      return success();
    }
    if (auto alloc = dyn_cast<AllocOp>(op))
      return verifyLocal(op, alloc.getSlot());
    if (auto free = dyn_cast<FreeOp>(op))
      return verifyLocal(op, free.getSlot());
    return success();
  }

  LogicalResult verifySlot(SlotOp slot) {
    auto number = static_cast<int64_t>(slot.getNumber());
    auto bytes = static_cast<int64_t>(slot.getBytes());
    bool fits = true;
    switch (slot.getKind()) {
    case SlotKind::Argument:
      fits = number >= 0 && number < function.getNumArguments();
      break;
    case SlotKind::Result:
      fits = number >= 0 && number < function.getNumResults();
      break;
    case SlotKind::Arena:
      fits = number >= 0 && bytes >= 0 && number <= arenaBytes &&
             bytes <= arenaBytes - number;
      break;
    case SlotKind::Local:
      break;
    }
    if (!fits)
      return slot.emitError()
             << "'dispatch.slot': out of range: "
             << stringifySlotKind(slot.getKind()) << " " << number;
    return success();
  }

  LogicalResult verifyRun(RunOp run) {
    auto entry =
        symbols.lookupNearestSymbolFrom<EntryOp>(run, run.getEntryAttr());
    for (auto [access, binding] : llvm::zip_equal(
             entry.getBindings().getAsRange<AccessAttr>(), run.getBindings()))
      if (access.getValue() != Access::Read &&
          failed(verifyWritten(run, binding)))
        return failure();
    return success();
  }

  LogicalResult verifyWritten(Operation *op, Value value) {
    if (auto slot = value.getDefiningOp<alula::dispatch::GlobalOp>()) {
      auto global = symbols.lookupNearestSymbolFrom<ml_program::GlobalOp>(
          function, slot.getGlobalAttr());
      if (global && global.getIsMutable())
        return success();
    }
    auto slot = value.getDefiningOp<SlotOp>();
    bool isWritable =
        slot && (slot.getKind() != SlotKind::Argument ||
                 aliased.contains(static_cast<int64_t>(slot.getNumber())));
    if (isWritable)
      return success();
    return op->emitError() << "'" << op->getName().getStringRef()
                           << "': writes to a slot that is read-only";
  }

  LogicalResult verifyLocal(Operation *op, Value value) {
    if (isKind(value, SlotKind::Local))
      return success();
    return op->emitError() << "'" << op->getName().getStringRef()
                           << "': slot must be local";
  }

  static bool isKind(Value value, SlotKind kind) {
    auto slot = value.getDefiningOp<SlotOp>();
    return slot && slot.getKind() == kind;
  }

  func::FuncOp function;
  SymbolTableCollection &symbols;
  int64_t arenaBytes = 0;
  llvm::SmallDenseSet<int64_t> aliased;
};

struct VerifyScheduleOutput
    : public alula::schedule::impl::VerifyScheduleOutputBase<
          VerifyScheduleOutput> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(Verifier(function, symbols).run()))
        return signalPassFailure();
  }
};
} // namespace
