//===- passes.td - the passes of the input room ---------------------------===//

#ifndef ALULA_COMPILER_INPUT_PASSES
#define ALULA_COMPILER_INPUT_PASSES

include "mlir/Pass/PassBase.td"

class InputPass<string flag, string text>
    : Pass<"input-" # flag, "::mlir::ModuleOp"> {
  let summary = text;
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

class KeptNames<string text>
    : ListOption<"keptNames", "keep", "std::string", text>;

def InputConvertChloToStablehlo
    : InputPass<"convert-chlo-to-stablehlo",
                "say chlo ops in stablehlo, but for named functions"> {
  let options = [
    Option<"keepFunctions", "keep-functions", "bool", "false",
           "leave special functions of static shape that no constants make">,
    Option<"raggedCalls", "ragged-calls", "bool", "false",
           "say ragged_dot by calls that multiply group by group">,
  ];
}

def InputConvertChloToComposite
    : InputPass<"convert-chlo-to-composite",
                "say chlo's functions in composites of their names"> {
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::stablehlo::StablehloDialect"];
}

def InputRaiseFunctions
    : InputPass<"raise-functions",
                "give functions that are spelled out their name again"> {
  let dependentDialects = ["::mlir::chlo::ChloDialect",
                           "::mlir::stablehlo::StablehloDialect"];
  let options = [KeptNames<"names of composites to leave">];
}

def InputRefineArguments
    : InputPass<"refine-arguments",
                "give the arguments of a function the types of a call"> {
  let options = [
    ListOption<"typeTexts", "types", "std::string",
               "the type of each argument">,
    Option<"functionName", "function", "std::string", "\"main\"",
           "the function; the only one if none has the name">,
  ];
}

def InputLowerGlobals
    : InputPass<"lower-globals", "say globals in arguments and results"> {
  let dependentDialects = ["::mlir::ml_program::MLProgramDialect",
                           "::mlir::stablehlo::StablehloDialect"];
}

def InputRefineShapes
    : InputPass<"refine-shapes",
                "make a program static as far as its arguments tell"> {
  let dependentDialects = ["::mlir::chlo::ChloDialect",
                           "::mlir::stablehlo::StablehloDialect"];
}

def InputCheckShapeAssertions
    : InputPass<"check-shape-assertions",
                "check what the program says about its shapes"> {
  let options = [
    Option<"keepUnknown", "keep-unknown", "bool", "false",
           "leave what is only known when the program runs">,
  ];
}

def InputCheckCallSizes
    : InputPass<"check-call-sizes",
                "check that a program stays small without calls"> {
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let options = [
    Option<"maxOps", "max-ops", "uint64_t", "262144",
           "the most operations of a function with all that it calls">,
  ];
}

def InputInlineCalls
    : InputPass<"inline-calls", "put functions in place of their calls"> {
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def InputLowerComposite
    : InputPass<"lower-composite", "call the decompositions of composites"> {
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let options = [KeptNames<"names of composites to leave">];
}

def InputLowerDeprecated
    : InputPass<"lower-deprecated",
                "say deprecated ops in those of the specification"> {
  let options = [
    Option<"dynamicShapes", "dynamic-shapes", "bool", "false",
           "leave slices whose edges are not constant">,
  ];
}

def InputLowerDynamicCall
    : InputPass<"lower-dynamic-call",
                "say calls that stand for dynamic ops in ops">;

def InputLowerAsync
    : InputPass<"lower-async",
                "do at once what a program starts and waits for later">;

def InputLowerBatchNorm
    : InputPass<"lower-batch-norm",
                "say batch normalization in arithmetic and sums">;

def InputLowerKnownCall
    : InputPass<"lower-known-call",
                "say custom calls that mean the same everywhere in ops"> {
  let dependentDialects = ["::mlir::chlo::ChloDialect",
                           "::mlir::stablehlo::StablehloDialect"];
}

def InputMaterializeCallLayouts
    : InputPass<"materialize-call-layouts",
                "say layouts of custom calls in transposes">;

def InputLowerQuantized
    : InputPass<"lower-quantized",
                "say quantized types in integers and floats">;

def InputLowerShape
    : InputPass<"lower-shape",
                "say what arith, tensor, shape and cf do with sizes in "
                "stablehlo">;

def InputLowerSparse
    : InputPass<"lower-sparse",
                "say tensors with a sparse encoding in arrays and lists">;

def InputLowerTuple : InputPass<"lower-tuple", "take tuples apart">;

def InputStripSharding
    : InputPass<"strip-sharding",
                "take away what means nothing on one device">;

def InputVerifyInputOutput
    : InputPass<"verify-input-output", "check the output of the room"> {
  let options = [
    KeptNames<"names of composites that may stay">,
    Option<"plainTypes", "plain-types", "bool", "false",
           "no quantized types either">,
    Option<"dynamicShapes", "dynamic-shapes", "bool", "false",
           "shapes may be dynamic">,
  ];
}

#endif
