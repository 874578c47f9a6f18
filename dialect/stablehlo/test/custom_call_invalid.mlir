// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @only_operand_layouts(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': layouts must be given for both operands and results or for none: are only for the operands}}
  %0 = stablehlo.custom_call @f(%x) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @only_result_layouts(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': layouts must be given for both operands and results or for none: are only for the results}}
  %0 = stablehlo.custom_call @f(%x) {result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @operand_layout_count(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': number of operand layouts must be that of operands: 1 operands, 0 layouts}}
  %0 = stablehlo.custom_call @f(%x) {operand_layouts = [], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @result_layout_count(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': number of result layouts must be that of results: 1 results, 0 layouts}}
  %0 = stablehlo.custom_call @f(%x) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = []} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @layout_no_permutation(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': layout must be a permutation of [0, 2): operand 0 is 'tensor<2x3xf32>', layout is dense<[0, 2]> : tensor<2xindex>}}
  %0 = stablehlo.custom_call @f(%x) {operand_layouts = [dense<[0, 2]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @layout_of_other_rank(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': layout must be a permutation of [0, 2): result 0 is 'tensor<2x3xf32>', layout is dense<[2, 1, 0]> : tensor<3xindex>}}
  %0 = stablehlo.custom_call @f(%x) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[2, 1, 0]> : tensor<3xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @layout_of_token(%x: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.custom_call': layout of what is no tensor must be empty: operand 0 is '!stablehlo.token', layout is dense<[0, 1]> : tensor<2xindex>}}
  %0 = stablehlo.custom_call @f(%x) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (!stablehlo.token) -> tensor<2x3xf32>
  return
}

// -----

func.func @layout_of_tuple(%x: tuple<tensor<2xf32>>) {
  // expected-error@+1 {{'stablehlo.custom_call': layouts must not be given for tuples: operand 0 is 'tuple<tensor<2xf32>>'}}
  %0 = stablehlo.custom_call @f(%x) {operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tuple<tensor<2xf32>>) -> tensor<2x3xf32>
  return
}

// -----

func.func @tiling_count(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': number of result_tilings must be that of results: 1 results, 2 tilings}}
  %0 = stablehlo.custom_call @f(%x) {result_tilings = [[dense<[8, 128]> : tensor<2xindex>], []]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @tiling_not_positive(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': sizes of a tile must be positive: tile is dense<[8, 0]> : tensor<2xindex>}}
  %0 = stablehlo.custom_call @f(%x) {result_tilings = [[dense<[8, 0]> : tensor<2xindex>]]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @tiling_huge(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': sizes of a tile must be positive: tile is dense<-1> : tensor<1000000000000xindex>}}
  %0 = stablehlo.custom_call @f(%x) {result_tilings = [[dense<-1> : tensor<1000000000000xindex>]]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @config_of_typed_ffi(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': backend_config must be a dictionary for API_VERSION_TYPED_FFI: is "a"}}
  %0 = stablehlo.custom_call @f(%x) {backend_config = "a", api_version = 4 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @config_of_original(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': backend_config must be a string for API_VERSION_ORIGINAL: is {a = 1 : i64}}}
  %0 = stablehlo.custom_call @f(%x) {backend_config = {a = 1 : i64}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @alias_operand(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': operand_index must be in range [0, 1): 1 is not}}
  %0 = stablehlo.custom_call @f(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @alias_output_part(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': output_tuple_indices must name a part of the results: #stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []> does not}}
  %0 = stablehlo.custom_call @f(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @alias_output_of_two(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': output_tuple_indices must name a part of the results: #stablehlo.output_operand_alias<output_tuple_indices = [2], operand_index = 0, operand_tuple_indices = []> does not}}
  %0:2 = stablehlo.custom_call @f(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [2], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return
}

// -----

func.func @alias_operand_part(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': operand_tuple_indices must name a part of the operand: #stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [0]> does not}}
  %0 = stablehlo.custom_call @f(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [0]>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @alias_types(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': aliased parts must have one type: operand part is 'tensor<2x3xf32>', output part is 'tensor<4xf32>'}}
  %0 = stablehlo.custom_call @f(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @buffer_operand_twice(%x: memref<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': buffer operand must be in one alias: operand 0 part [] is in two}}
  %0:2 = stablehlo.custom_call @f(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = []>]} : (memref<2xf32>) -> (memref<2xf32>, memref<2xf32>)
  return
}

// -----

func.func @buffer_output_unused(%x: memref<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': buffer output must be in one alias: part [1] is in none}}
  %0:2 = stablehlo.custom_call @f(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (memref<2xf32>) -> (memref<2xf32>, memref<2xf32>)
  return
}

// -----

func.func @buffer_output_twice(%x: memref<2xf32>, %y: memref<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': buffer output must be in one alias: part [] is in two}}
  %0 = stablehlo.custom_call @f(%x, %y) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (memref<2xf32>, memref<2xf32>) -> memref<2xf32>
  return
}

// -----

func.func @buffer_in_tuple_unused(%x: memref<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': buffer output must be in one alias: part [0, 0] is in none}}
  %0 = stablehlo.custom_call @f(%x) : (memref<2xf32>) -> tuple<tuple<memref<2xf32>>>
  return
}

// -----

func.func @create_with_operand(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': CreateBuffer must have no operands: has 1}}
  %0 = stablehlo.custom_call @CreateBuffer(%x) : (tensor<2xf32>) -> memref<2xf32>
  return
}

// -----

func.func @create_tensor() {
  // expected-error@+1 {{'stablehlo.custom_call': CreateBuffer must return a buffer: returns 'tensor<2xf32>'}}
  %0 = stablehlo.custom_call @CreateBuffer() : () -> tensor<2xf32>
  return
}

// -----

func.func @pin_two_results(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': Pin must have one result: has 0}}
  stablehlo.custom_call @Pin(%x) : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @pin_nothing() {
  // expected-error@+1 {{'stablehlo.custom_call': Pin must have one operand: has 0}}
  %0 = stablehlo.custom_call @Pin() : () -> memref<2xf32>
  return
}

// -----

func.func @pin_to_tensor(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': Pin must turn a tensor into a buffer of its type: 'tensor<2xf32>' to 'tensor<2xf32>'}}
  %0 = stablehlo.custom_call @Pin(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @unpin_other_shape(%x: memref<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': Unpin must turn a buffer into a tensor of its type: 'memref<2xf32>' to 'tensor<3xf32>'}}
  %0 = stablehlo.custom_call @Unpin(%x) : (memref<2xf32>) -> tensor<3xf32>
  return
}
