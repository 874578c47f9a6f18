// Floats become integers in vectors; what is out of range the nearest, NaN 0.
// RUN: rm -rf %t && alula-compile %s --target=cpu:x86-64-v3 -o %t.alula --dump-executable-intermediates-to=%t
// RUN: cat %t/*many*.s | FileCheck %s
// CHECK-NOT: cvttss2si
// CHECK: vcvttps2dq
// CHECK-NOT: cvttss2si
// RUN: alula-run %t.alula --function=few --input='8xf32=-1.9,127.9,-129,nan,inf,255.7,-inf,40000' --expected_output=8xi8=-1,127,-128,0,127,127,-128,127 --expected_output=8xui8=0,127,0,0,255,255,0,255 --expected_output=8xi16=-1,127,-129,0,32767,255,-32768,32767
// RUN: alula-compile %s --target=cpu:host -o %t.alula
// RUN: alula-run %t.alula --function=few --input='8xf32=-1.9,127.9,-129,nan,inf,255.7,-inf,40000' --expected_output=8xi8=-1,127,-128,0,127,127,-128,127 --expected_output=8xui8=0,127,0,0,255,255,0,255 --expected_output=8xi16=-1,127,-129,0,32767,255,-32768,32767
// RUN: alula-run %t.alula --function=many --input=1024xf32=-7.5 --expected_output=1024xi8=-7 --expected_output=1024xui16=0 --expected_output=1024xi32=-7 --expected_output=1024xui32=0
// RUN: alula-run %t.alula --function=many --input=1024xf32=nan --expected_output=1024xi8=0 --expected_output=1024xui16=0 --expected_output=1024xi32=0 --expected_output=1024xui32=0
// RUN: alula-run %t.alula --function=many --input=1024xf32=3e9 --expected_output=1024xi8=127 --expected_output=1024xui16=65535 --expected_output=1024xi32=2147483647 --expected_output=1024xui32=3000000000
// RUN: alula-run %t.alula --function=many --input=1024xf32=inf --expected_output=1024xi8=127 --expected_output=1024xui16=65535 --expected_output=1024xi32=2147483647 --expected_output=1024xui32=4294967295
// RUN: alula-run %t.alula --function=many --input=1024xf32=-inf --expected_output=1024xi8=-128 --expected_output=1024xui16=0 --expected_output=1024xi32=-2147483648 --expected_output=1024xui32=0
func.func @many(%x: tensor<1024xf32>) -> (tensor<1024xi8>, tensor<1024xui16>, tensor<1024xi32>, tensor<1024xui32>) {
  %0 = stablehlo.convert %x : (tensor<1024xf32>) -> tensor<1024xi8>
  %1 = stablehlo.convert %x : (tensor<1024xf32>) -> tensor<1024xui16>
  %2 = stablehlo.convert %x : (tensor<1024xf32>) -> tensor<1024xi32>
  %3 = stablehlo.convert %x : (tensor<1024xf32>) -> tensor<1024xui32>
  return %0, %1, %2, %3 : tensor<1024xi8>, tensor<1024xui16>, tensor<1024xi32>, tensor<1024xui32>
}
func.func @few(%x: tensor<8xf32>) -> (tensor<8xi8>, tensor<8xui8>, tensor<8xi16>) {
  %0 = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xi8>
  %1 = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xui8>
  %2 = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xi16>
  return %0, %1, %2 : tensor<8xi8>, tensor<8xui8>, tensor<8xi16>
}
