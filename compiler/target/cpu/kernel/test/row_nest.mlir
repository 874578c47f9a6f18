// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=softmax --input=2x2xf32=0,0,-100,0 --expected_output=2x2xf32=0.5,0.5,3.7835e-44,1
// RUN: alula-run %t.alula --function=seen_outside --input=2x3xf32=1,2,3,4,5,6 --expected_output=2x3xf32=-1,0,1,-1,0,1 --expected_output=2xf32=2,5 --expected_output=3x2xf32=-2,-2,0,0,2,2 --expected_output=2x3xf32=0,0,2,0,0,2
// RUN: alula-run %t.alula --function=pairs --input=2x3xi32=5,9,9,-1,-4,-1 --expected_output=2x3xi32=-4,0,0,0,-3,0 --expected_output=2xi32=10,-1
// RUN: alula-run %t.alula --function=planes --input=1x2x2x2xf32=1,2,3,4,5,6,7,8 --expected_output=1x2x4xf32=9,8,7,6,21,20,19,18
// RUN: alula-run %t.alula --function=centred --input=2x4xf32=1,2,3,4,0,0,0,1 --expected_output=2x4xf32=-2070,-1840,-1610,-1380,-3,-3,-3,0
// RUN: rm -rf %t && mkdir %t
// RUN: alula-compile --target=cpu:host %s -o %t.alula --dump-executable-configs-to=%t
// RUN: cat %t/*softmax*.config.mlir | FileCheck %s
// RUN: cat %t/*centred*.config.mlir | FileCheck %s --check-prefix=AGAIN

// What is kept is summed up at once: one exponential in the loop of the sum.
// CHECK: arith.maximumf
// CHECK: scf.for
// CHECK: call @alula_exp_f32
// CHECK-NEXT: memref.store
// CHECK-NEXT: memref.load
// CHECK-NEXT: arith.addf
// CHECK-NOT: alula_exp_f32
// CHECK: arith.divf

// A difference is not worth keeping: both loops that read it compute it.
// AGAIN: scf.for
// AGAIN: arith.subf
// AGAIN-NOT: memref.store
// AGAIN: arith.subf
// AGAIN: memref.store
// AGAIN-NOT: memref.store

module {
func.func @softmax(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = stablehlo.reshape %0 : (tensor<2xf32>) -> tensor<2x1xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x2xf32>
  %3 = stablehlo.subtract %x, %2 : tensor<2x2xf32>
  %4 = stablehlo.exponential %3 : tensor<2x2xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<2xf32>) -> tensor<2x2xf32>
  %7 = stablehlo.divide %4, %6 : tensor<2x2xf32>
  return %7 : tensor<2x2xf32>
}

// What is read outside the loop is written there; what reads it comes after,
// though it stands in the middle.
func.func @seen_outside(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<2x3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %three = stablehlo.constant dense<3.0> : tensor<2xf32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %mean = stablehlo.divide %0, %three : tensor<2xf32>
  %1 = stablehlo.broadcast_in_dim %mean, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<2x3xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %4 = stablehlo.add %3, %3 : tensor<3x2xf32>
  %5 = stablehlo.abs %2 : tensor<2x3xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
  %8 = stablehlo.multiply %2, %7 : tensor<2x3xf32>
  %9 = stablehlo.add %8, %5 : tensor<2x3xf32>
  return %2, %mean, %4, %9 : tensor<2x3xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<2x3xf32>
}

// A reduction of two tensors, whose first result is read by row.
func.func @pairs(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %least = stablehlo.constant dense<-2147483648> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %least), (%i init: %zero) across dimensions = [1] : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
  reducer(%a: tensor<i32>, %b: tensor<i32>) (%j: tensor<i32>, %k: tensor<i32>) {
    %1 = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<i32>
    %3 = stablehlo.select %1, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %2, %3 : tensor<i32>, tensor<i32>
  }
  %4 = stablehlo.broadcast_in_dim %0#0, dims = [0] : (tensor<2xi32>) -> tensor<2x3xi32>
  %5 = stablehlo.subtract %x, %4 : tensor<2x3xi32>
  %6 = stablehlo.add %0#0, %0#1 : tensor<2xi32>
  return %5, %6 : tensor<2x3xi32>, tensor<2xi32>
}

// Rows counted by two dimensions, one of size 1, with columns in two.
func.func @planes(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [2, 3] : (tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  %1 = stablehlo.reshape %x : (tensor<1x2x2x2xf32>) -> tensor<1x2x4xf32>
  %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x2xf32>) -> tensor<1x2x4xf32>
  %3 = stablehlo.subtract %2, %1 : tensor<1x2x4xf32>
  return %3 : tensor<1x2x4xf32>
}

func.func @centred(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<2xf32>) -> tensor<2x4xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<2x4xf32>
  %3 = stablehlo.multiply %2, %2 : tensor<2x4xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xf32>) -> tensor<2x4xf32>
  %6 = stablehlo.multiply %2, %5 : tensor<2x4xf32>
  return %6 : tensor<2x4xf32>
}
}
