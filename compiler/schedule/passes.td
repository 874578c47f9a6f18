//===- passes.td - passes of the schedule room ----------------------------===//

include "mlir/Pass/PassBase.td"

def AssignPlaces : Pass<"schedule-assign-places", "::mlir::func::FuncOp"> {
  let summary = "gives each result of a launch its memory";
  let dependentDialects = ["::alula::dispatch::DispatchDialect"];
}
