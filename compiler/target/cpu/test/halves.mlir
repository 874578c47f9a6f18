// The optimizer makes these operations on halves, which LLVM would do number by
// number: they are vectors of floats again.
// RUN: rm -rf %t && alula-compile %s --target=cpu:x86-64-v3 -o %t.alula --dump-executable-intermediates-to=%t
// RUN: cat %t/*many*.s | FileCheck %s
// CHECK-NOT: ucomiss
// CHECK-NOT: {{(round|sqrt)ss}}
// CHECK: vroundps
// CHECK-NOT: ucomiss
// CHECK-NOT: {{(round|sqrt)ss}}
// RUN: alula-run %t.alula --function=few --input='8xf16=-1.5,2.5,-0,nan,inf,0.25,-7.9,65504' --input='8xf16=1,2.5,0,1,-inf,nan,-8,65504' --expected_output=8xf16=-2,2,-0,nan,inf,0,-8,65504 --expected_output=8xf16=1,2.5,0,nan,inf,nan,-7.9,65504
func.func @many(%x: tensor<1024xf16>, %y: tensor<1024xf16>) -> (tensor<1024xf16>, tensor<1024xf16>, tensor<1024xf16>) {
  %0 = stablehlo.floor %x : tensor<1024xf16>
  %1 = stablehlo.maximum %x, %y : tensor<1024xf16>
  %2 = stablehlo.sqrt %y : tensor<1024xf16>
  return %0, %1, %2 : tensor<1024xf16>, tensor<1024xf16>, tensor<1024xf16>
}
func.func @few(%x: tensor<8xf16>, %y: tensor<8xf16>) -> (tensor<8xf16>, tensor<8xf16>) {
  %0 = stablehlo.floor %x : tensor<8xf16>
  %1 = stablehlo.maximum %x, %y : tensor<8xf16>
  return %0, %1 : tensor<8xf16>, tensor<8xf16>
}
