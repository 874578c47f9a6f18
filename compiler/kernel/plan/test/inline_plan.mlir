// RUN: alula-compile %s --target=cpu:x86-64-v3 --compile-to=plan -o - | FileCheck %s

// What is read once, in any order, has no memory.
// CHECK-LABEL: func.func @moved_
// CHECK: stablehlo.exponential {{.*}}#plan.stage<inline>
// CHECK: stablehlo.transpose {{.*}}#plan.stage<inline>
// CHECK: stablehlo.slice {{.*}}#plan.stage<inline>
// CHECK: stablehlo.negate {{.*}}#plan.stage<inline>
func.func @moved(%x: tensor<64x65xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.exponential %x : tensor<64x65xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<64x65xf32>) -> tensor<65x64xf32>
  %2 = stablehlo.slice %1 [1:65, 0:64] : (tensor<65x64xf32>) -> tensor<64x64xf32>
  %3 = stablehlo.negate %2 : tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}

// An exponential that a broadcast repeats is computed before, and the broadcast
// where it is read.
// CHECK-LABEL: func.func @repeated_
// CHECK: stablehlo.exponential {{.*}}#plan.stage<map
// CHECK: stablehlo.broadcast_in_dim {{.*}}#plan.stage<inline>
// CHECK: stablehlo.add {{.*}}#plan.stage<inline>
func.func @repeated(%x: tensor<64xf32>, %y: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %0 = stablehlo.exponential %x : tensor<64xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<64xf32>) -> tensor<32x64xf32>
  %2 = stablehlo.add %1, %y : tensor<32x64xf32>
  return %2 : tensor<32x64xf32>
}

// Two loops read it: it is in memory. A conversion of what is there is done by
// each that reads it.
// CHECK-LABEL: func.func @shared_
// CHECK: stablehlo.exponential {{.*}}#plan.stage<map
// CHECK: stablehlo.convert {{.*}}#plan.stage<inline>
func.func @shared(%x: tensor<8x8xf32>) -> (tensor<8xf64>, tensor<8xf64>, tensor<8x8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %0 = stablehlo.exponential %x : tensor<8x8xf32>
  %1 = stablehlo.convert %0 : (tensor<8x8xf32>) -> tensor<8x8xf64>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf64>, tensor<f64>) -> tensor<8xf64>
  %3 = stablehlo.reduce(%1 init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<8x8xf64>, tensor<f64>) -> tensor<8xf64>
  return %2, %3, %0 : tensor<8xf64>, tensor<8xf64>, tensor<8x8xf32>
}

// Of elements that values pick no more are computed than there are; the places
// are read once.
// CHECK-LABEL: func.func @often_
// CHECK: stablehlo.exponential {{.*}}#plan.stage<map
// CHECK: stablehlo.add {{.*}}#plan.stage<inline>
// CHECK: "stablehlo.gather"
func.func @often(%x: tensor<59xf32>, %i: tensor<60x1xi32>) -> tensor<60xf32> {
  %0 = stablehlo.exponential %x : tensor<59xf32>
  %1 = stablehlo.add %i, %i : tensor<60x1xi32>
  %2 = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<59xf32>, tensor<60x1xi32>) -> tensor<60xf32>
  return %2 : tensor<60xf32>
}

// CHECK-LABEL: func.func @picked_
// CHECK: stablehlo.exponential {{.*}}#plan.stage<inline>
// CHECK: "stablehlo.gather"
func.func @picked(%x: tensor<70xf32>, %i: tensor<60x1xi32>) -> tensor<60xf32> {
  %0 = stablehlo.exponential %x : tensor<70xf32>
  %1 = stablehlo.add %i, %i : tensor<60x1xi32>
  %2 = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<70xf32>, tensor<60x1xi32>) -> tensor<60xf32>
  return %2 : tensor<60xf32>
}

// Places of whole rows are read in several loops.
// CHECK-LABEL: func.func @rows_
// CHECK: stablehlo.multiply {{.*}}#plan.stage<map
// CHECK: "stablehlo.gather"
func.func @rows(%x: tensor<70x8xf32>, %i: tensor<60x1xi32>) -> tensor<60x8xf32> {
  %0 = stablehlo.multiply %i, %i : tensor<60x1xi32>
  %1 = "stablehlo.gather"(%x, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<70x8xf32>, tensor<60x1xi32>) -> tensor<60x8xf32>
  return %1 : tensor<60x8xf32>
}

