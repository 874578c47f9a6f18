// RUN: alula-opt %s -split-input-file -dispatch-form-kernels | FileCheck %s

// Movement joins its reader; what picks elements by other elements, and what is
// put together of parts, is a kernel of its own.
// CHECK-LABEL: func.func @movement
// CHECK: dispatch.launch @movement_0::@movement_0
// CHECK-NOT: dispatch.launch
// CHECK: dispatch.executable @movement_0
// CHECK: stablehlo.slice
// CHECK: stablehlo.pad
// CHECK: stablehlo.reverse
// CHECK: stablehlo.exponential
func.func @movement(%x: tensor<70000xf32>) -> tensor<65536xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %x [0:65535] : (tensor<70000xf32>) -> tensor<65535xf32>
  %1 = stablehlo.pad %0, %zero, low = [1], high = [0], interior = [0] : (tensor<65535xf32>, tensor<f32>) -> tensor<65536xf32>
  %2 = stablehlo.reverse %1, dims = [0] : tensor<65536xf32>
  %3 = stablehlo.exponential %2 : tensor<65536xf32>
  return %3 : tensor<65536xf32>
}

// -----

// CHECK-LABEL: func.func @parts
// CHECK: dispatch.launch @parts_0::@parts_0
// CHECK: dispatch.launch @parts_1::@parts_1
// CHECK: dispatch.executable @parts_0
// CHECK: stablehlo.concatenate
// CHECK: dispatch.executable @parts_1
// CHECK: stablehlo.exponential
func.func @parts(%x: tensor<65536xf32>, %y: tensor<65536xf32>) -> tensor<131072xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<65536xf32>, tensor<65536xf32>) -> tensor<131072xf32>
  %1 = stablehlo.exponential %0 : tensor<131072xf32>
  return %1 : tensor<131072xf32>
}

// -----

// CHECK-LABEL: func.func @picked
// CHECK: dispatch.launch @picked_0::@picked_0
// CHECK-NEXT: return
func.func @picked(%x: tensor<70000xf32>, %i: tensor<65536x1xi32>) -> tensor<65536xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<70000xf32>, tensor<65536x1xi32>) -> tensor<65536xf32>
  %1 = stablehlo.exponential %0 : tensor<65536xf32>
  return %1 : tensor<65536xf32>
}

// -----

// What a gather picks more from than there is, is computed once, by a kernel of
// its own.
// CHECK-LABEL: func.func @picked_often
// CHECK: dispatch.launch @picked_often_0::@picked_often_0
// CHECK: dispatch.launch @picked_often_1::@picked_often_1
func.func @picked_often(%x: tensor<60000xf32>, %i: tensor<65536x1xi32>) -> tensor<65536xf32> {
  %0 = stablehlo.exponential %x : tensor<60000xf32>
  %1 = "stablehlo.gather"(%0, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<60000xf32>, tensor<65536x1xi32>) -> tensor<65536xf32>
  return %1 : tensor<65536xf32>
}

// -----

// Lists of places are put together where they are read.
// CHECK-LABEL: func.func @listed
// CHECK: dispatch.launch @listed_0::@listed_0
// CHECK-NEXT: return
func.func @listed(%x: tensor<300x300xf32>, %i: tensor<65536x1xi32>, %j: tensor<65536x1xi32>) -> tensor<65536xf32> {
  %0 = stablehlo.concatenate %i, %j, dim = 1 : (tensor<65536x1xi32>, tensor<65536x1xi32>) -> tensor<65536x2xi32>
  %1 = "stablehlo.gather"(%x, %0) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<300x300xf32>, tensor<65536x2xi32>) -> tensor<65536xf32>
  return %1 : tensor<65536xf32>
}

// -----

// Pieces of pieces are written in their places.
// CHECK-LABEL: func.func @pieces
// CHECK: dispatch.launch @pieces_0::@pieces_0
// CHECK-NEXT: return
func.func @pieces(%x: tensor<256x256xf32>, %y: tensor<256x256xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x512xf32>
  %1 = stablehlo.concatenate %y, %x, dim = 1 : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x512xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<256x512xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>
  return %2 : tensor<512x512xf32>
}

