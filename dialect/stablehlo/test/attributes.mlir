// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s | alula-opt | FileCheck %s

func.func private @dimension_numbers() attributes {
  // CHECK-DAG: gather = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
  gather = #stablehlo.gather<index_vector_dim = 1, offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_index_map = [0]>,
  // CHECK-DAG: scatter = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [2], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0]>
  scatter = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [2], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>,
  // CHECK-DAG: dot = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>
  dot = #stablehlo.dot<rhs_contracting_dimensions = [0], lhs_contracting_dimensions = [1]>,
  // CHECK-DAG: conv = #stablehlo.conv<[b, 1, 0, f]x[0, 1, i, o]->[f, b, 0, 1]>
  conv = #stablehlo.conv<[b, 1, 0, f]x[0, 1, i, o]->[f, b, 0, 1]>,
  // CHECK-DAG: raw = #stablehlo.conv<raw input_feature_dimension = 7, kernel_output_feature_dimension = 1, output_feature_dimension = 1>
  raw = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 7, kernel_output_feature_dimension = 1, output_feature_dimension = 1>,
  // CHECK-DAG: alias = #stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = []>
  alias = #stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = []>,
  // CHECK-DAG: channel = #stablehlo.channel_handle<handle = 5, type = 2>
  channel = #stablehlo.channel_handle<handle = 5, type = 2>
}

func.func private @algorithms() attributes {
  // CHECK-DAG: bf16_6x = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 3, rhs_component_count = 3, num_primitive_operations = 6, allow_imprecise_accumulation = false>
  bf16_6x = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 3, rhs_component_count = 3, num_primitive_operations = 6, allow_imprecise_accumulation = false>,
  // CHECK-DAG: fast_f8 = #stablehlo.dot_algorithm<lhs_precision_type = f8E5M2, rhs_precision_type = f8E3M4, accumulation_type = f32,
  fast_f8 = #stablehlo.dot_algorithm<lhs_precision_type = f8E5M2, rhs_precision_type = f8E3M4, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = true>,
  // CHECK-DAG: tf32 = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32,
  tf32 = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false>
}

func.func private @accuracy() attributes {
  // CHECK-DAG: all = #stablehlo.result_accuracy<atol = 1.000000e-05, rtol = 1.000000e-04, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>
  all = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 1.0e-4, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>,
  // CHECK-DAG: highest = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>
  highest = #stablehlo.result_accuracy<atol = 0.0, rtol = 0.0, ulps = 0, mode = #stablehlo.result_accuracy_mode<HIGHEST>>
}

func.func private @meshes() attributes {
  // CHECK: groups = #stablehlo.replica_group_mesh_axes<mesh = @m, axes = [#stablehlo.axis_ref<name = "x">, #stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>
  groups = #stablehlo.replica_group_mesh_axes<mesh = @m, axes = [#stablehlo.axis_ref<name = "x">, #stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>
}

// CHECK: func private @bounds(tensor<?x?xf32, #stablehlo.bounds<4, ?>>, tensor<?xf32, #stablehlo.bounds<3>>)
func.func private @bounds(tensor<?x?xf32, #stablehlo.bounds<4, ?>>, tensor<?xf32, #stablehlo.type_extensions<bounds = [3]>>)

// CHECK: func private @futures(!stablehlo.future<tensor<f32>, tensor<2xi32>>)
func.func private @futures(!stablehlo.future<tensor<f32>, tensor<2xi32>>)