// What a long row doesn't change is computed once for it, whoever reads it.
// CHECK-LABEL: func.func @of_row_
// CHECK: stablehlo.slice {{.*}}#plan.stage<inline>
// CHECK: stablehlo.reshape {{.*}}#plan.stage<inline>
// CHECK: stablehlo.multiply {{.*}}#plan.stage<inline>
// CHECK: stablehlo.compare {{.*}}#plan.stage<inline>
// CHECK: stablehlo.exponential {{.*}}#plan.stage<map
// CHECK-COUNT-3: stablehlo.broadcast_in_dim {{.*}}#plan.stage<inline>
// CHECK: stablehlo.select {{.*}}#plan.stage<inline>
func.func @of_row(%x: tensor<60x64xf32>, %y: tensor<60xf32>) -> tensor<60x64xf32> {
  %0 = stablehlo.slice %x [0:60, 3:4] : (tensor<60x64xf32>) -> tensor<60x1xf32>
  %1 = stablehlo.reshape %0 : (tensor<60x1xf32>) -> tensor<60xf32>
  %2 = stablehlo.multiply %1, %y : tensor<60xf32>
  %3 = stablehlo.compare GT, %2, %y : (tensor<60xf32>, tensor<60xf32>) -> tensor<60xi1>
  // So much is better computed in vectors.
  %4 = stablehlo.exponential %y : tensor<60xf32>
  %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<60xi1>) -> tensor<60x64xi1>
  %6 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<60xf32>) -> tensor<60x64xf32>
  %7 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<60xf32>) -> tensor<60x64xf32>
  %8 = stablehlo.select %5, %6, %7 : tensor<60x64xi1>, tensor<60x64xf32>
  return %8 : tensor<60x64xf32>
}

// A list of places is put together where it is read, once for a row.
// CHECK-LABEL: func.func @listed_
// CHECK: stablehlo.multiply {{.*}}#plan.stage<inline>
// CHECK: stablehlo.concatenate {{.*}}#plan.stage<inline>
// CHECK: "stablehlo.gather"
func.func @listed(%x: tensor<70x8x64xf32>, %i: tensor<60x1xi32>) -> tensor<60x64xf32> {
  %0 = stablehlo.multiply %i, %i : tensor<60x1xi32>
  %1 = stablehlo.concatenate %0, %i, dim = 1 : (tensor<60x1xi32>, tensor<60x1xi32>) -> tensor<60x2xi32>
  %2 = "stablehlo.gather"(%x, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 64>}> : (tensor<70x8x64xf32>, tensor<60x2xi32>) -> tensor<60x64xf32>
  return %2 : tensor<60x64xf32>
}

// A row of memory is read where it lies, a column that each row reads isn't.
// CHECK-LABEL: func.func @column_
// CHECK: stablehlo.slice {{.*}}#plan.stage<inline>
// CHECK: stablehlo.reshape {{.*}}#plan.stage<inline>
// CHECK: stablehlo.slice {{.*}}#plan.stage<inline>
// CHECK: stablehlo.reshape {{.*}}#plan.stage<map
func.func @column(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.slice %x [3:4, 0:64] : (tensor<64x64xf32>) -> tensor<1x64xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x64xf32>) -> tensor<64xf32>
  %2 = stablehlo.slice %x [0:64, 3:4] : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %3 = stablehlo.reshape %2 : (tensor<64x1xf32>) -> tensor<64xf32>
  %4 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>
  %5 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>
  %6 = stablehlo.multiply %4, %5 : tensor<64x64xf32>
  return %6 : tensor<64x64xf32>
}

// A reshape that only drops a dimension of one element divides no index.
// CHECK-LABEL: func.func @reshaped_
// CHECK: stablehlo.exponential {{.*}}#plan.stage<inline>
// CHECK: stablehlo.reshape {{.*}}#plan.stage<inline>
// CHECK: stablehlo.cosine {{.*}}#plan.stage<map
// CHECK: stablehlo.reshape {{.*}}#plan.stage<inline>
func.func @reshaped(%x: tensor<8x1x6xf32>, %y: tensor<6x8xf32>) -> tensor<8x6xf32> {
  %0 = stablehlo.exponential %x : tensor<8x1x6xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x1x6xf32>) -> tensor<8x6xf32>
  %2 = stablehlo.cosine %y : tensor<6x8xf32>
  %3 = stablehlo.reshape %2 : (tensor<6x8xf32>) -> tensor<8x6xf32>
  %4 = stablehlo.add %1, %3 : tensor<8x6xf32>
  return %4 : tensor<8x6xf32>
}

