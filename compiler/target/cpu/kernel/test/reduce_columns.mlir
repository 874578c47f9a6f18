// RUN: rm -rf %t && mkdir %t
// RUN: alula-compile --target=cpu:host %s -o %t.alula --dump-executable-configs-to=%t
// RUN: cat %t/*main*.config.mlir | FileCheck %s
// RUN: alula-run %t.alula --function=main --input=19x2000xf32=0.5 --expected_output=2000xf32=10.5
// RUN: alula-run %t.alula --function=few --input=3x2xi32=1,2,30,40,5,6 --expected_output=2xi32=36,48

// Four blocks of 512 columns, one for each thread: three rows, then twice eight,
// and what follows the sum.
// CHECK: workgroups [4, 1, 1] scratch 2048
// CHECK: scf.parallel
// CHECK:   arith.minsi
// CHECK:   scf.parallel
// CHECK-COUNT-3: memref.load
// CHECK:     memref.store
// CHECK:   scf.for {{.*}} = %c0 to %c2
// CHECK:     scf.parallel
// CHECK-COUNT-9: memref.load
// CHECK-NOT:   memref.load
// CHECK:       memref.store
// CHECK:   scf.parallel
// CHECK:     memref.load
// CHECK:     arith.addf
// CHECK:     memref.store
// CHECK-NOT: scf.parallel

module {
func.func @main(%x: tensor<19x2000xf32>) -> tensor<2000xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<2000xf32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<19x2000xf32>, tensor<f32>) -> tensor<2000xf32>
  %1 = stablehlo.add %0, %one : tensor<2000xf32>
  return %1 : tensor<2000xf32>
}

// No state is written.
func.func @few(%x: tensor<3x2xi32>) -> tensor<2xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3x2xi32>, tensor<i32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
}
