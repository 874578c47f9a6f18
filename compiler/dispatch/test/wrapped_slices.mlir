// RUN: alula-opt %s -split-input-file -dispatch-form-kernels | FileCheck %s

// Neighbours on a ring are read where they are, by the kernel that adds them;
// what only elements of the same place are made of gives its memory to the sum.
// CHECK-LABEL: func.func @ring
// CHECK: %[[Y:.*]] = dispatch.launch @ring_0::@ring_0(%arg0)
// CHECK: dispatch.launch @ring_1::@ring_1(%arg0, %[[Y]]) in_place [1]
// CHECK-NOT: dispatch.launch
// CHECK: return
func.func @ring(%x: tensor<300x400xf32>) -> tensor<300x400xf32> {
  %s = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<300x400xf32>) -> tensor<300x400xf32>
  %0 = stablehlo.slice %x [299:300, 0:400] : (tensor<300x400xf32>) -> tensor<1x400xf32>
  %1 = stablehlo.slice %x [0:299, 0:400] : (tensor<300x400xf32>) -> tensor<299x400xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x400xf32>, tensor<299x400xf32>) -> tensor<300x400xf32>
  %3 = stablehlo.slice %x [0:300, 1:400] : (tensor<300x400xf32>) -> tensor<300x399xf32>
  %4 = stablehlo.slice %x [0:300, 0:1] : (tensor<300x400xf32>) -> tensor<300x1xf32>
  %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<300x399xf32>, tensor<300x1xf32>) -> tensor<300x400xf32>
  %6 = stablehlo.add %2, %5 : tensor<300x400xf32>
  %7 = stablehlo.add %6, %s : tensor<300x400xf32>
  return %7 : tensor<300x400xf32>
}

// -----

// What is read at another place keeps its memory.
// CHECK-LABEL: func.func @kept
// CHECK: dispatch.launch @kept_1::@kept_1
// CHECK-NOT: in_place
func.func @kept(%x: tensor<300x400xf32>) -> tensor<300x400xf32> {
  %s = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<300x400xf32>) -> tensor<300x400xf32>
  %0 = stablehlo.slice %s [299:300, 0:400] : (tensor<300x400xf32>) -> tensor<1x400xf32>
  %1 = stablehlo.slice %s [0:299, 0:400] : (tensor<300x400xf32>) -> tensor<299x400xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x400xf32>, tensor<299x400xf32>) -> tensor<300x400xf32>
  %3 = stablehlo.subtract %s, %2 : tensor<300x400xf32>
  return %3 : tensor<300x400xf32>
}

// -----

// Pieces of two tensors, and one row, whose loop cores could not share.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-4: dispatch.launch
// CHECK: return
func.func @apart(%x: tensor<300x400xf32>, %y: tensor<300x100xf32>, %z: tensor<300x500xf32>, %r: tensor<100000xf32>) -> (tensor<300x500xf32>, tensor<100000xf32>) {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<300x400xf32>, tensor<300x100xf32>) -> tensor<300x500xf32>
  %1 = stablehlo.add %0, %z : tensor<300x500xf32>
  %2 = stablehlo.slice %r [1:100000] : (tensor<100000xf32>) -> tensor<99999xf32>
  %3 = stablehlo.slice %r [0:1] : (tensor<100000xf32>) -> tensor<1xf32>
  %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<99999xf32>, tensor<1xf32>) -> tensor<100000xf32>
  %5 = stablehlo.add %4, %r : tensor<100000xf32>
  return %1, %5 : tensor<300x500xf32>, tensor<100000xf32>
}
