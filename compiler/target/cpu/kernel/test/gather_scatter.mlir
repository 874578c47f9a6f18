// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=clamped --input=5xf32=10,11,12,13,14 --input=4x1xi32=-7,0,3,9 --expected_output=4x2xf32=10,11,10,11,13,14,13,14
// RUN: alula-run %t.alula --function=unsigned --input=5xf32=10,11,12,13,14 --input=3xui64=0,4,18446744073709551615 --expected_output=3xf32=10,14,14
// RUN: alula-run %t.alula --function=columns --input=2x4xi8=1,2,3,4,5,6,7,8 --input=3xi64=3,0,1 --expected_output=2x3xi8=4,1,2,8,5,6
// RUN: alula-run %t.alula --function=batched --input=2x3xf32=1,2,3,4,5,6 --input=2x2xi32=2,0,1,1 --expected_output=2x2xf32=3,1,5,5
// RUN: alula-run %t.alula --function=in_order --input=4xf32=1,1,1,1 --input=5xi32=2,0,2,-1,4 --input=5xf32=2,3,4,5,6 --expected_output=4xf32=4,1,4,1
// RUN: alula-run %t.alula --function=parts --input=4xi32=0,0,0,0 --input=4x1xi64=-1,3,-9223372036854775808,1 --input=4x2xi32=1,2,3,4,5,6,7,8 --expected_output=4xi32=0,7,8,0
// RUN: alula-run %t.alula --function=two --input=3xi32=1,2,3 --input=3xf32=0,0,0 --input=3xi32=1,1,2 --input=3xi32=5,6,7 --input=3xf32=1.5,2.5,3.5 --expected_output=3xi32=1,13,10 --expected_output=3xf32=0,2.5,3.5
// RUN: alula-run %t.alula --function=one_column --input=4x4xi32=0 --input=3xi32=0,1,-1 --input=3x4xi32=1,2,3,4,5,6,7,8,9,10,11,12 --expected_output=4x4xi32=1,0,0,0,2,0,0,0,3,0,0,0,4,0,0,0
// RUN: alula-run %t.alula --function=one_row --input=4x4xi32=0 --input=3xi32=0,1,-1 --input=3x4xi32=1,2,3,4,5,6,7,8,9,10,11,12 --expected_output=4x4xi32=1,2,3,4,0,0,0,0,0,0,0,0,0,0,0,0
// RUN: alula-run %t.alula --function=no_column --input=4x0xi32 --input=3xi32=0,1,2 --input=3x4xi32=1 --expected_output=4x0xi32
// RUN: alula-run %t.alula --function=empty_slices --input=4x5xi32=7 --input=2xi32=0,1 --expected_output=2x3xi32=0

// The numbers follow from the rules by hand: starts of slices are moved until
// the slice lies inside; windows of updates that are partly outside are left out.
module {
func.func @clamped(%x: tensor<5xf32>, %i: tensor<4x1xi32>) -> tensor<4x2xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2>, indices_are_sorted = false}> : (tensor<5xf32>, tensor<4x1xi32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

func.func @unsigned(%x: tensor<5xf32>, %i: tensor<3xui64>) -> tensor<3xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = false}> : (tensor<5xf32>, tensor<3xui64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// The dimension of the slices comes before the batch.
func.func @columns(%x: tensor<2x4xi8>, %i: tensor<3xi64>) -> tensor<2x3xi8> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1>, indices_are_sorted = false}> : (tensor<2x4xi8>, tensor<3xi64>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

func.func @batched(%x: tensor<2x3xf32>, %i: tensor<2x2xi32>) -> tensor<2x2xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<2x3xf32>, tensor<2x2xi32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// y ← 2 (u − y): what the last update makes depends on the ones before it.
func.func @in_order(%x: tensor<4xf32>, %i: tensor<5xi32>, %u: tensor<5xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %1 = stablehlo.subtract %new, %old : tensor<f32>
    %2 = stablehlo.add %1, %1 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4xf32>, tensor<5xi32>, tensor<5xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @parts(%x: tensor<4xi32>, %i: tensor<4x1xi64>, %u: tensor<4x2xi32>) -> tensor<4xi32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%old: tensor<i32>, %new: tensor<i32>):
    stablehlo.return %new : tensor<i32>
  }) : (tensor<4xi32>, tensor<4x1xi64>, tensor<4x2xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

func.func @two(%x: tensor<3xi32>, %y: tensor<3xf32>, %i: tensor<3xi32>, %u: tensor<3xi32>, %v: tensor<3xf32>) -> (tensor<3xi32>, tensor<3xf32>) {
  %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<f32>):
    %1 = stablehlo.add %a, %c : tensor<i32>
    stablehlo.return %1, %d : tensor<i32>, tensor<f32>
  }) : (tensor<3xi32>, tensor<3xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xf32>) -> (tensor<3xi32>, tensor<3xf32>)
  return %0#0, %0#1 : tensor<3xi32>, tensor<3xf32>
}

// An inserted dimension that no index names: the windows have place 0 of it, if
// there is one.
func.func @one_column(%x: tensor<4x4xi32>, %i: tensor<3xi32>, %u: tensor<3x4xi32>) -> tensor<4x4xi32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<i32>, %new: tensor<i32>):
    stablehlo.return %new : tensor<i32>
  }) : (tensor<4x4xi32>, tensor<3xi32>, tensor<3x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

func.func @one_row(%x: tensor<4x4xi32>, %i: tensor<3xi32>, %u: tensor<3x4xi32>) -> tensor<4x4xi32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<i32>, %new: tensor<i32>):
    stablehlo.return %new : tensor<i32>
  }) : (tensor<4x4xi32>, tensor<3xi32>, tensor<3x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

func.func @no_column(%x: tensor<4x0xi32>, %i: tensor<3xi32>, %u: tensor<3x4xi32>) -> tensor<4x0xi32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<i32>, %new: tensor<i32>):
    stablehlo.return %new : tensor<i32>
  }) : (tensor<4x0xi32>, tensor<3xi32>, tensor<3x4xi32>) -> tensor<4x0xi32>
  return %0 : tensor<4x0xi32>
}

// The slices are empty in the dimension that is left out: nothing to read.
func.func @empty_slices(%x: tensor<4x5xi32>, %i: tensor<2xi32>) -> tensor<2x3xi32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 3, 0>}> : (tensor<4x5xi32>, tensor<2xi32>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}
}
