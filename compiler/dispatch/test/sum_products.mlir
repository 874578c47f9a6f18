// RUN: alula-opt %s -dispatch-sum-products | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK: %[[P:.*]] = stablehlo.multiply %arg0, %arg1 : tensor<100x64xf32>
// CHECK: stablehlo.reduce(%[[P]] init: %{{.*}}) applies stablehlo.add across dimensions = [1]
func.func @rows(%x: tensor<100x64xf32>, %y: tensor<100x64xf32>) -> tensor<100xf32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<100x64xf32>, tensor<100x64xf32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}

// Halves are multiplied and added up as floats, in the order of the left side.
// CHECK-LABEL: func.func @turned
// CHECK-DAG: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<2x5x3x64xbf16>) -> tensor<2x5x3x64xf32>
// CHECK-DAG: %[[T:.*]] = stablehlo.transpose %arg1, dims = [3, 0, 2, 1] : (tensor<5x64x3x2xbf16>) -> tensor<2x5x3x64xbf16>
// CHECK-DAG: %[[Y:.*]] = stablehlo.convert %[[T]]
// CHECK: %[[P:.*]] = stablehlo.multiply %[[X]], %[[Y]] : tensor<2x5x3x64xf32>
// CHECK: %[[S:.*]] = stablehlo.reduce(%[[P]] init: %{{.*}}) applies stablehlo.add across dimensions = [1, 3]
// CHECK: %[[R:.*]] = stablehlo.transpose %[[S]], dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK: stablehlo.convert %[[R]] : (tensor<3x2xf32>) -> tensor<3x2xbf16>
func.func @turned(%x: tensor<2x5x3x64xbf16>, %y: tensor<5x64x3x2xbf16>) -> tensor<3x2xbf16> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [2, 0] x [2, 3], contracting_dims = [3, 1] x [1, 0] : (tensor<2x5x3x64xbf16>, tensor<5x64x3x2xbf16>) -> tensor<3x2xbf16>
  return %0 : tensor<3x2xbf16>
}

// CHECK-LABEL: func.func @complex_of_any_number
// CHECK: stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
// CHECK: stablehlo.reduce
func.func @complex_of_any_number(%x: tensor<?x64xcomplex<f32>>, %y: tensor<?x64xcomplex<f32>>) -> tensor<?xcomplex<f32>> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<?x64xcomplex<f32>>, tensor<?x64xcomplex<f32>>) -> tensor<?xcomplex<f32>>
  return %0 : tensor<?xcomplex<f32>>
}

// Small matrices, on either side.
// CHECK-LABEL: func.func @matrices
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [0, 2] : (tensor<100x16xf32>) -> tensor<100x12x16xf32>
// CHECK: %[[P:.*]] = stablehlo.multiply %arg0, %[[B]]
// CHECK: %[[S:.*]] = stablehlo.reduce(%[[P]] init: %{{.*}}) applies stablehlo.add across dimensions = [2]
// CHECK: %[[C:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<100x16xf32>) -> tensor<12x100x16xf32>
// CHECK: %[[Q:.*]] = stablehlo.multiply %[[C]], %arg2
// CHECK: %[[T:.*]] = stablehlo.reduce(%[[Q]] init: %{{.*}}) applies stablehlo.add across dimensions = [2]
// CHECK: %[[R:.*]] = stablehlo.transpose %[[T]], dims = [1, 0] : (tensor<12x100xf32>) -> tensor<100x12xf32>
// CHECK: return %[[S]], %[[R]]
func.func @matrices(%x: tensor<100x12x16xf32>, %v: tensor<100x16xf32>, %y: tensor<12x100x16xf32>) -> (tensor<100x12xf32>, tensor<100x12xf32>) {
  %0 = stablehlo.dot_general %x, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<100x12x16xf32>, tensor<100x16xf32>) -> tensor<100x12xf32>
  %1 = stablehlo.dot_general %v, %y, batching_dims = [0] x [1], contracting_dims = [1] x [2] : (tensor<100x16xf32>, tensor<12x100x16xf32>) -> tensor<100x12xf32>
  return %0, %1 : tensor<100x12xf32>, tensor<100x12xf32>
}

// Does not fire: one vector; larger matrices; what says how it is added up.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: stablehlo.dot_general
func.func @others(%x: tensor<640xf32>, %y: tensor<8x640xf32>, %z: tensor<8x3x640xf32>) -> (tensor<f32>, tensor<8x3xf32>, tensor<8xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<640xf32>, tensor<640xf32>) -> tensor<f32>
  %1 = stablehlo.dot_general %y, %z, batching_dims = [0] x [0], contracting_dims = [1] x [2] : (tensor<8x640xf32>, tensor<8x3x640xf32>) -> tensor<8x3xf32>
  %2 = stablehlo.dot_general %y, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<8x640xf32>, tensor<8x640xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<f32>, tensor<8x3xf32>, tensor<8xf32>
}
