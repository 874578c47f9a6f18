//===- passes.td - passes of the partition room ---------------------------===//

include "mlir/Pass/PassBase.td"

def MakeLocal : Pass<"partition-make-local", "::mlir::ModuleOp"> {
  let summary = "turns a program over all devices into the one of each device";
  let description = [{
    Bodies of `sdy.manual_computation` stand in the function; what is outside of
    them every device computes as a whole, and arrays that come in pieces are
    gathered for it. The module says how arguments and results lie:
    `mhlo.spmd_parameters_shardings` and `mhlo.spmd_output_sharding`.
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect",
                           "::mlir::stablehlo::StablehloDialect"];
}

def WidenPacked : Pass<"partition-widen-packed", "::mlir::ModuleOp"> {
  let summary = "gives elements of 2 and 4 bits a byte each in collectives";
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

def LowerCollectives
    : Pass<"partition-lower-collectives", "::mlir::ModuleOp"> {
  let summary = "turns collectives into exchanges and computation";
  let description = [{
    `stablehlo.custom_call @alula.exchange(%x)` gives arrays of other
    participants, stacked along a new first dimension. Its configuration are
    numbers: which exchange it is, how many participants there are, how many
    arrays each one gets, and for each participant whose they are, -1 for zeros.
    `@alula.participant` is the participant's own number. Participants are
    counted partition by partition of replica 0, then of replica 1, and so on.
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}
