// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s --emit=generic | alula-opt | FileCheck %s

// CHECK-LABEL: @slice
func.func @slice(%a: tensor<3x8xf32>, %s: tensor<f32>, %d: tensor<?xf32>) {
  // CHECK: stablehlo.slice %{{.*}} [1:3, 4:8:3] : (tensor<3x8xf32>) -> tensor<2x2xf32>
  %0 = stablehlo.slice %a [1:3:1, 4:8:3] : (tensor<3x8xf32>) -> tensor<2x2xf32>
  // CHECK: stablehlo.slice %{{.*}} [] : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.slice %s [] : (tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.slice %{{.*}} [2:2:9223372036854775807] : (tensor<?xf32>) -> tensor<0xf32>
  %2 = stablehlo.slice %d [2:2:9223372036854775807] : (tensor<?xf32>) -> tensor<0xf32>
  return
}

// CHECK-LABEL: @dynamic
func.func @dynamic(%a: tensor<3x8xf32>, %u: tensor<1x2xf32>, %i: tensor<ui32>, %l: tensor<2xindex>, %s: tensor<f32>) {
  // CHECK: stablehlo.dynamic_slice %{{.*}}, %{{.*}}, %{{.*}}, sizes = [1, 2] : (tensor<3x8xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x2xf32>
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 2] : (tensor<3x8xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x2xf32>
  // CHECK: stablehlo.dynamic_slice %{{.*}}, sizes = [] : (tensor<f32>) -> tensor<f32>
  %1 = "stablehlo.dynamic_slice"(%s) {slice_sizes = array<i64>} : (tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.dynamic_update_slice %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<3x8xf32>, tensor<1x2xf32>, tensor<ui32>, tensor<ui32>) -> tensor<3x8xf32>
  %2 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<3x8xf32>, tensor<1x2xf32>, tensor<ui32>, tensor<ui32>) -> tensor<3x8xf32>
  // CHECK: stablehlo.real_dynamic_slice %{{.*}} : (tensor<3x8xf32>, tensor<2xindex>, tensor<2xindex>, tensor<2xindex>) -> tensor<?x?xf32>
  %3 = stablehlo.real_dynamic_slice %a, %l, %l, %l : (tensor<3x8xf32>, tensor<2xindex>, tensor<2xindex>, tensor<2xindex>) -> tensor<?x?xf32>
  return
}
