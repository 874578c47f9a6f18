//===- interpreter.td - ops that only an interpreter has ------------------===//

#ifndef ALULA_REFERENCE_INTERPRETER
#define ALULA_REFERENCE_INTERPRETER

include "mlir/IR/OpBase.td"

def Interpreter_Dialect : Dialect {
  let name = "interpreter";
  let cppNamespace = "::alula::reference::interpreter";
  let summary = "grids of processes, prints and probes";
}

class Interpreter_Op<string mnemonic> : Op<Interpreter_Dialect, mnemonic>;

def Interpreter_RunParallelOp : Interpreter_Op<"run_parallel"> {
  let summary = "runs a function for each process of a grid";
  let description = [{
    `programs` has a row for each replica and a column for each partition.
    Inputs and results are those of all processes, one after the other.
    `infeed` names the functions whose results infeeds give, in order.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs,
                       OptionalAttr<ArrayAttr>:$infeed, ArrayAttr:$programs);
  let results = (outs Variadic<AnyType>:$results);
  let hasVerifier = 1;
}

def Interpreter_PrintOp : Interpreter_Op<"print"> {
  let summary = "prints a tensor";
  let arguments = (ins AnyType:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Interpreter_ProbeOp : Interpreter_Op<"probe"> {
  let summary = "keeps a copy of a tensor under a name and passes it on";
  let arguments = (ins AnyType:$operand, StrAttr:$probe_id);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $operand `,` `probe_id` `=` $probe_id attr-dict
        `:` custom<SameType>(type($operand), type($result))
  }];
}

#endif
