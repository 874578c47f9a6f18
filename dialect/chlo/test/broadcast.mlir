// RUN: alula-opt %s | alula-opt | FileCheck %s

// CHECK-LABEL: func.func @aligned_at_last_dimension
func.func @aligned_at_last_dimension(%x: tensor<3xf32>, %y: tensor<2x1xf32>)
    -> tensor<2x3xf32> {
  // CHECK: chlo.broadcast_add %{{.*}}, %{{.*}} : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %sum = chlo.broadcast_add %x, %y
      : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %sum : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @written_dimensions
func.func @written_dimensions(%x: tensor<2xf32>, %y: tensor<2x3xf32>)
    -> tensor<2x3xf32> {
  // CHECK: chlo.broadcast_power %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %power = chlo.broadcast_power %x, %y {broadcast_dimensions = array<i64: 0>}
      : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %power : tensor<2x3xf32>
}

// A dimension of 1 or `?` leaves the other; above 1 it decides.
// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: tensor<?x1xf32>, %y: tensor<4x?xf32>)
    -> tensor<4x?xf32> {
  // CHECK: chlo.broadcast_maximum
  %most = chlo.broadcast_maximum %x, %y
      : (tensor<?x1xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  return %most : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @other_result_elements
func.func @other_result_elements(%x: tensor<f32>, %y: tensor<2xf32>)
    -> (tensor<2xi1>, tensor<2xcomplex<f32>>, tensor<2xf32>) {
  // CHECK: chlo.broadcast_compare %{{.*}}, %{{.*}} {compare_type = #chlo<comparison_type TOTALORDER>, comparison_direction = #chlo<comparison_direction LT>}
  %less = chlo.broadcast_compare %x, %y {
      compare_type = #chlo<comparison_type TOTALORDER>,
      comparison_direction = #chlo<comparison_direction LT>}
      : (tensor<f32>, tensor<2xf32>) -> tensor<2xi1>
  // CHECK: chlo.broadcast_complex {{.*}} -> tensor<2xcomplex<f32>>
  %complex = chlo.broadcast_complex %x, %y
      : (tensor<f32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  // CHECK: chlo.broadcast_select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2xi1>, tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %chosen = chlo.broadcast_select %less, %x, %y
      : (tensor<2xi1>, tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  return %less, %complex, %chosen
      : tensor<2xi1>, tensor<2xcomplex<f32>>, tensor<2xf32>
}

// CHECK-LABEL: func.func @every_other_name
func.func @every_other_name(%x: tensor<f32>, %i: tensor<i32>) {
  // CHECK: chlo.broadcast_and
  %0 = chlo.broadcast_and %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK: chlo.broadcast_atan2
  %1 = chlo.broadcast_atan2 %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: chlo.broadcast_divide
  %2 = chlo.broadcast_divide %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: chlo.broadcast_minimum
  %3 = chlo.broadcast_minimum %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: chlo.broadcast_multiply
  %4 = chlo.broadcast_multiply %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: chlo.broadcast_next_after
  %5 = chlo.broadcast_next_after %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: chlo.broadcast_or
  %6 = chlo.broadcast_or %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK: chlo.broadcast_polygamma
  %7 = chlo.broadcast_polygamma %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: chlo.broadcast_remainder
  %8 = chlo.broadcast_remainder %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: chlo.broadcast_shift_left
  %9 = chlo.broadcast_shift_left %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK: chlo.broadcast_shift_right_arithmetic
  %10 = chlo.broadcast_shift_right_arithmetic %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK: chlo.broadcast_shift_right_logical
  %11 = chlo.broadcast_shift_right_logical %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK: chlo.broadcast_subtract
  %12 = chlo.broadcast_subtract %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: chlo.broadcast_xor
  %13 = chlo.broadcast_xor %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK: chlo.broadcast_zeta
  %14 = chlo.broadcast_zeta %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}
