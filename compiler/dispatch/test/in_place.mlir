// RUN: alula-opt %s -split-input-file -dispatch-form-kernels | FileCheck %s

// A part of an operand is written where the operand is.
// CHECK-LABEL: func.func @update
// CHECK: dispatch.launch @update_0::@update_0(%arg0, %arg1, %arg2) in_place [0]
// CHECK: bindings([#dispatch<access read_write>, #dispatch<access read>, #dispatch<access read>])
// CHECK: func.func @update_0({{.*}}) -> tensor<99999xf32> attributes {dispatch.in_place = array<i64: 0>}
func.func @update(%a: tensor<99999xf32>, %u: tensor<9xf32>, %i: tensor<i32>) -> tensor<99999xf32> {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<99999xf32>, tensor<9xf32>, tensor<i32>) -> tensor<99999xf32>
  return %0 : tensor<99999xf32>
}

// -----

// Does not fire: the update is made of what it replaces.
// CHECK-LABEL: func.func @shifted
// CHECK-NOT: in_place
func.func @shifted(%a: tensor<99999xf32>, %i: tensor<i32>) -> tensor<99999xf32> {
  %u = stablehlo.slice %a [0:9] : (tensor<99999xf32>) -> tensor<9xf32>
  %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<99999xf32>, tensor<9xf32>, tensor<i32>) -> tensor<99999xf32>
  return %0 : tensor<99999xf32>
}

// -----

// The second of two elementwise kernels writes to its operand; that of the first
// is the caller's.
// CHECK-LABEL: func.func @elementwise
// CHECK: %[[S:.*]] = dispatch.launch @elementwise_0::@elementwise_0(%arg0, %arg1) :
// CHECK: %[[L:.*]] = dispatch.launch @elementwise_1::@elementwise_1(%[[S]]) :
// CHECK: dispatch.launch @elementwise_2::@elementwise_2(%[[L]]) in_place [0]
func.func @elementwise(%a: tensor<400x400xf32>, %b: tensor<400x400xf32>) -> tensor<400x400xf32> {
  %0 = stablehlo.add %a, %b : tensor<400x400xf32>
  %1 = stablehlo.cholesky %0, lower = true : tensor<400x400xf32>
  %2 = stablehlo.negate %1 : tensor<400x400xf32>
  return %2 : tensor<400x400xf32>
}

// -----

// Does not fire: elements of other places are read.
// CHECK-LABEL: func.func @reverse
// CHECK-NOT: in_place
func.func @reverse(%a: tensor<400x400xf32>, %b: tensor<400x400xf32>) -> tensor<400x400xf32> {
  %0 = stablehlo.add %a, %b : tensor<400x400xf32>
  %1 = stablehlo.cholesky %0, lower = true : tensor<400x400xf32>
  %2 = stablehlo.reverse %1, dims = [0] : tensor<400x400xf32>
  %3 = stablehlo.add %1, %2 : tensor<400x400xf32>
  return %3 : tensor<400x400xf32>
}

// A global's new value takes the place of the old one.
// CHECK-LABEL: func.func @global
// CHECK: dispatch.launch @global_{{[0-9]+}}::@global_{{[0-9]+}}({{.*}}) in_place [{{[01]}}]
ml_program.global public mutable @g : tensor<99999xf32>
func.func @global(%x: tensor<99999xf32>, %old: tensor<99999xf32> {alula.global = @g})
    -> (tensor<99999xf32> {alula.global = @g}) {
  %new = stablehlo.add %old, %x : tensor<99999xf32>
  return %new : tensor<99999xf32>
}

// The old value is wanted too: as a result, and by another kernel.
// CHECK-LABEL: func.func @global_kept
// CHECK: dispatch.launch @global_kept_
// CHECK-NOT: in_place
// CHECK: return
func.func @global_kept(%x: tensor<99999xf32>, %old: tensor<99999xf32> {alula.global = @g})
    -> (tensor<99999xf32>, tensor<99999xf32> {alula.global = @g}) {
  %new = stablehlo.add %old, %x : tensor<99999xf32>
  return %old, %new : tensor<99999xf32>, tensor<99999xf32>
}

// Scalars are spread, and others have read the old value before.
// CHECK-LABEL: func.func @global_step
// CHECK: dispatch.launch {{.*}} in_place [3]
// CHECK: return
func.func @global_step(%x: tensor<99999xf32>, %s: tensor<f32>, %old: tensor<99999xf32> {alula.global = @g})
    -> (tensor<f32>, tensor<99999xf32> {alula.global = @g}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%old init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<99999xf32>, tensor<f32>) -> tensor<f32>
  %rate = stablehlo.multiply %s, %sum : tensor<f32>
  %rates = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<99999xf32>
  %change = stablehlo.multiply %rates, %x : tensor<99999xf32>
  %new = stablehlo.subtract %old, %change : tensor<99999xf32>
  return %sum, %new : tensor<f32>, tensor<99999xf32>
}

// A row is spread over all rows: it is read again after it was written.
// CHECK-LABEL: func.func @global_row
// CHECK-NOT: in_place
// CHECK: return
ml_program.global public mutable @m : tensor<2x2xf32>
func.func @global_row(%x: tensor<2x2xf32>, %old: tensor<2x2xf32> {alula.global = @m})
    -> (tensor<2x2xf32> {alula.global = @m}) {
  %other = stablehlo.broadcast_in_dim %old, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %new = stablehlo.add %other, %x : tensor<2x2xf32>
  return %new : tensor<2x2xf32>
}

// -----

// Does not fire: the indices are made of what the scatter writes.
// CHECK-LABEL: func.func @count_up
// CHECK-NOT: in_place
func.func @count_up(%x: tensor<50000xi32>, %y: tensor<50000xi32>) -> tensor<50000xi32> {
  %0 = stablehlo.maximum %x, %y : tensor<50000xi32>
  %1 = stablehlo.reshape %0 : (tensor<50000xi32>) -> tensor<50000x1xi32>
  %2 = "stablehlo.scatter"(%x, %1, %y) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %3 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %3 : tensor<i32>
  }) : (tensor<50000xi32>, tensor<50000x1xi32>, tensor<50000xi32>) -> tensor<50000xi32>
  return %2 : tensor<50000xi32>
}
