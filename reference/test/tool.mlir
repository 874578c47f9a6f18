// Inputs, outputs and comparisons of the tool.
// RUN: alula-interpret %s --input=2x2xbf16=1,2,3,4 --output=- | FileCheck %s
// RUN: alula-interpret %s --input=2x2xbf16=1,2,3,4 --expected_output=2x2xbf16=2,4,6,8
// RUN: alula-interpret %s --input=2x2xbf16=1,2,3,4 --output=%t.npy
// RUN: alula-interpret %s --input=2x2xbf16=@%t.npy --output=- | FileCheck %s --check-prefix=TWICE
// RUN: alula-interpret %s --args="[dense<1.5> : tensor<2x2xbf16>]" | FileCheck %s --check-prefix=LINES
// RUN: printf '%%s\t--input=2x2xbf16=1\n%%s\t--input=i8=1\n' %s %s > %t.list
// RUN: not alula-interpret --batch=%t.list | FileCheck %s --check-prefix=BATCH
// RUN: not alula-interpret %s 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not alula-interpret %s --input=4xf32=1 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not alula-interpret %s --input=2x2xbf16=1 --expected_output=2x2xbf16=2,2,2,3 2>&1 | FileCheck %s --check-prefix=DIFFERENT
// RUN: not alula-interpret %s --function=other 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not alula-interpret %s --what 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not alula-interpret %s --args=3 2>&1 | FileCheck %s --check-prefix=ARGS

// CHECK: 2x2xbf16={{\[\[}}2,4],[6,8]]
// TWICE: 2x2xbf16={{\[\[}}4,8],[12,16]]
// LINES: tensor<2x2xbf16> {
// LINES-NEXT: [
// LINES-NEXT: [3.000000e+00, 3.000000e+00],
// BATCH: PASS{{.*}}tool.mlir
// BATCH-NEXT: FAIL{{.*}}tool.mlir{{.*}}error: --input=i8=1: the argument is tensor<2x2xbf16>, the input is i8
// FEW: error: @main needs more than 0 inputs
// TYPE: error: --input=4xf32=1: the argument is tensor<2x2xbf16>, the input is 4xf32
// DIFFERENT: result 0: at index [1,1]: expected 3, got 2
// NAME: error: no function @other in the program
// OPTION: alula-interpret: error: unknown option '--what'; --help lists them
// ARGS: error: --args must be an array of dense attributes: 3
func.func @main(%a: tensor<2x2xbf16>) -> tensor<2x2xbf16> {
  %0 = stablehlo.add %a, %a : tensor<2x2xbf16>
  return %0 : tensor<2x2xbf16>
}
