//===- passes.td - passes of the schedule room ----------------------------===//

include "mlir/Pass/PassBase.td"

def SplitCollectives
    : Pass<"schedule-split-collectives", "::mlir::ModuleOp"> {
  let summary = "starts collectives early and waits for them late";
  let description = [{
    A start stands right behind what makes its operand, but keeps its place among
    the starts of its block; an end stands right before the first use. All
    devices run the same program, so the order is theirs as well.
  }];
  let dependentDialects = ["::alula::dispatch::DispatchDialect"];
}

def RunTogether : Pass<"schedule-run-together", "::mlir::ModuleOp"> {
  let summary = "puts launches side by side that leave cores without work";
  let description = [{
    A launch with fewer workgroups than there are cores, and which needs nothing
    of a few launches before it that are like it, moves up to them and is marked
    `dispatch.beside`: from then on they are one step of the schedule.
  }];
}

def ConvertTensorsToCommands
    : Pass<"schedule-convert-tensors-to-commands", "::mlir::ModuleOp"> {
  let summary = "places values and turns host functions into commands";
  let dependentDialects = ["::alula::dispatch::DispatchDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def VerifyScheduleOutput
    : Pass<"schedule-verify-output", "::mlir::ModuleOp"> {
  let summary = "checks that host functions are commands that can be emitted";
}
