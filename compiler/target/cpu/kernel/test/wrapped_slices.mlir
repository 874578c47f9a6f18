// RUN: alula-compile --target=cpu:host %s --compile-to=kernel -o - | FileCheck %s

// Which row is asked once, for a loop that ends where the pieces of a row do.
// CHECK-LABEL: func.func @ring_0(
// CHECK: scf.parallel (%[[ROW:.*]]) =
// CHECK-NEXT: scf.parallel (%[[J:.*]]) = (%c0) to (%c399) step (%c1)
// CHECK: arith.cmpi ult, %[[ROW]], %c1
// CHECK: arith.select
// CHECK-NOT: scf.if
// CHECK: memref.load %{{.*}}[%{{.*}}, %[[J]]]
// CHECK: memref.store
// CHECK: scf.reduce
// CHECK: memref.load %{{.*}}[%{{.*}}, %c399]
// CHECK: memref.load %{{.*}}[%[[ROW]], %c0]
// CHECK: memref.store %{{.*}}[%[[ROW]], %c399]
// CHECK-NOT: scf.if
// CHECK: return
func.func @ring(%x: tensor<300x400xf32>) -> tensor<300x400xf32> {
  %0 = stablehlo.slice %x [299:300, 0:400] : (tensor<300x400xf32>) -> tensor<1x400xf32>
  %1 = stablehlo.slice %x [0:299, 0:400] : (tensor<300x400xf32>) -> tensor<299x400xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x400xf32>, tensor<299x400xf32>) -> tensor<300x400xf32>
  %3 = stablehlo.slice %x [0:300, 1:400] : (tensor<300x400xf32>) -> tensor<300x399xf32>
  %4 = stablehlo.slice %x [0:300, 0:1] : (tensor<300x400xf32>) -> tensor<300x1xf32>
  %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<300x399xf32>, tensor<300x1xf32>) -> tensor<300x400xf32>
  %6 = stablehlo.add %2, %5 : tensor<300x400xf32>
  return %6 : tensor<300x400xf32>
}
