// The order of the room's passes.

#include "compiler/input/pipeline.h"
#include "compiler/input/passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

void alula::input::addInputPipeline(OpPassManager &manager,
                                    const PipelineOptions &options) {
  // Tuples first: nothing after it looks through them.
  manager.addPass(createInputLowerTuple());
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
  // After refinement, which gives decompositions their types, and before chlo,
  // which decompositions may hold.
  InputLowerCompositeOptions composite;
  composite.keptNames = options.keptComposites;
  manager.addPass(createInputLowerComposite(composite));
  manager.addPass(createInputLowerKnownCall());
  if (options.dynamicShapes)
    manager.addPass(createInputLowerDynamicCall());
  manager.addPass(createInputConvertChloToStablehlo());
  InputLowerDeprecatedOptions deprecated;
  deprecated.dynamicShapes = options.dynamicShapes;
  manager.addPass(createInputLowerDeprecated(deprecated));
  // After chlo and deprecated ops, which may be quantized too.
  if (options.lowerQuantized) {
    manager.addPass(createInputLowerQuantized());
    manager.addPass(createInputLowerBatchNorm());
    manager.addPass(createInputLowerAsync());
  }
  if (options.verify) {
    InputVerifyInputOutputOptions verify;
    verify.keptNames = options.keptComposites;
    verify.plainTypes = options.lowerQuantized;
    verify.dynamicShapes = options.dynamicShapes;
    manager.addPass(createInputVerifyInputOutput(verify));
  }
}
