// RUN: alula-opt %s -dispatch-limit-sorts | FileCheck %s

// CHECK-LABEL: func.func @first
// CHECK: dispatch.needed = 5
func.func @first(%x: tensor<3x40xf32>) -> (tensor<3x5xf32>, tensor<3x2xf32>) {
  %0 = "stablehlo.sort"(%x) <{dimension = -1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x40xf32>) -> tensor<3x40xf32>
  %1 = stablehlo.slice %0 [0:3, 0:5] : (tensor<3x40xf32>) -> tensor<3x5xf32>
  %2 = stablehlo.slice %0 [0:3, 1:3] : (tensor<3x40xf32>) -> tensor<3x2xf32>
  return %1, %2 : tensor<3x5xf32>, tensor<3x2xf32>
}

// Does not fire: slices of another dimension, other readers, too much.
// CHECK-LABEL: func.func @others
// CHECK-NOT: dispatch.needed
func.func @others(%x: tensor<40x40xf32>) -> (tensor<5x40xf32>, tensor<40x40xf32>, tensor<40x30xf32>) {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %1 = stablehlo.slice %0 [0:5, 0:40] : (tensor<40x40xf32>) -> tensor<5x40xf32>
  %2 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %3 = stablehlo.slice %2 [0:40, 0:5] : (tensor<40x40xf32>) -> tensor<40x5xf32>
  %4 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %5 = stablehlo.slice %4 [0:40, 0:30] : (tensor<40x40xf32>) -> tensor<40x30xf32>
  return %1, %2, %5 : tensor<5x40xf32>, tensor<40x40xf32>, tensor<40x30xf32>
}
