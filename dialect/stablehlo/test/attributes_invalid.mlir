// RUN: alula-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected one of offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims, start_index_map, index_vector_dim}}
func.func private @unknown_entry() attributes {a = #stablehlo.gather<offset = [0]>}

// -----

// expected-error@+1 {{lhs_batching_dimensions is given twice}}
func.func private @entry_twice() attributes {a = #stablehlo.dot<lhs_batching_dimensions = [0], lhs_batching_dimensions = [1]>}

// -----

// expected-error@+1 {{unknown attribute of dialect stablehlo: nothing}}
func.func private @unknown_attribute() attributes {a = #stablehlo.nothing<1>}

// -----

// expected-error@+1 {{o is missing}}
func.func private @conv_missing() attributes {a = #stablehlo.conv<[b, f]x[i]->[b, f]>}

// -----

// expected-error@+1 {{expected a number, b or f: got i}}
func.func private @conv_letter() attributes {a = #stablehlo.conv<[b, i]x[i, o]->[b, f]>}

// -----

// expected-error@+1 {{b is given twice}}
func.func private @conv_letter_twice() attributes {a = #stablehlo.conv<[b, b]x[i, o]->[b, f]>}

// -----

// expected-error@+1 {{spatial dimension 0 is missing}}
func.func private @conv_spatial() attributes {a = #stablehlo.conv<[b, 1, f]x[0, i, o]->[b, 0, f]>}

// -----

// expected-error@+1 {{spatial dimensions must be unique and not negative: got 0}}
func.func private @conv_spatial_twice() attributes {a = #stablehlo.conv<[b, 0, 0, f]x[0, i, o]->[b, 0, f]>}

// -----

// expected-error@+1 {{'stablehlo.dot_algorithm': lhs_component_count must be positive: got 0}}
func.func private @components() attributes {a = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 0, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}

// -----

// expected-error@+1 {{'stablehlo.dot_algorithm': num_primitive_operations must be positive: got -1}}
func.func private @primitives() attributes {a = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = -1, allow_imprecise_accumulation = false>}

// -----

// expected-error@+1 {{'stablehlo.dot_algorithm': no hardware is known to have this algorithm: 'f32' x 'f32' -> 'f32', components 1 and 1, primitive operations 1, imprecise accumulation allowed}}
func.func private @imprecise() attributes {a = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = true>}

// -----

// expected-error@+1 {{'stablehlo.bounds': needs a bound or ? for each dimension: 1 for rank 2}}
func.func private @bounds_rank(%a: tensor<?x?xf32, #stablehlo.bounds<4>>)

// -----

// expected-error@+1 {{'stablehlo.bounds': only dynamic dimensions have bounds: dimension 0 has size 3 and bound 3}}
func.func private @bounds_static(%a: tensor<3xf32, #stablehlo.bounds<3>>)

// -----

// expected-error@+1 {{a bound must not be negative: got -1}}
func.func private @bounds_negative(%a: tensor<?xf32, #stablehlo.bounds<-1>>)

// -----

// expected-error@+1 {{'stablehlo.result_accuracy': tolerances must not be negative or NaN: atol -1.000000e+00, rtol 0.000000e+00, ulps 0}}
func.func private @accuracy_negative() attributes {a = #stablehlo.result_accuracy<atol = -1.0, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}

// -----

// expected-error@+1 {{'stablehlo.result_accuracy': only mode TOLERANCE has tolerances: atol 0.000000e+00, rtol 0.000000e+00, ulps 2}}
func.func private @accuracy_mode() attributes {a = #stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<HIGHEST>>}

// -----

// expected-error@+1 {{'stablehlo.replica_group_mesh_axes': mesh must be a symbol or a #stablehlo.mesh: got 1 : i64}}
func.func private @mesh() attributes {a = #stablehlo.replica_group_mesh_axes<mesh = 1, axes = []>}

// -----

// expected-error@+1 {{'stablehlo.replica_group_mesh_axes': axes must be #stablehlo.axis_ref: axis 0 is 1 : i64}}
func.func private @mesh_axis() attributes {a = #stablehlo.replica_group_mesh_axes<mesh = @m, axes = [1]>}

// -----

// expected-error@+1 {{'stablehlo.replica_group_mesh_axes': the mesh must have each axis: it has no axis y}}
func.func private @mesh_has_axis() attributes {a = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", size = 2>]>, axes = [#stablehlo.axis_ref<name = "y">]>}

// -----

// expected-error@+1 {{'stablehlo.future': holds ranked tensors only: got 'f32'}}
func.func private @future(%a: !stablehlo.future<f32>)
