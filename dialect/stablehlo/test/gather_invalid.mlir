// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @operand_rank(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': rank of the operand must be the number of offset_dims, collapsed_slice_dims and operand_batching_dims: is 3, has 2 + 2 + 0}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @vector_dim_range(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': index_vector_dim must be in range [0, 4): 4 is not}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 4>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @index_count(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': start_index_map must have an entry for each index: has 1, dim 2 of start_indices has 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @index_count_without_vector(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': start_index_map must have an entry for each index: has 2, dim 3 of start_indices has 1}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [3], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @offset_order(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': offset_dims must be sorted: is [3, 2]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [3, 2], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @offset_repeated(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': offset_dims must be unique: 2 is repeated}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 2], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @offset_range(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': offset_dims must be in range [0, 3): 3 is not}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [3], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @collapsed_range(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': collapsed_slice_dims must be in range [0, 3): 3 is not}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 3], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @collapsed_order(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': collapsed_slice_dims must be sorted: is [1, 0]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1, 0], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @collapsed_repeated(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': collapsed_slice_dims and operand_batching_dims must be unique: 0 is repeated}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @batching_range(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': operand_batching_dims must be in range [0, 3): -1 is not}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], operand_batching_dims = [-1], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @batching_order(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': operand_batching_dims must be sorted: is [1, 0]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [], operand_batching_dims = [1, 0], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @indices_batching_range(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': start_indices_batching_dims must be in range [0, 3): 3 is not}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [3], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @indices_batching_repeated(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': start_indices_batching_dims must be unique: 0 is repeated}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 0], start_index_map = [2], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @indices_batching_vector(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': start_indices_batching_dims must not contain index_vector_dim: both have 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @batching_counts(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': operand_batching_dims and start_indices_batching_dims must have one size: have 1 and 0}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @batching_sizes(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': batching dimension sizes must be equal: dim 0 of the operand is 3, dim 0 of start_indices is 5}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @map_range(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': start_index_map must be in range [0, 3): 3 is not}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 3], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @map_repeated(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': start_index_map and operand_batching_dims must be unique: 0 is repeated}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @size_count(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': slice_sizes must have an entry for each dimension of the operand: has 2, operand is 'tensor<3x4x8xf32>'}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @size_too_large(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': slice_sizes must be in range [0, 8] of the operand: entry 2 is 9}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 9>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @size_negative(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': slice_sizes must be in range [0, 8] of the operand: entry 2 is -1}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, -1>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @collapsed_size(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{'stablehlo.gather': slice_sizes of collapsed and batching dimensions must be at most 1: entry 1 is 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x8xf32>
  return
}

// -----

func.func @wrong_result(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  // expected-error@+1 {{result types must agree with the inferred ones: inferred 'tensor<5x6x8xf32>', got 'tensor<5x6x7xf32>'}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>) -> tensor<5x6x7xf32>
  return
}

// -----

func.func @dynamic_size_count(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  %s = stablehlo.constant dense<1> : tensor<2xi32>
  // expected-error@+1 {{'stablehlo.dynamic_gather': slice_sizes must have an entry for each dimension of the operand: has 2, operand is 'tensor<3x4x8xf32>'}}
  %0 = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<2xi32>) -> tensor<5x6x?xf32>
  return
}

// -----

func.func @dynamic_size_too_large(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  %s = stablehlo.constant dense<[1, 1, 9]> : tensor<3xi32>
  // expected-error@+1 {{'stablehlo.dynamic_gather': slice_sizes must be in range [0, 8] of the operand: entry 2 is 9}}
  %0 = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<3xi32>) -> tensor<5x6x?xf32>
  return
}

// -----

func.func @dynamic_size_negative(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  %s = stablehlo.constant dense<-1> : tensor<3xi32>
  // expected-error@+1 {{'stablehlo.dynamic_gather': slice_sizes must be in range [0, 3] of the operand: entry 0 is -1}}
  %0 = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<3xi32>) -> tensor<5x6x?xf32>
  return
}

// -----

func.func @dynamic_wrong_result(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>) {
  %s = stablehlo.constant dense<1> : tensor<3xi32>
  // expected-error@+1 {{'stablehlo.dynamic_gather': result types must agree with the inferred ones: inferred 'tensor<5x6x1xf32>', got 'tensor<5x6x2xf32>'}}
  %0 = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>}> : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<3xi32>) -> tensor<5x6x2xf32>
  return
}

// -----

func.func @select_index_type(%x: tensor<2x4x8xf32>, %i: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.torch_index_select': index must be of integers: is 'tensor<2x3xf32>'}}
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<2x4x8xf32>, tensor<2x3xf32>) -> tensor<2x3x8xf32>
  return
}

// -----

func.func @select_dim(%x: tensor<2x4x8xf32>, %i: tensor<2x3xi32>) {
  // expected-error@+1 {{'stablehlo.torch_index_select': dim must be in range [0, 3): 3 is not}}
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 3 : i64, batch_dims = 1 : i64}> : (tensor<2x4x8xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
  return
}

// -----

func.func @select_batch_dims(%x: tensor<2x4x8xf32>, %i: tensor<2x3xi32>) {
  // expected-error@+1 {{'stablehlo.torch_index_select': batch_dims must be in range [0, 2): 2 is not}}
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 2 : i64}> : (tensor<2x4x8xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
  return
}

// -----

func.func @select_batch_sizes(%x: tensor<2x4x8xf32>, %i: tensor<5x3xi32>) {
  // expected-error@+1 {{'stablehlo.torch_index_select': batch dimension sizes must be equal: dim 0 of operand is 2, of index is 5}}
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<2x4x8xf32>, tensor<5x3xi32>) -> tensor<2x3x8xf32>
  return
}

// -----

func.func @select_element(%x: tensor<2x4x8xf32>, %i: tensor<2x3xi32>) {
  // expected-error@+1 {{'stablehlo.torch_index_select': element types of operand and result must be equal: are 'tensor<2x4x8xf32>' and 'tensor<2x3x8xf64>'}}
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<2x4x8xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf64>
  return
}

// -----

func.func @select_result(%x: tensor<2x4x8xf32>, %i: tensor<2x3xi32>) {
  // expected-error@+1 {{'stablehlo.torch_index_select': result shape must be [2, 3, 8]: result is 'tensor<2x4x8xf32>'}}
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<2x4x8xf32>, tensor<2x3xi32>) -> tensor<2x4x8xf32>
  return
}