// -----

// A product reads its operands in memory: of what makes them, only another order
// of dimensions or another shape joins it.
// CHECK-LABEL: func.func @factors
// CHECK: dispatch.launch @factors_0::@factors_0(%arg1)
// CHECK: dispatch.launch @factors_1::@factors_1
// CHECK: dispatch.executable @factors_0
// CHECK: stablehlo.slice
// CHECK: dispatch.executable @factors_1
// CHECK: stablehlo.transpose
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.tanh
func.func @factors(%x: tensor<300x200xf32>, %y: tensor<301x400xf32>) -> tensor<200x400xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<300x200xf32>) -> tensor<200x300xf32>
  %1 = stablehlo.slice %y [1:301, 0:400] : (tensor<301x400xf32>) -> tensor<300x400xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<200x300xf32>, tensor<300x400xf32>) -> tensor<200x400xf32>
  %3 = stablehlo.tanh %2 : tensor<200x400xf32>
  return %3 : tensor<200x400xf32>
}

// -----

// Heads of attention that are one dimension again have no stride: each workgroup
// of the product would need all of the copy, which is a kernel before it. Where
// one core does the product, it makes the copy too.
// CHECK-LABEL: func.func @heads
// CHECK: dispatch.launch @heads_0::@heads_0
// CHECK: dispatch.launch @heads_1::@heads_1
// CHECK-LABEL: func.func @few_heads
// CHECK: dispatch.launch @few_heads
// CHECK-NOT: dispatch.launch
// CHECK: return
func.func @heads(%x: tensor<12x128x64xf32>, %y: tensor<768x768xf32>) -> tensor<128x768xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<12x128x64xf32>) -> tensor<128x12x64xf32>
  %1 = stablehlo.reshape %0 : (tensor<128x12x64xf32>) -> tensor<128x768xf32>
  %2 = stablehlo.dot_general %1, %y, contracting_dims = [1] x [0] : (tensor<128x768xf32>, tensor<768x768xf32>) -> tensor<128x768xf32>
  return %2 : tensor<128x768xf32>
}
func.func @few_heads(%x: tensor<2x8x16xf32>, %y: tensor<32x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<2x8x16xf32>) -> tensor<8x2x16xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x2x16xf32>) -> tensor<8x32xf32>
  %2 = stablehlo.dot_general %1, %y, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

// -----

// Of a product's results, only maps at the same index are an epilogue.
// CHECK-LABEL: func.func @turned
// CHECK: dispatch.launch @turned_0::@turned_0
// CHECK: dispatch.launch @turned_1::@turned_1
func.func @turned(%x: tensor<200x300xf32>, %y: tensor<300x400xf32>) -> tensor<400x200xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<200x300xf32>, tensor<300x400xf32>) -> tensor<200x400xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<200x400xf32>) -> tensor<400x200xf32>
  %2 = stablehlo.tanh %1 : tensor<400x200xf32>
  return %2 : tensor<400x200xf32>
}

// -----

// What is changed in place costs what is written: one element of many is small
// enough to join its neighbour.
// CHECK-LABEL: func.func @updated
// CHECK: dispatch.launch @updated_0::@updated_0
// CHECK-NOT: dispatch.launch
// CHECK: return
func.func @updated(%x: tensor<100000xf32>, %i: tensor<1x1xi32>, %y: tensor<1xf32>) -> (tensor<100000xf32>, tensor<1xf32>) {
  %0 = stablehlo.exponential %y : tensor<1xf32>
  %1 = "stablehlo.scatter"(%x, %i, %y) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<100000xf32>, tensor<1x1xi32>, tensor<1xf32>) -> tensor<100000xf32>
  return %1, %0 : tensor<100000xf32>, tensor<1xf32>
}

// -----

