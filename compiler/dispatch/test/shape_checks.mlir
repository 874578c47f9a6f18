// RUN: alula-opt %s -split-input-file -dispatch-form-kernels | FileCheck %s

// What is the same by how it is computed is not asserted.
// CHECK-LABEL: func.func @same
// CHECK-NOT: dispatch.assert
// CHECK: return
func.func @same(%a: tensor<?x4xf32>) -> tensor<?xf32> {
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %0 = stablehlo.add %a, %a : tensor<?x4xf32>
  %n = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %l = stablehlo.multiply %n1, %four : tensor<1xi32>
  %1 = stablehlo.dynamic_reshape %0, %l : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @elementwise
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.add': operands must have one shape: dimension 0 is {0} and {1}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.select': operands must have one shape: dimension 0 is {0} and {1}"
func.func @elementwise(%a: tensor<?xf32>, %b: tensor<?xf32>, %p: tensor<?xi1>) -> tensor<?xf32> {
  %0 = stablehlo.add %a, %b : tensor<?xf32>
  %1 = stablehlo.select %p, %0, %b : tensor<?xi1>, tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @lists
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.dynamic_reshape': sizes must not be negative: dimension 0 is {0}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.dynamic_reshape': number of elements must stay the same: is {0} and {1}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.dynamic_broadcast_in_dim': a size must be 1 or stay the same: dimension 0 is {0} and becomes {1}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.dynamic_iota': sizes must be those of the result's type: dimension 0 is {0} and {1}"
func.func @lists(%a: tensor<?xf32>, %l: tensor<1xi32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<7xf32>) {
  %0 = stablehlo.dynamic_reshape %a, %l : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %a, %l, dims = [0] : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
  %2 = stablehlo.dynamic_iota %l, dim = 0 : (tensor<1xi32>) -> tensor<7xf32>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<7xf32>
}

// -----

// CHECK-LABEL: func.func @parts
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.real_dynamic_slice': start must not be negative: dimension 0 is {0}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.real_dynamic_slice': start must not be after limit: dimension 0 is {0} and {1}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.real_dynamic_slice': limit must not pass the operand's size: dimension 0 is {0} and {1}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.real_dynamic_slice': stride must be positive: dimension 0 has {0}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.dynamic_pad': interior padding must not be negative: dimension 0 has {0}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.dynamic_pad': sizes must not be negative: dimension 0 is {0}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.slice': limit must not pass the operand's size: dimension 0 is {0} and {1}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.pad': sizes must not be negative: dimension 0 is {0}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.dynamic_slice': slice sizes must not pass the operand's: dimension 0 is {0} and {1}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.dynamic_update_slice': update must not pass the operand's sizes: dimension 0 is {0} and {1}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.set_dimension_size': size must not pass the operand's: is {0} and {1}"
func.func @parts(%a: tensor<?xf32>, %l: tensor<1xi32>, %m: tensor<1xi32>, %i: tensor<i32>, %z: tensor<f32>, %u: tensor<?xf32>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<3xf32>, tensor<?xf32>, tensor<3xf32>, tensor<?xf32>, tensor<?xf32>) {
  %0 = stablehlo.real_dynamic_slice %a, %l, %m, %l : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %1 = stablehlo.dynamic_pad %a, %z, %l, %l, %l : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %2 = stablehlo.slice %a [0:3] : (tensor<?xf32>) -> tensor<3xf32>
  %3 = stablehlo.pad %a, %z, low = [-2], high = [0], interior = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %4 = stablehlo.dynamic_slice %a, %i, sizes = [3] : (tensor<?xf32>, tensor<i32>) -> tensor<3xf32>
  %5 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<?xf32>, tensor<?xf32>, tensor<i32>) -> tensor<?xf32>
  %6 = stablehlo.set_dimension_size %a, %i, dim = 0 : (tensor<?xf32>, tensor<i32>) -> tensor<?xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<?xf32>, tensor<?xf32>, tensor<3xf32>, tensor<?xf32>, tensor<3xf32>, tensor<?xf32>, tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @products
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.dot_general': batching sizes of lhs and rhs must be equal: are {0} and {1}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.dot_general': contracting sizes of lhs and rhs must be equal: are {0} and {1}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.concatenate': inputs must have one shape besides the dimension that grows: dimension 0 is {0} and {1}"
func.func @products(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?x?xf32>) {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?xf32>
  %1 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func.func @indexed
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.dynamic_gather': slice sizes must not be negative: dimension 0 has {0}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.dynamic_gather': slice sizes must not pass the operand's: dimension 0 has {0} and {1}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.scatter': updates must have the sizes of the indices: are {0} and {1}"
func.func @indexed(%a: tensor<?xf32>, %i: tensor<?x1xi32>, %l: tensor<1xi32>, %u: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %0 = "stablehlo.dynamic_gather"(%a, %i, %l) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?xf32>, tensor<?x1xi32>, tensor<1xi32>) -> tensor<?x?xf32>
  %1 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<?xf32>, tensor<?x1xi32>, tensor<?xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?xf32>
}

// -----

// A factor of both shapes may be 0: then any shape does.
// CHECK-LABEL: func.func @empty
// CHECK: %[[A:.*]] = arith.muli %[[N:.*]], %c3
// CHECK: arith.muli %[[N]], %c4
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.dynamic_reshape': number of elements must stay the same: is {0} and {1}"
func.func @empty(%a: tensor<?x?xf32>, %l: tensor<2xi32>) -> tensor<?x3xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %m = stablehlo.concatenate %n1, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_iota %m, dim = 0 : (tensor<2xi32>) -> tensor<?x?xf32>
  %1 = stablehlo.concatenate %n1, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %2 = stablehlo.dynamic_reshape %0, %1 : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  return %2 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @solvers
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.triangular_solve': a must be made of square matrices: sizes are {0} and {1}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.triangular_solve': a and b must have one size: are {0} and {1}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.cholesky': a must be made of square matrices: sizes are {0} and {1}"
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.fft': sizes of the operand must be those of the transform: are {0} and {1}"
func.func @solvers(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?xcomplex<f32>>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xcomplex<f32>>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = stablehlo.cholesky %b, lower = true : tensor<?x?xf32>
  %2 = stablehlo.fft %c, type = FFT, length = [6] : (tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>>
  return %0, %1, %2 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xcomplex<f32>>
}

// -----

// CHECK-LABEL: func.func @windows
// CHECK: %[[N:.*]] = tensor.dim %arg0
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.select_and_scatter': source must have an element for each window: dimension 0 is {0} and {1}"
func.func @windows(%a: tensor<?xf32>, %s: tensor<?xf32>, %z: tensor<f32>) -> tensor<?xf32> {
  %0 = "stablehlo.select_and_scatter"(%a, %s, %z) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %p = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %q = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %q : tensor<f32>
  }) : (tensor<?xf32>, tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
