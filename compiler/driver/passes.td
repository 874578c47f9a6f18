//===- passes.td - passes for trying the driver out -----------------------===//

include "mlir/Pass/PassBase.td"

def TestFail : Pass<"driver-test-fail", "::mlir::ModuleOp"> {
  let summary = "fails as it is told, to see what becomes of a failure";
  let options = [Option<"how", "how", "std::string", [{"say"}],
                        "say: with an error; silent: without; crash; invalid: by what it leaves">];
}