// Devices and the host are no kernel's; they stand between two.
// CHECK-LABEL: func.func @outside
// CHECK: dispatch.launch @outside_0::@outside_0
// CHECK: stablehlo.custom_call @there
// CHECK: dispatch.launch @outside_1::@outside_1
func.func @outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.exponential %x : tensor<4xf32>
  %1 = stablehlo.custom_call @there(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.exponential %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A convolution whose padding is an operand is a product too.
// CHECK-LABEL: func.func @dynamic_conv
// CHECK: dispatch.launch @dynamic_conv_0::@dynamic_conv_0
// CHECK-NOT: dispatch.launch
// CHECK: return
func.func @dynamic_conv(%x: tensor<8x64x64x16xf32>, %k: tensor<3x3x16x32xf32>) -> tensor<8x62x62x32xf32> {
  %none = stablehlo.constant dense<0> : tensor<2x2xi32>
  %0 = "stablehlo.dynamic_conv"(%x, %k, %none) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<8x64x64x16xf32>, tensor<3x3x16x32xf32>, tensor<2x2xi32>) -> tensor<8x62x62x32xf32>
  %1 = stablehlo.tanh %0 : tensor<8x62x62x32xf32>
  return %1 : tensor<8x62x62x32xf32>
}

// -----

// An element of a convolution takes a window of input features, however many
// output features there are: small.
// CHECK-LABEL: func.func @features
// CHECK: dispatch.launch @features_0::@features_0
// CHECK-NOT: dispatch.launch
// CHECK: return
func.func @features(%x: tensor<1x2x2x2xf32>, %k: tensor<1x1x2x256xf32>, %y: tensor<4xf32>) -> (tensor<1x2x2x256xf32>, tensor<4xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x2x2xf32>, tensor<1x1x2x256xf32>) -> tensor<1x2x2x256xf32>
  %1 = stablehlo.exponential %y : tensor<4xf32>
  return %0, %1 : tensor<1x2x2x256xf32>, tensor<4xf32>
}

// -----

// A product with few terms joins its reader, and a factor whose elements each are
// computed once: not what all 240 rows need.
// CHECK-LABEL: func.func @few_terms
// CHECK: dispatch.launch @few_terms_0::@few_terms_0(%arg1)
// CHECK: dispatch.launch @few_terms_1::@few_terms_1
// CHECK-NOT: dispatch.launch
// CHECK: dispatch.executable @few_terms_0
// CHECK: stablehlo.cosine
// CHECK: dispatch.executable @few_terms_1
// CHECK: stablehlo.sine
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.tanh
func.func @few_terms(%x: tensor<500x240x3xf32>, %y: tensor<500x3x5xf32>, %z: tensor<5x4xf32>) -> tensor<500x240x4xf32> {
  %0 = stablehlo.sine %x : tensor<500x240x3xf32>
  %1 = stablehlo.cosine %y : tensor<500x3x5xf32>
  %2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<500x240x3xf32>, tensor<500x3x5xf32>) -> tensor<500x240x5xf32>
  %3 = stablehlo.dot_general %2, %z, contracting_dims = [2] x [0] : (tensor<500x240x5xf32>, tensor<5x4xf32>) -> tensor<500x240x4xf32>
  %4 = stablehlo.tanh %3 : tensor<500x240x4xf32>
  return %4 : tensor<500x240x4xf32>
}

// -----

// Numbers of places are computed where a sort needs them; what else it sorts is in
// memory.
// CHECK-LABEL: func.func @argsort
// CHECK: dispatch.launch @argsort_0::@argsort_0(%arg0) : (tensor<100000xf32>) -> tensor<100000xf32>
// CHECK: dispatch.launch @argsort_1::@argsort_1(%{{.*}}) : (tensor<100000xf32>) -> tensor<100000xi32>
// CHECK-NOT: dispatch.launch
// CHECK: dispatch.executable @argsort_0
// CHECK: stablehlo.sine
// CHECK: dispatch.executable @argsort_1
// CHECK: stablehlo.iota
// CHECK: stablehlo.sort
func.func @argsort(%x: tensor<100000xf32>) -> tensor<100000xi32> {
  %0 = stablehlo.sine %x : tensor<100000xf32>
  %1 = stablehlo.iota dim = 0 : tensor<100000xi32>
  %2:2 = "stablehlo.sort"(%0, %1) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %c = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<100000xf32>, tensor<100000xi32>) -> (tensor<100000xf32>, tensor<100000xi32>)
  return %2#1 : tensor<100000xi32>
}

