//===- passes.td - passes of plans ----------------------------------------===//

include "mlir/Pass/PassBase.td"

class PlanPass<string name> : Pass<name, "::alula::dispatch::ExecutableOp">;

def AssignPlans : PlanPass<"kernel-assign-plans"> {
  let summary = "decides how kernels are computed, and says so on their ops";
  let dependentDialects = ["::alula::plan::PlanDialect"];
}

def VerifyPlans : PlanPass<"kernel-verify-plans"> {
  let summary = "checks that kernels can be computed as they are planned";
}
