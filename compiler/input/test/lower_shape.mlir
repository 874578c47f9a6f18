// RUN: alula-opt %s --input-lower-shape --split-input-file | FileCheck %s
// RUN: alula-opt %s --input-lower-shape --input-refine-shapes --input-check-shape-assertions=keep-unknown=true --split-input-file | FileCheck %s --check-prefix=KNOWN

// As torch-mlir writes x + y of unknown sizes.
// CHECK-LABEL: func.func @sum
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>, %[[Y:.*]]: tensor<?x8xf32>)
// CHECK-DAG: %[[X0:.*]] = stablehlo.get_dimension_size %[[X]], dim = 0
// CHECK-DAG: %[[XN:.*]] = stablehlo.convert %[[X0]] : (tensor<i32>) -> tensor<i64>
// CHECK-DAG: %[[Y0:.*]] = stablehlo.get_dimension_size %[[Y]], dim = 0
// CHECK-DAG: %[[YN:.*]] = stablehlo.convert %[[Y0]] : (tensor<i32>) -> tensor<i64>
// CHECK: %[[SAME:.*]] = stablehlo.compare EQ, %[[XN]], %[[YN]]
// CHECK: %[[ONE:.*]] = stablehlo.compare EQ, %[[XN]], %{{.*}}
// CHECK: %[[EITHER:.*]] = stablehlo.or %[[SAME]], %[[ONE]]
// CHECK: %[[OTHER:.*]] = stablehlo.compare EQ, %[[YN]], %{{.*}}
// CHECK: %[[OK:.*]] = stablehlo.or %[[EITHER]], %[[OTHER]]
// CHECK: stablehlo.custom_call @shape_assertion(%[[OK]], %[[XN]], %[[YN]]) {error_message = "'shape.cstr_broadcastable': sizes must be equal or 1: dimension 0 is {0} and {1}", has_side_effect = true}
// CHECK: %[[GROWS:.*]] = stablehlo.compare EQ, %[[XN]], %{{.*}}
// CHECK: %[[SIZE:.*]] = stablehlo.select %[[GROWS]], %[[YN]], %[[XN]] : tensor<i1>, tensor<i64>
// CHECK: %[[ROW:.*]] = stablehlo.reshape %[[SIZE]]
// CHECK: %[[SHAPE:.*]] = stablehlo.concatenate %[[ROW]], %{{.*}}, dim = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
// CHECK: stablehlo.dynamic_broadcast_in_dim %[[X]], %[[SHAPE]], dims = [0, 1] : (tensor<?x8xf32>, tensor<2xi64>)
// CHECK: %[[SUM:.*]] = stablehlo.add
// CHECK: return %[[SUM]]
// CHECK-NOT: shape.
func.func @sum(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = shape.shape_of %x : tensor<?x8xf32> -> tensor<2xindex>
  %1 = shape.shape_of %y : tensor<?x8xf32> -> tensor<2xindex>
  %2 = shape.cstr_broadcastable %0, %1 : tensor<2xindex>, tensor<2xindex>
  %3 = shape.assuming %2 -> (tensor<?x8xf32>) {
    %4 = shape.broadcast %0, %1 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
    %5 = stablehlo.dynamic_broadcast_in_dim %x, %4, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %6 = stablehlo.dynamic_broadcast_in_dim %y, %4, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %7 = stablehlo.add %5, %6 : tensor<?x8xf32>
    shape.assuming_yield %7 : tensor<?x8xf32>
  }
  return %3 : tensor<?x8xf32>
}

// -----

// What is known of shapes leaves no arithmetic: a bias, and a size beside a 1.
// CHECK-LABEL: func.func @bias
// CHECK-NOT: select
// CHECK-NOT: shape_assertion
// CHECK: stablehlo.dynamic_broadcast_in_dim %arg1, %{{.*}}, dims = [1] : (tensor<128xf32>, tensor<2xi64>) -> tensor<?x128xf32>
func.func @bias(%x: tensor<?x128xf32>, %b: tensor<128xf32>) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = shape.const_shape [128] : tensor<1xindex>
  %1 = shape.shape_of %x : tensor<?x128xf32> -> tensor<2xindex>
  %dim = tensor.dim %x, %c0 : tensor<?x128xf32>
  %2 = tensor.from_elements %dim, %c1 : tensor<2xindex>
  %3 = shape.cstr_broadcastable %1, %0, %2 : tensor<2xindex>, tensor<1xindex>, tensor<2xindex>
  %4 = shape.assuming %3 -> (tensor<?x128xf32>) {
    %5 = shape.broadcast %1, %0, %2 : tensor<2xindex>, tensor<1xindex>, tensor<2xindex> -> tensor<2xindex>
    %6 = stablehlo.dynamic_broadcast_in_dim %b, %5, dims = [1] : (tensor<128xf32>, tensor<2xindex>) -> tensor<?x128xf32>
    shape.assuming_yield %6 : tensor<?x128xf32>
  }
  return %4 : tensor<?x128xf32>
}

// -----

