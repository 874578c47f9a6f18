// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s | alula-opt | FileCheck %s
// RUN: alula-opt %s --mlir-print-op-generic | alula-opt | FileCheck %s
// RUN: alula-opt %s --emit=bytecode | alula-opt | FileCheck %s

// CHECK-LABEL: @distributions
// CHECK: stablehlo.rng %{{.*}}, %{{.*}}, %{{.*}}, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
// CHECK: stablehlo.rng %{{.*}}, %{{.*}}, %{{.*}}, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<?x?xi32>
// CHECK: stablehlo.rng %{{.*}}, %{{.*}}, %{{.*}}, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<0xi64>) -> tensor<i32>
func.func @distributions(%a: tensor<f32>, %i: tensor<i32>, %s: tensor<2xi32>, %none: tensor<0xi64>) {
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = stablehlo.rng %a, %a, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  %1 = stablehlo.rng %i, %i, %s, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<?x?xi32>
  %2 = stablehlo.rng %i, %i, %none, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<0xi64>) -> tensor<i32>
  return
}

// CHECK-LABEL: @generators
// CHECK: stablehlo.rng_bit_generator %{{.*}}, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
// CHECK: stablehlo.rng_bit_generator %{{.*}}, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x2xf32>)
// CHECK: stablehlo.rng_bit_generator %{{.*}}, algorithm = DEFAULT : (tensor<?xui64>) -> (tensor<?xui64>, tensor<i4>)
func.func @generators(%x: tensor<2xui64>, %y: tensor<3xui64>, %z: tensor<?xui64>) {
  %0:2 = stablehlo.rng_bit_generator %x, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  %1:2 = stablehlo.rng_bit_generator %y, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x2xf32>)
  %2:2 = stablehlo.rng_bit_generator %z, algorithm = DEFAULT : (tensor<?xui64>) -> (tensor<?xui64>, tensor<i4>)
  return
}

// States of other types stand in artifacts that StableHLO itself wrote.
// CHECK-LABEL: @odd_state
// CHECK: stablehlo.rng_bit_generator %{{.*}}, algorithm = DEFAULT : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
func.func @odd_state(%x: tensor<f32>) {
  %0:2 = stablehlo.rng_bit_generator %x, algorithm = DEFAULT : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}
