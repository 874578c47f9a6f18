//===- passes.td - passes of the partition room ---------------------------===//

include "mlir/Pass/PassBase.td"

def ImportShardings : Pass<"partition-import-shardings", "::mlir::ModuleOp"> {
  let summary = "says shardings of ops in ops";
  let description = [{
    `sdy.sharding` and `mhlo.sharding` of an op become a constraint on its
    results, and so does `custom_call @Sharding`. Arguments and results of `main`
    keep what they say.
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def PropagateShardings
    : Pass<"partition-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "finds a sharding for each value that has none";
  let description = [{
    Shardings flow along the ops, both ways, and across loops, branches and
    manual computations. Each op says then in `sdy.sharding` how its results are
    split, if they are; constraints become `sdy.reshard`; arguments and results
    of `main` that nobody has said anything of are split along whole axes, evenly.
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect",
                           "::mlir::stablehlo::StablehloDialect"];
}

def MakeLocal : Pass<"partition-make-local", "::mlir::ModuleOp"> {
  let summary = "turns a program over all devices into the one of each device";
  let description = [{
    Each op computes its pieces, as its operands lie and its results are wanted,
    with collectives where pieces are elsewhere. Ops that have no rule are
    computed whole on each device. Bodies of `sdy.manual_computation` stand in
    the function. The module says how arguments and results lie:
    `mhlo.spmd_parameters_shardings` and `mhlo.spmd_output_sharding`.
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect",
                           "::mlir::stablehlo::StablehloDialect"];
}

def FuseCollectives : Pass<"partition-fuse-collectives", "::mlir::ModuleOp"> {
  let summary = "makes one sum of several small ones over the same devices";
  let description = [{
    Of `all_reduce`s of one block that don't need each other, up to 128 KB each
    and 1 MB together. What uses the first ones goes behind the last one.
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

def WidenPacked : Pass<"partition-widen-packed", "::mlir::ModuleOp"> {
  let summary = "gives elements of 2 and 4 bits a byte each in collectives";
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

def ResolveLayouts : Pass<"partition-resolve-layouts", "::mlir::ModuleOp"> {
  let summary = "chooses the layouts that the program leaves open";
  let description = [{
    Of the arguments and results of `main`: where `mhlo.layout_mode` is "auto",
    it becomes the order of dimensions that costs nothing; modes that mean
    row-major go away.
  }];
}

def LowerLayouts : Pass<"partition-lower-layouts", "::mlir::ModuleOp"> {
  let summary = "makes arguments and results arrays as they lie in memory";
  let description = [{
    What `mhlo.layout_mode` says of `main` is followed: the dimensions of types
    are in the order in which they lie, and a transpose in the program restores
    the program's own. An argument gives its memory only to a result of the same
    layout.
  }];
  let options = [Option<"physical", "physical", "bool", "true",
                        "else the modes are only taken away">];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

def LowerCollectives
    : Pass<"partition-lower-collectives", "::mlir::ModuleOp"> {
  let summary = "turns collectives into exchanges of blocks and computation";
  let description = [{
    `dispatch.collective` has groups of participants, which are counted partition
    by partition of replica 0, then of replica 1, and so on; numbers of replicas
    and partitions follow from `dispatch.participant`. Reductions that are no
    single op of two elements, or of types that engines don't reduce, are folded
    by ops on what members gather.
  }];
  let dependentDialects = ["::alula::dispatch::DispatchDialect",
                           "::mlir::stablehlo::StablehloDialect"];
}