// As TensorFlow writes a product of stacks: batches are split off and joined.
// CHECK-LABEL: func.func @batches
// CHECK: %[[N:.*]] = stablehlo.convert %{{.*}} : (tensor<i32>) -> tensor<i64>
// CHECK: %[[ONE:.*]] = stablehlo.reshape %[[N]] : (tensor<i64>) -> tensor<1xi64>
// CHECK: %[[TO:.*]] = stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
// CHECK: stablehlo.dynamic_reshape %arg0, %[[TO]] : (tensor<?x4x16xf32>, tensor<2xi64>) -> tensor<?x64xf32>
// KNOWN-LABEL: func.func @batches
// KNOWN-NOT: shape_assertion
// KNOWN: stablehlo.dynamic_reshape
func.func @batches(%x: tensor<?x4x16xf32>) -> tensor<?x64xf32> {
  %0 = shape.shape_of %x : tensor<?x4x16xf32> -> tensor<3xindex>
  %1 = shape.value_as_shape %0 : tensor<3xindex> -> !shape.shape
  %c1 = arith.constant 1 : index
  %head, %tail = "shape.split_at"(%1, %c1) : (!shape.shape, index) -> (!shape.shape, !shape.shape)
  %2 = shape.num_elements %tail : !shape.shape -> !shape.size
  %3 = shape.size_to_index %2 : !shape.size
  %4 = shape.from_extents %3 : index
  %5 = shape.concat %head, %4 : !shape.shape, !shape.shape -> !shape.shape
  %6 = shape.to_extent_tensor %5 : !shape.shape -> tensor<2xindex>
  %7 = stablehlo.dynamic_reshape %x, %6 : (tensor<?x4x16xf32>, tensor<2xindex>) -> tensor<?x64xf32>
  return %7 : tensor<?x64xf32>
}

// -----

// Signatures of index and of scalars, and calls.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<i64>, %arg1: tensor<f32>) -> (tensor<i64>, tensor<2xi64>)
// CHECK: %[[LIST:.*]] = stablehlo.concatenate
// CHECK: %[[CAST:.*]] = builtin.unrealized_conversion_cast %[[LIST]] : tensor<2xi64> to tensor<?xi64>
// CHECK: %[[CALL:.*]] = call @list(%[[CAST]]) : (tensor<?xi64>) -> tensor<?xi64>
// CHECK: func.func private @list(%arg0: tensor<?xi64>) -> tensor<?xi64>
// KNOWN-LABEL: func.func @main
// KNOWN: return %{{.*}} : tensor<i64>, tensor<2xi64>
func.func @main(%n: index, %f: f32) -> (index, tensor<2xindex>) {
  %c3 = arith.constant 3 : index
  %0 = arith.muli %n, %c3 : index
  %1 = tensor.from_elements %n, %0 : tensor<2xindex>
  %2 = tensor.cast %1 : tensor<2xindex> to tensor<?xindex>
  %3 = call @list(%2) : (tensor<?xindex>) -> tensor<?xindex>
  %4 = tensor.cast %3 : tensor<?xindex> to tensor<2xindex>
  return %0, %4 : index, tensor<2xindex>
}
func.func private @list(%a: tensor<?xindex>) -> tensor<?xindex> {
  return %a : tensor<?xindex>
}

// -----

// Sizes that a program promises.
// CHECK-LABEL: func.func @promised
// CHECK: custom_call @shape_assertion({{.*}}) {error_message = "'tensor.cast': size must be what the type says: dimension 1 is {0}, not {1}"
// CHECK: stablehlo.dynamic_reshape %arg0, %{{.*}} : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x4xf32>
// CHECK: custom_call @shape_assertion(%{{.*}}) {error_message = "'cf.assert': four {{..}}0{{..}}"
func.func @promised(%x: tensor<?x?xf32>) -> tensor<?x4xf32> {
  %0 = tensor.cast %x : tensor<?x?xf32> to tensor<?x4xf32>
  %c1 = arith.constant 1 : index
  %dim = tensor.dim %x, %c1 : tensor<?x?xf32>
  %c4 = arith.constant 4 : index
  %ok = arith.cmpi eq, %dim, %c4 : index
  cf.assert %ok, "four {0}"
  return %0 : tensor<?x4xf32>
}

// -----

// A program that has nothing of this stays as it is.
// CHECK-LABEL: func.func @untouched
// CHECK-SAME: (%arg0: tensor<2xi64>)
// CHECK-NEXT: return %arg0
func.func @untouched(%a: tensor<2xi64>) -> tensor<2xi64> {
  return %a : tensor<2xi64>
}

// -----

// Slices and reshapes as tensor says them.
// CHECK-LABEL: func.func @views
// CHECK: stablehlo.real_dynamic_slice %arg0, {{.*}} -> tensor<?x2xf32>
// CHECK: stablehlo.dynamic_reshape %{{.*}} -> tensor<?xf32>
// CHECK: stablehlo.dynamic_reshape %{{.*}} -> tensor<?x2x1xf32>
// CHECK: stablehlo.dynamic_broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
func.func @views(%x: tensor<?x6xf32>, %f: f32) -> (tensor<?xf32>, tensor<?x2x1xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x6xf32>
  %0 = tensor.extract_slice %x[0, 1] [%n, 2] [1, 2] : tensor<?x6xf32> to tensor<?x2xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<?x2xf32> into tensor<?xf32>
  %2 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [%n, 2, 1] : tensor<?x2xf32> into tensor<?x2x1xf32>
  %3 = tensor.splat %f[%n] : tensor<?xf32>
  return %1, %2, %3 : tensor<?xf32>, tensor<?x2x1xf32>, tensor<?xf32>
}
