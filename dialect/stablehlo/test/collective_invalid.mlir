// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @gather_dim_range(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': all_gather_dim must be in range [0, 2): 2 is not}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @gather_dim_negative(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': all_gather_dim must be in range [0, 2): -1 is not}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = -1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @gather_groups_rank(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': replica_groups must be 2-dimensional: is 'tensor<2xi64>'}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[0, 1]> : tensor<2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @gather_groups_repeated(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': replica_groups must be unique: id 1 is repeated}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @gather_groups_huge(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': replica_groups must be unique: id 0 is repeated}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<0> : tensor<1000000x1000000xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @gather_groups_padded(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': replica_groups must not have negative ids: has -1}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @gather_groups_missing(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': replica_groups must have every id below 2: 1 is missing}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @gather_groups_largest_id(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': replica_groups must have every id below 2: 1 is missing}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 9223372036854775807]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @gather_channel(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': channel_id must be positive if use_global_device_ids is set: is -1}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = -1, type = 0>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @gather_no_groups(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': replica_groups must not be empty: is 'tensor<0x2xi64>'}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<> : tensor<0x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @gather_empty_operand(%x: tensor<4x0xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': size of all_gather_dim must not be 0: operand is 'tensor<4x0xf32>'}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x0xf32>) -> tensor<4x0xf32>
  return
}

// -----

func.func @gather_ranks(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': ranks of operand and result must be equal: are 'tensor<4x8xf32>' and 'tensor<4x8x2xf32>'}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8x2xf32>
  return
}

// -----

func.func @gather_other_sizes(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': sizes other than that of all_gather_dim must be equal: operand is 'tensor<4x8xf32>', result is 'tensor<5x16xf32>'}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<5x16xf32>
  return
}

// -----

func.func @gather_no_multiple(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': size of all_gather_dim must be a multiple of the operand's: 15 and 8}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x15xf32>
  return
}

// -----

func.func @gather_no_mesh(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': mesh of replica_groups must be defined: @mesh is not}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @gather_sub_axis(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': sizes of a sub-axis must divide its axis: #stablehlo.axis_ref<name = "x", sub_axis_info = (2)3> of an axis of size 4}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 4>, #stablehlo.mesh_axis<name = "y", size = 2>]>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (2)3>]>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @gather_axes_empty(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather': axes of replica_groups must have a positive number of devices: do not in #stablehlo.replica_group_mesh_axes<mesh = }}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 4>, #stablehlo.mesh_axis<name = "y", size = 0>]>, axes = [#stablehlo.axis_ref<name = "y">]>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @reduce_groups_repeated(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.all_reduce': replica_groups must be unique: id 0 is repeated}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<0> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_groups_negative(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.all_reduce': replica_groups must not have negative ids: has -2}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_groups_missing(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.all_reduce': replica_groups must have every id below 1: 0 is missing}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[1, -1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_channel(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.all_reduce': channel_id must be positive if use_global_device_ids is set: is 0}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_body(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.all_reduce': computation must take 2 arguments: takes 1}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_body_narrows(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.all_reduce': computation must return an element type that 'f32' is promotable to: value 0 is 'tensor<f16>'}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %s = stablehlo.add %a, %b : tensor<f16>
    stablehlo.return %s : tensor<f16>
  }) : (tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @reduce_body_vector(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.all_reduce': computation must return 0-dimensional tensors: value 0 is 'tensor<4xf32>'}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %s = stablehlo.add %a, %b : tensor<4xf32>
    stablehlo.return %s : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.all_reduce': result types must agree with the inferred ones: inferred 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @scatter_dim_range(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter': scatter_dimension must be in range [0, 2): 2 is not}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scatter_groups_padded(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter': replica_groups must not have negative ids: has -1}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, -1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scatter_channel(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter': channel_id must be positive if use_global_device_ids is set: is 0}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scatter_ranks(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter': ranks of operand and result must be equal: are 'tensor<4x3xf32>' and 'tensor<2xf32>'}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @scatter_empty_result(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter': size of scatter_dimension must not be 0: operand is 'tensor<4x3xf32>', result is 'tensor<0x3xf32>'}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<0x3xf32>
  return
}

// -----

