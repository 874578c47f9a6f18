//===- passes.td - passes of the schedule room ----------------------------===//

include "mlir/Pass/PassBase.td"

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