// An update is computed before what it changes.
// CHECK-LABEL: func.func @updated_
// CHECK: stablehlo.exponential {{.*}}#plan.stage<map
// CHECK: stablehlo.dynamic_update_slice
func.func @updated(%x: tensor<70xf32>, %y: tensor<8xf32>, %i: tensor<i32>) -> tensor<70xf32> {
  %0 = stablehlo.exponential %y : tensor<8xf32>
  %1 = stablehlo.dynamic_update_slice %x, %0, %i : (tensor<70xf32>, tensor<8xf32>, tensor<i32>) -> tensor<70xf32>
  return %1 : tensor<70xf32>
}

// A transpose of what lies in memory, in another shape too, is read in place by
// a product: all workgroups share it.
// CHECK-LABEL: func.func @heads_
// CHECK-COUNT-2: stablehlo.reshape {{.*}}#plan.stage<inline>
// CHECK-COUNT-2: stablehlo.transpose {{.*}}#plan.stage<inline>
// CHECK: stablehlo.dot_general {{.*}}#plan.stage<product 0
func.func @heads(%x: tensor<128x768xf32>, %y: tensor<128x768xf32>) -> tensor<12x128x128xf32> {
  %0 = stablehlo.reshape %x : (tensor<128x768xf32>) -> tensor<128x12x64xf32>
  %1 = stablehlo.reshape %y : (tensor<128x768xf32>) -> tensor<128x12x64xf32>
  %2 = stablehlo.transpose %0, dims = [1, 0, 2] : (tensor<128x12x64xf32>) -> tensor<12x128x64xf32>
  %3 = stablehlo.transpose %1, dims = [1, 0, 2] : (tensor<128x12x64xf32>) -> tensor<12x128x64xf32>
  %4 = stablehlo.dot_general %2, %3, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<12x128x64xf32>, tensor<12x128x64xf32>) -> tensor<12x128x128xf32>
  return %4 : tensor<12x128x128xf32>
}

// Coordinates of points are read where they lie, by several readers too; a
// column of a wide matrix is copied.
// CHECK-LABEL: func.func @coordinates_
// CHECK: stablehlo.reshape {{.*}}#plan.stage<inline>} : (tensor<640x1xf32>)
// CHECK: stablehlo.concatenate
func.func @coordinates(%x: tensor<640x3xf32>) -> tensor<2x640xf32> {
  %0 = stablehlo.slice %x [0:640, 1:2] : (tensor<640x3xf32>) -> tensor<640x1xf32>
  %1 = stablehlo.reshape %0 : (tensor<640x1xf32>) -> tensor<640xf32>
  %2 = stablehlo.add %1, %1 : tensor<640xf32>
  %3 = stablehlo.multiply %1, %1 : tensor<640xf32>
  %4 = stablehlo.reshape %2 : (tensor<640xf32>) -> tensor<1x640xf32>
  %5 = stablehlo.reshape %3 : (tensor<640xf32>) -> tensor<1x640xf32>
  %6 = stablehlo.concatenate %4, %5, dim = 0 : (tensor<1x640xf32>, tensor<1x640xf32>) -> tensor<2x640xf32>
  return %6 : tensor<2x640xf32>
}

// CHECK-LABEL: func.func @far_column_
// CHECK-NOT: #plan.stage<inline>} : (tensor<640x1xf32>)
// CHECK: stablehlo.concatenate
func.func @far_column(%x: tensor<640x64xf32>) -> tensor<2x640xf32> {
  %0 = stablehlo.slice %x [0:640, 1:2] : (tensor<640x64xf32>) -> tensor<640x1xf32>
  %1 = stablehlo.reshape %0 : (tensor<640x1xf32>) -> tensor<640xf32>
  %2 = stablehlo.add %1, %1 : tensor<640xf32>
  %3 = stablehlo.multiply %1, %1 : tensor<640xf32>
  %4 = stablehlo.reshape %2 : (tensor<640xf32>) -> tensor<1x640xf32>
  %5 = stablehlo.reshape %3 : (tensor<640xf32>) -> tensor<1x640xf32>
  %6 = stablehlo.concatenate %4, %5, dim = 0 : (tensor<1x640xf32>, tensor<1x640xf32>) -> tensor<2x640xf32>
  return %6 : tensor<2x640xf32>
}