// -----

// Rows whose number and length only the call knows are one loop too, if the host
// sees that a broadcast keeps their number.
// CHECK-LABEL: func.func @rows_of_any_size
// CHECK: dispatch.launch @rows_of_any_size_0
// CHECK-NOT: dispatch.launch
// CHECK: return
func.func @rows_of_any_size(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %c = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %r1 = stablehlo.reshape %r : (tensor<i32>) -> tensor<1xi32>
  %c1 = stablehlo.reshape %c : (tensor<i32>) -> tensor<1xi32>
  %list = stablehlo.concatenate %r1, %c1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %e = stablehlo.exponential %x : tensor<?x?xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  %tb = stablehlo.dynamic_broadcast_in_dim %t, %list, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %0 = stablehlo.divide %e, %tb : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// One row, perhaps, that becomes many.
// CHECK-LABEL: func.func @one_row_perhaps
// CHECK: dispatch.launch @one_row_perhaps_1
// CHECK: dispatch.launch @one_row_perhaps_2
// CHECK: return
func.func @one_row_perhaps(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %r = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %r1 = stablehlo.reshape %r : (tensor<i32>) -> tensor<1xi32>
  %list = stablehlo.concatenate %r1, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %t = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
  %tb = stablehlo.dynamic_broadcast_in_dim %t, %list, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %0 = stablehlo.divide %y, %tb : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// What is made of elements at the same place is written by one loop: results
// that others read, and what only reads the same.
// CHECK-LABEL: func.func @one_loop
// CHECK: %[[R:.*]]:3 = dispatch.launch
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func @one_loop(%m: tensor<512x512xf32>, %g: tensor<512x512xf32>, %s: tensor<512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>) {
  %0 = stablehlo.add %m, %g : tensor<512x512xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<512xf32>) -> tensor<512x512xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<512x512xf32>
  %3 = stablehlo.sine %g : tensor<512x512xf32>
  return %0, %2, %3 : tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>
}

// -----

// Does not fire: what is needed between, other shapes, and nothing in common.
// CHECK-LABEL: func.func @several_loops
// CHECK-COUNT-5: dispatch.launch
// CHECK-NEXT: return
func.func @several_loops(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>, %z: tensor<256x1024xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>, tensor<256x1024xf32>) {
  %0 = stablehlo.sine %x : tensor<512x512xf32>
  %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %2 = stablehlo.reverse %1, dims = [0] : tensor<512x512xf32>
  %3 = stablehlo.multiply %2, %0 : tensor<512x512xf32>
  %4 = stablehlo.cosine %y : tensor<512x512xf32>
  %5 = stablehlo.cosine %z : tensor<256x1024xf32>
  return %3, %4, %5 : tensor<512x512xf32>, tensor<512x512xf32>, tensor<256x1024xf32>
}

// -----

// A few instructions on what is in memory anyway are repeated by each reader;
// what a product reads is written once.
// CHECK-LABEL: func.func @repeated
// CHECK: %[[A:.*]] = dispatch.launch @{{[a-z_0-9:@]*}}(%arg0) : (tensor<512x512xf32>) -> tensor<512x512xf32>
// CHECK: %[[P:.*]] = dispatch.launch @{{[a-z_0-9:@]*}}(%[[A]]
// CHECK: dispatch.launch @{{[a-z_0-9:@]*}}(%arg0) : (tensor<512x512xf32>) -> tensor<512xf32>
// CHECK: return
func.func @repeated(%x: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.floor %x : tensor<512x512xf32>
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %2 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  return %1, %2 : tensor<512x512xf32>, tensor<512xf32>
}

// -----

// What a routine reads whole is computed before, by all cores, even through a
// view; a little of it is not worth a kernel.
// CHECK-LABEL: func.func @routine
// CHECK: dispatch.launch @routine_0::@routine_0
// CHECK: dispatch.launch @routine_1::@routine_1
// CHECK: dispatch.executable @routine_0
// CHECK: stablehlo.multiply
// CHECK: dispatch.executable @routine_1
// CHECK: stablehlo.reshape
// CHECK: stablehlo.fft
func.func @routine(%x: tensor<64x4000xf32>) -> tensor<16x4x2001xcomplex<f32>> {
  %0 = stablehlo.multiply %x, %x : tensor<64x4000xf32>
  %1 = stablehlo.reshape %0 : (tensor<64x4000xf32>) -> tensor<16x4x4000xf32>
  %2 = stablehlo.fft %1, type = RFFT, length = [4000] : (tensor<16x4x4000xf32>) -> tensor<16x4x2001xcomplex<f32>>
  return %2 : tensor<16x4x2001xcomplex<f32>>
}

// -----

// CHECK-LABEL: func.func @small_routine
// CHECK: dispatch.launch @small_routine_0::@small_routine_0
// CHECK-NOT: dispatch.launch
func.func @small_routine(%x: tensor<2x40xf32>) -> tensor<2x21xcomplex<f32>> {
  %0 = stablehlo.multiply %x, %x : tensor<2x40xf32>
  %1 = stablehlo.fft %0, type = RFFT, length = [40] : (tensor<2x40xf32>) -> tensor<2x21xcomplex<f32>>
  return %1 : tensor<2x21xcomplex<f32>>
}

// -----

// What is read in another shape is in memory before, and no kernel turns its
// shape: indices would be divided, or all of it copied.
// CHECK-LABEL: func.func @shapes
// CHECK: %[[A:.*]] = dispatch.launch @shapes_0::@shapes_0(%arg0)
// CHECK: %[[B:.*]] = dispatch.launch @shapes_1::@shapes_1(%[[A]])
// CHECK: %[[V:.*]] = dispatch.view %[[B]]
// CHECK-NOT: dispatch.launch
// CHECK: return %[[V]]
func.func @shapes(%x: tensor<640x1000xf32>) -> tensor<10x64x1000xf32> {
  %0 = stablehlo.exponential %x : tensor<640x1000xf32>
  %1 = stablehlo.reshape %0 : (tensor<640x1000xf32>) -> tensor<640000xf32>
  %2 = stablehlo.cosine %1 : tensor<640000xf32>
  %3 = stablehlo.reshape %2 : (tensor<640000xf32>) -> tensor<10x64x1000xf32>
  return %3 : tensor<10x64x1000xf32>
}

// -----

// Elements that several rows or several elements of a row read are computed
// before; what a row of the result shares is computed for it.
// CHECK-LABEL: func.func @several
// CHECK: dispatch.launch @several_0::@several_0
// CHECK: dispatch.launch @several_1::@several_1
// CHECK: dispatch.launch @several_2::@several_2
// CHECK: dispatch.launch @several_3::@several_3
// CHECK: dispatch.launch @several_4::@several_4
// CHECK-NOT: dispatch.launch
// CHECK: return
func.func @several(%x: tensor<512x512xf32>, %y: tensor<512xf32>) -> (tensor<512x2x512xf32>, tensor<512x511xf32>, tensor<512x512xf32>) {
  %0 = stablehlo.exponential %x : tensor<512x512xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 2] : (tensor<512x512xf32>) -> tensor<512x2x512xf32>
  %2 = stablehlo.cosine %x : tensor<512x512xf32>
  %3 = stablehlo.slice %2 [0:512, 0:511] : (tensor<512x512xf32>) -> tensor<512x511xf32>
  %4 = stablehlo.slice %2 [0:512, 1:512] : (tensor<512x512xf32>) -> tensor<512x511xf32>
  %5 = stablehlo.subtract %3, %4 : tensor<512x511xf32>
  %6 = stablehlo.exponential %y : tensor<512xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
  %8 = stablehlo.add %7, %x : tensor<512x512xf32>
  return %1, %5, %8 : tensor<512x2x512xf32>, tensor<512x511xf32>, tensor<512x512xf32>
}

