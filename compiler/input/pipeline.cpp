// The order of the room's passes.

#include "compiler/input/pipeline.h"
#include "compiler/input/passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace alula::input {
// One function for each kind of program: afterwards functions have their names,
// whoever wrote them, and all of chlo is still there.
static void addNormalize(OpPassManager &manager,
                         const PipelineOptions &options) {
  // Before all: nothing after it knows the dialects that this one reads.
  manager.addPass(createInputLowerShape());
  // Then tuples: nothing after it looks through them.
  manager.addPass(createInputLowerTuple());
  // Then signatures are those of calls.
  manager.addPass(createInputLowerSparse());
  manager.addPass(createInputStripSharding());
  if (!options.argumentTypes.empty()) {
    InputRefineArgumentsOptions refine;
    refine.typeTexts = options.argumentTypes;
    refine.functionName = "main";
    manager.addPass(createInputRefineArguments(refine));
  }
  // After the arguments of a call have met those of the program.
  manager.addPass(createInputLowerGlobals());
  manager.addPass(createInputRefineShapes());
  InputCheckShapeAssertionsOptions assertions;
  assertions.keepUnknown = options.dynamicShapes;
  manager.addPass(createInputCheckShapeAssertions(assertions));
  manager.addPass(createInputLowerKnownCall());
  if (options.dynamicShapes)
    manager.addPass(createInputLowerDynamicCall());
  // The calls that are left are made as they are.
  manager.addPass(createInputMaterializeCallLayouts());
  // Before composites are taken apart.
  InputRaiseFunctionsOptions raise;
  raise.keptNames = options.keptComposites;
  manager.addPass(createInputRaiseFunctions(raise));
}

// Afterwards there is nothing but stablehlo, and functions that the other rooms
// know by name.
static void addLower(OpPassManager &manager, const PipelineOptions &options) {
  // After refinement, which gives decompositions their types, and before chlo,
  // which decompositions may hold.
  InputLowerCompositeOptions composite;
  composite.keptNames = options.keptComposites;
  manager.addPass(createInputLowerComposite(composite));
  InputConvertChloToStablehloOptions chlo;
  chlo.keepFunctions = options.keepFunctions;
  chlo.raggedCalls = options.raggedCalls;
  manager.addPass(createInputConvertChloToStablehlo(chlo));
  InputLowerDeprecatedOptions deprecated;
  deprecated.dynamicShapes = options.dynamicShapes;
  manager.addPass(createInputLowerDeprecated(deprecated));
  // After chlo and deprecated ops, which may be quantized too.
  if (options.lowerQuantized) {
    manager.addPass(createInputLowerQuantized());
    manager.addPass(createInputLowerBatchNorm());
    manager.addPass(createInputLowerAsync());
  }
}
} // namespace alula::input

void alula::input::addFormulas(OpPassManager &manager) {
  manager.addPass(createInputConvertChloToStablehlo());
}

void alula::input::addPortableForm(OpPassManager &manager) {
  manager.addPass(createInputConvertChloToComposite());
  // What no composite stands for.
  manager.addPass(createInputConvertChloToStablehlo());
}

void alula::input::addInputPipeline(OpPassManager &manager,
                                    const PipelineOptions &options) {
  addNormalize(manager, options);
  addLower(manager, options);
  if (options.verify) {
    InputVerifyInputOutputOptions verify;
    verify.keptNames = options.keptComposites;
    verify.plainTypes = options.lowerQuantized;
    verify.dynamicShapes = options.dynamicShapes;
    manager.addPass(createInputVerifyInputOutput(verify));
  }
}
