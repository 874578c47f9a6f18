// RUN: alula-opt --input-convert-chlo-to-stablehlo %s | FileCheck %s
// RUN: alula-opt --input-convert-chlo-to-stablehlo=keep-functions %s | FileCheck %s --check-prefix=KEEP

// CHECK-LABEL: func.func @simple
func.func @simple(%x: tensor<4xf32>, %z: tensor<2xcomplex<f32>>)
    -> (tensor<4xf32>, tensor<2xcomplex<f32>>, tensor<4xi1>) {
  // CHECK: stablehlo.multiply %arg0, %arg0
  %0 = chlo.square %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: stablehlo.tan
  %1 = chlo.tan %0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: %[[RE:.*]] = stablehlo.real %arg1
  // CHECK: stablehlo.complex %[[RE]]
  %2 = chlo.conj %z : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  // CHECK: stablehlo.compare EQ
  %3 = chlo.is_pos_inf %x : tensor<4xf32> -> tensor<4xi1>
  return %1, %2, %3 : tensor<4xf32>, tensor<2xcomplex<f32>>, tensor<4xi1>
}

// Small floats go through f32.
// CHECK-LABEL: func.func @small_floats
func.func @small_floats(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK: stablehlo.convert %arg0 : (tensor<4xbf16>) -> tensor<4xf32>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
  %0 = chlo.digamma %x : tensor<4xbf16> -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// Left for kernels, but where sizes are measured, and what is folded.
// KEEP-LABEL: func.func @special
// KEEP: chlo.lgamma %arg0 : tensor<4xf32>
// KEEP-NOT: chlo.
// KEEP: return
// CHECK-LABEL: func.func @special
// CHECK-NOT: chlo.
// CHECK: return
func.func @special(%x: tensor<4xf32>, %d: tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>, tensor<4xf32>) {
  %0 = chlo.lgamma %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.erf_inv %d : tensor<?xf32> -> tensor<?xf32>
  %c = stablehlo.constant dense<2.5> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %2 = chlo.lgamma %b : tensor<4xf32> -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<?xf32>, tensor<4xf32>
}

// The kernel library has a function for each.
// CHECK-LABEL: func.func @named
func.func @named(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK-NEXT: chlo.erf %{{.*}} : tensor<4xbf16>
  // CHECK-NEXT: chlo.erfc %{{.*}} : tensor<4xbf16>
  // CHECK-NEXT: return
  %0 = chlo.erf %x : tensor<4xbf16> -> tensor<4xbf16>
  %1 = chlo.erfc %0 : tensor<4xbf16> -> tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%x: tensor<3xf32>, %y: tensor<2x1xf32>)
    -> (tensor<2x3xf32>, tensor<2x3xi1>) {
  // CHECK-DAG: %[[X:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-DAG: %[[Y:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [0, 1]
  // CHECK: stablehlo.subtract %[[X]], %[[Y]] : tensor<2x3xf32>
  %0 = chlo.broadcast_subtract %x, %y
      : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.compare LE, %{{.*}}, %{{.*}}, TOTALORDER
  %1 = chlo.broadcast_compare %x, %y {
      compare_type = #chlo<comparison_type TOTALORDER>,
      comparison_direction = #chlo<comparison_direction LE>}
      : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xi1>
}

// The size that is not 1 is chosen when the program runs.
// CHECK-LABEL: func.func @dynamic_broadcast
func.func @dynamic_broadcast(%x: tensor<?xf32>, %y: tensor<?xf32>)
    -> tensor<?xf32> {
  // CHECK: %[[N:.*]] = stablehlo.get_dimension_size %arg0, dim = 0
  // CHECK: %[[M:.*]] = stablehlo.get_dimension_size %arg1, dim = 0
  // CHECK: %[[P:.*]] = stablehlo.compare EQ, %[[N]]
  // CHECK: stablehlo.select %[[P]], %[[M]], %[[N]]
  // CHECK: stablehlo.dynamic_broadcast_in_dim %arg0
  // CHECK: stablehlo.dynamic_broadcast_in_dim %arg1
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<?xf32>
  %0 = chlo.broadcast_add %x, %y
      : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @constants
func.func @constants(%x: tensor<?xf32>) -> (tensor<2xi32>, tensor<?xf32>) {
  // CHECK: stablehlo.constant dense<[1, 2]>
  %0 = chlo.constant dense<[1, 2]> : tensor<2xi32>
  // CHECK: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: stablehlo.dynamic_broadcast_in_dim %[[ONE]]
  %1 = "chlo.constant_like"(%x) <{value = 1.0 : f32}>
      : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<2xi32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @compound
func.func @compound(%x: tensor<2x5xf32>, %init: tensor<5xf32>)
    -> (tensor<2x2xf32>, tensor<2x5xf32>) {
  // CHECK: "stablehlo.sort"
  // CHECK: stablehlo.compare GT, %{{.*}}, %{{.*}}, TOTALORDER
  // CHECK: stablehlo.slice %{{.*}} [0:2, 0:2]
  %0:2 = chlo.top_k(%x, k = 2)
      : tensor<2x5xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
  // CHECK: stablehlo.while
  // CHECK: stablehlo.dynamic_slice
  // CHECK: stablehlo.dynamic_update_slice
  %1:2 = chlo.scan(%x) inits (%init) dimension=0 {
  ^bb0(%input: tensor<5xf32>, %carry: tensor<5xf32>):
    %square = chlo.square %input : tensor<5xf32> -> tensor<5xf32>
    %sum = stablehlo.add %square, %carry : tensor<5xf32>
    stablehlo.return %sum, %sum : tensor<5xf32>, tensor<5xf32>
  } : (tensor<2x5xf32>, tensor<5xf32>) -> (tensor<2x5xf32>, tensor<5xf32>)
  return %0#0, %1#0 : tensor<2x2xf32>, tensor<2x5xf32>
}
// CHECK-NOT: chlo.