// -----

// A few elements of a row share an element, which is computed before: for 3 of
// them and for 40, but not for 300.
// CHECK-LABEL: func.func @short_rows
// CHECK: dispatch.launch @short_rows_0::@short_rows_0(%{{.*}}) : (tensor<9000xf32>) -> tensor<9000xf32>
// CHECK: dispatch.launch @short_rows_1::@short_rows_1(%{{.*}}) : {{.*}} -> tensor<9000x3xf32>
// CHECK: dispatch.launch @short_rows_2::@short_rows_2(%{{.*}}) : (tensor<9000xf32>) -> tensor<9000xf32>
// CHECK: dispatch.launch @short_rows_3::@short_rows_3(%{{.*}}) : {{.*}} -> tensor<9000x40xf32>
// CHECK: dispatch.launch @short_rows_4::@short_rows_4(%{{.*}}) : {{.*}} -> tensor<9000x300xf32>
// CHECK-NOT: dispatch.launch
// CHECK: return
func.func @short_rows(%x: tensor<9000xf32>, %a: tensor<9000x3xf32>, %b: tensor<9000x40xf32>, %c: tensor<9000x300xf32>) -> (tensor<9000x3xf32>, tensor<9000x40xf32>, tensor<9000x300xf32>) {
  %0 = stablehlo.exponential %x : tensor<9000xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<9000xf32>) -> tensor<9000x3xf32>
  %2 = stablehlo.multiply %1, %a : tensor<9000x3xf32>
  %3 = stablehlo.cosine %x : tensor<9000xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<9000xf32>) -> tensor<9000x40xf32>
  %5 = stablehlo.multiply %4, %b : tensor<9000x40xf32>
  %6 = stablehlo.sine %x : tensor<9000xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<9000xf32>) -> tensor<9000x300xf32>
  %8 = stablehlo.multiply %7, %c : tensor<9000x300xf32>
  return %2, %5, %8 : tensor<9000x3xf32>, tensor<9000x40xf32>, tensor<9000x300xf32>
}