func.func @scatter_no_multiple(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter': size of scatter_dimension must be a multiple of the result's: 4 and 3}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @scatter_group_multiple(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter': size of scatter_dimension must be a multiple of the group size: 4 and 3}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scatter_group_size(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter': size of scatter_dimension of the result must be the operand's divided by the group size: is 4, operand's is 4, group size is 2}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @scatter_other_sizes(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter': sizes other than that of scatter_dimension must be equal: operand is 'tensor<4x3xf32>', result is 'tensor<2x5xf32>'}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @scatter_element(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter': element type of result must be that of the computation: is 'f64', computation returns 'f32'}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @scatter_body(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter': computation must return 1 values: returns 0}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return
  }) : (tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @all_split_dim(%x: tensor<4x16xf32>) {
  // expected-error@+1 {{'stablehlo.all_to_all': split_dimension must be in range [0, 2): 2 is not}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 2 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> : (tensor<4x16xf32>) -> tensor<16x4xf32>
  return
}

// -----

func.func @all_concat_dim(%x: tensor<4x16xf32>) {
  // expected-error@+1 {{'stablehlo.all_to_all': concat_dimension must be in range [0, 2): -1 is not}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = -1 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> : (tensor<4x16xf32>) -> tensor<16x4xf32>
  return
}

// -----

func.func @all_split_multiple(%x: tensor<4x15xf32>) {
  // expected-error@+1 {{'stablehlo.all_to_all': size of split_dimension must be a multiple of split_count: 15 and 4}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> : (tensor<4x15xf32>) -> tensor<16x4xf32>
  return
}

// -----

func.func @all_group_size(%x: tensor<4x16xf32>) {
  // expected-error@+1 {{'stablehlo.all_to_all': group size must be split_count: is 2, split_count is 4}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x16xf32>) -> tensor<16x4xf32>
  return
}

// -----

func.func @all_no_groups(%x: tensor<4x16xf32>) {
  // expected-error@+1 {{'stablehlo.all_to_all': replica_groups must not be empty: is 'tensor<0x2xi64>'}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<> : tensor<0x2xi64>}> : (tensor<4x16xf32>) -> tensor<16x4xf32>
  return
}

// -----

func.func @all_overflow(%x: tensor<8589934592x0xf32>) {
  // expected-error@+1 {{'stablehlo.all_to_all': size of concat_dimension must fit in 64 bits: 8589934592 times 4611686018427387904 does not}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4611686018427387904 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> : (tensor<8589934592x0xf32>) -> tensor<16x4xf32>
  return
}

// -----

func.func @all_result(%x: tensor<4x16xf32>) {
  // expected-error@+1 {{'stablehlo.all_to_all': result types must agree with the inferred ones: inferred 'tensor<16x4xf32>', got 'tensor<16x5xf32>'}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> : (tensor<4x16xf32>) -> tensor<16x5xf32>
  return
}

// -----

func.func @all_count_not_positive(%x: tensor<4x16xf32>) {
  // expected-error@+1 {{'stablehlo.all_to_all': split_count must be positive: is 0}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> : (tensor<4x16xf32>) -> tensor<16x4xf32>
  return
}

// -----

func.func @broadcast_nothing() {
  // expected-error@+1 {{'stablehlo.collective_broadcast': number of operands must be at least 1: is 0}}
  "stablehlo.collective_broadcast"() <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : () -> ()
  return
}

// -----

func.func @broadcast_only_root(%r: tensor<1xi32>) {
  // expected-error@+1 {{'stablehlo.collective_broadcast': number of operands must be at least 2: is 1}}
  "stablehlo.collective_broadcast"(%r) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<1xi32>) -> ()
  return
}

// -----

func.func @broadcast_root_type(%x: tensor<4xf32>, %r: tensor<1xi64>) {
  // expected-error@+1 {{'stablehlo.collective_broadcast': dynamic root must be tensor<1xi32>: is 'tensor<1xi64>'}}
  %0 = "stablehlo.collective_broadcast"(%x, %r) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<4xf32>, tensor<1xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_root_count(%x: tensor<4xf32>, %r: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.collective_broadcast': dynamic root must be tensor<1xi32>: is 'tensor<2xi32>'}}
  %0 = "stablehlo.collective_broadcast"(%x, %r) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<4xf32>, tensor<2xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_root_range(%x: tensor<4xf32>) {
  %r = stablehlo.constant dense<2> : tensor<1xi32>
  // expected-error@+1 {{'stablehlo.collective_broadcast': dynamic root must be in range [0, 2): 2 is not}}
  %0 = "stablehlo.collective_broadcast"(%x, %r) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.collective_broadcast': result types must agree with the inferred ones: inferred 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @rooted_reduce_nothing() {
  // expected-error@+1 {{'stablehlo.collective_reduce': number of operands must be at least 2: is 0}}
  "stablehlo.collective_reduce"() <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : () -> ()
  return
}

// -----

func.func @rooted_reduce_only_root(%r: tensor<1xi32>) {
  // expected-error@+1 {{'stablehlo.collective_reduce': number of operands must be at least 2: is 1}}
  "stablehlo.collective_reduce"(%r) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1xi32>) -> ()
  return
}

// -----

func.func @rooted_reduce_body(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.collective_reduce': computation must take what it returns: argument 1 is 'tensor<i32>', value 0 is 'tensor<f32>'}}
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @permute_shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.collective_permute': source_target_pairs must have shape [N, 2]: is [2, 3]}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<0> : tensor<2x3xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @permute_rank(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.collective_permute': source_target_pairs must have shape [N, 2]: is [4]}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<0> : tensor<4xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @permute_sources(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.collective_permute': source_target_pairs must have unique sources: 0 is repeated}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @permute_targets(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.collective_permute': source_target_pairs must have unique targets: 2 is repeated}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 2], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @permute_negative(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.collective_permute': source_target_pairs must not have negative ids: has -1}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @permute_huge(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.collective_permute': source_target_pairs must have at most 1048576 pairs: has 1099511627776}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<0> : tensor<1099511627776x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @permute_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.collective_permute': result types must agree with the inferred ones: inferred 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @sum_groups(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.cross-replica-sum': replica_groups must be unique: id 0 is repeated}}
  %0 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<0> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
