// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @operand_rank(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': rank of the operand must be the number of update_window_dims, inserted_window_dims and input_batching_dims: is 3, has 2 + 2 + 0}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @vector_dim_range(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': index_vector_dim must be in range [0, 4): -1 is not}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = -1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @index_count(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': scatter_dims_to_operand_dims must have an entry for each index: has 1, dim 2 of scatter_indices has 2}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @window_order(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': update_window_dims must be sorted: is [3, 2]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3, 2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @window_repeated(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': update_window_dims must be unique: 2 is repeated}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @window_range(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': update_window_dims must be in range [0, 3): 3 is not}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @inserted_range(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': inserted_window_dims must be in range [0, 3): 3 is not}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 3], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @inserted_order(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': inserted_window_dims must be sorted: is [1, 0]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1, 0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @inserted_repeated(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': inserted_window_dims and input_batching_dims must be unique: 0 is repeated}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @batching_range(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': input_batching_dims must be in range [0, 3): 4 is not}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], input_batching_dims = [4], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @batching_order(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': input_batching_dims must be sorted: is [1, 0]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [], input_batching_dims = [1, 0], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @indices_batching_range(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': scatter_indices_batching_dims must be in range [0, 3): 3 is not}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [3], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @indices_batching_repeated(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': scatter_indices_batching_dims must be unique: 0 is repeated}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 0], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @indices_batching_vector(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': scatter_indices_batching_dims must not contain index_vector_dim: both have 2}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [2], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @batching_counts(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': input_batching_dims and scatter_indices_batching_dims must have one size: have 1 and 0}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @batching_sizes(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': batching dimension sizes must be equal: dim 0 of the operand is 3, dim 0 of scatter_indices is 5}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @map_range(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': scatter_dims_to_operand_dims must be in range [0, 3): 3 is not}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 3], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @map_repeated(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': scatter_dims_to_operand_dims and input_batching_dims must be unique: 0 is repeated}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @updates_rank(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': rank of updates must be 3: is 2}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @updates_window(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x9xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': window of updates must fit into the input: dim 2 of updates is 9, dim 2 of the input is 8}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x9xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @updates_batches(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x7x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': scatter dimension sizes must be equal: dim 1 of updates is 7, dim 1 of scatter_indices is 6}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x7x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @updates_type(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xi32>) {
  // expected-error@+1 {{'stablehlo.scatter': element types of inputs and updates must be equal: input 0 is 'tensor<3x4x8xf32>', update 0 is 'tensor<5x6x8xi32>'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xi32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @wrong_result(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{result types must agree with the inferred ones: inferred 'tensor<3x4x8xf32>', got 'tensor<3x4x9xf32>'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x9xf32>
  return
}

// -----

func.func @body_takes_one(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': update_computation must take 2 arguments: takes 1}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @body_narrows(%x: tensor<3x4x8xf32>, %i: tensor<5x6x2xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': update_computation must return an element type that 'f32' is promotable to: value 0 is 'tensor<f16>'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %s = stablehlo.add %a, %b : tensor<f16>
    stablehlo.return %s : tensor<f16>
  }) : (tensor<3x4x8xf32>, tensor<5x6x2xi32>, tensor<5x6x8xf32>) -> tensor<3x4x8xf16>
  return
}

// -----

func.func @inputs_differ(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>, %v: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': inputs must have compatible shapes: are 'tensor<4xf32>', 'tensor<5xf32>'}}
  %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<5xf32>, tensor<2x1xi32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<5xf32>)
  return
}

// -----

func.func @updates_differ(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>, %v: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.scatter': updates must have compatible shapes: are 'tensor<2xf32>', 'tensor<3xf32>'}}
  %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>, tensor<3xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @no_inputs(%i: tensor<2x1xi32>) {
  // expected-error@+1 {{'stablehlo.scatter': number of inputs and updates must be equal and at least 1: 1 operands with scatter_indices}}
  "stablehlo.scatter"(%i) <{scatter_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1>}> ({
    stablehlo.return
  }) : (tensor<2x1xi32>) -> ()
  return
}