// -----

// A number for each row is computed of sums that all cores have written; what
// becomes of a row's elements stays in the loop over it.
// CHECK-LABEL: func.func @norms
// CHECK: dispatch.launch @norms_0::@norms_0(%{{.*}}) : (tensor<90000x3xf32>) -> tensor<90000xf32>
// CHECK: dispatch.launch @norms_1::@norms_1(%{{.*}}) in_place [0] : (tensor<90000xf32>) -> tensor<90000xf32>
// CHECK: dispatch.launch @norms_2::@norms_2(%{{.*}}) : (tensor<9000x4xf32>) -> tensor<9000x4xf32>
// CHECK-NOT: dispatch.launch
// CHECK: return
func.func @norms(%x: tensor<90000x3xf32>, %y: tensor<9000x4xf32>) -> (tensor<90000xf32>, tensor<9000x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %x, %x : tensor<90000x3xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<90000x3xf32>, tensor<f32>) -> tensor<90000xf32>
  %2 = stablehlo.sqrt %1 : tensor<90000xf32>
  %3 = stablehlo.multiply %y, %y : tensor<9000x4xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<9000x4xf32>, tensor<f32>) -> tensor<9000xf32>
  %5 = stablehlo.sqrt %4 : tensor<9000xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<9000xf32>) -> tensor<9000x4xf32>
  %7 = stablehlo.divide %y, %6 : tensor<9000x4xf32>
  return %2, %7 : tensor<90000xf32>, tensor<9000x4xf32>
}
