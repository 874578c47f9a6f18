// RUN: alula-opt %s --input-lower-sparse --split-input-file --verify-diagnostics

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>

// One has no zeros where zeros are.
func.func @function(%a: tensor<9xf32, #SV>) -> tensor<9xf32, #SV> {
  // expected-error-re @+1 {{'stablehlo.cosine': sparse tensors go with add, subtract, multiply, dot, dot_general, reduce, reshape, broadcast_in_dim, concatenate, transpose, convert and functions of one value that keep zero only: operand 0 is 'tensor<9xf32, {{.*}}>'}}
  %0 = stablehlo.cosine %a : tensor<9xf32, #SV>
  return %0 : tensor<9xf32, #SV>
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>

func.func @made() -> tensor<9xf32, #SV> {
  // expected-error-re @+1 {{value that keep zero only: result 0 is 'tensor<9xf32, {{.*}}>'}}
  %0 = stablehlo.custom_call @f() : () -> tensor<9xf32, #SV>
  return %0 : tensor<9xf32, #SV>
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>

// expected-error-re @+1 {{'func.func': sizes of sparse arguments must be known: argument 0 is 'tensor<?xf32, {{.*}}>'}}
func.func @size(%a: tensor<?xf32, #SV>) -> tensor<?xf32> {
  %0 = stablehlo.convert %a : (tensor<?xf32, #SV>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>

// expected-error-re @+1 {{'func.func': sizes of sparse tensors must not be zero: has 'tensor<0xf32, {{.*}}>'}}
func.func @none(%a: tensor<0xf32, #SV>) -> tensor<0xf32> {
  %0 = stablehlo.convert %a : (tensor<0xf32, #SV>) -> tensor<0xf32>
  return %0 : tensor<0xf32>
}

// -----

#LOOSE = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : loose_compressed) }>

// expected-error-re @+1 {{'func.func': levels of sparse tensors must be dense, compressed or singleton: level 1 of 'tensor<4x4xf32, {{.*}}>' is loose_compressed}}
func.func @level(%a: tensor<4x4xf32, #LOOSE>) -> tensor<4x4xf32> {
  %0 = stablehlo.convert %a : (tensor<4x4xf32, #LOOSE>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

#TWO = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4]) }>

// expected-error-re @+1 {{level 2 of 'tensor<4x8xf32, {{.*}}>' is structured}}
func.func @two_of_four(%a: tensor<4x8xf32, #TWO>) -> tensor<4x8xf32> {
  %0 = stablehlo.convert %a : (tensor<4x8xf32, #TWO>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

#SLICE = #sparse_tensor.encoding<{ map = (i : #sparse_tensor<slice(0, 4, 1)>) -> (i : compressed) }>

// expected-error-re @+1 {{'func.func': sparse tensors must be whole and without values of their own: has 'tensor<4xf32, {{.*}}>'}}
func.func @slice(%a: tensor<4xf32, #SLICE>) -> tensor<4xf32> {
  %0 = stablehlo.convert %a : (tensor<4xf32, #SLICE>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#BLOCKS = #sparse_tensor.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense) }>

func.func @blocks(%a: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // expected-error-re @+1 {{'stablehlo.convert': sizes of sparse tensors in blocks must be known: has 'tensor<?x6xf32, {{.*}}>'}}
  %0 = stablehlo.convert %a : (tensor<?x6xf32>) -> tensor<?x6xf32, #BLOCKS>
  %1 = stablehlo.convert %0 : (tensor<?x6xf32, #BLOCKS>) -> tensor<?x6xf32>
  return %1 : tensor<?x6xf32>
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>

func.func @region(%a: tensor<9xf32, #SV>, %c: tensor<i1>) -> tensor<9xf32> {
  %0 = "stablehlo.if"(%c) ({
    // expected-error @+1 {{'stablehlo.convert': sparse tensors must not be inside of regions}}
    %1 = stablehlo.convert %a : (tensor<9xf32, #SV>) -> tensor<9xf32>
    stablehlo.return %1 : tensor<9xf32>
  }, {
    %1 = stablehlo.constant dense<0.0> : tensor<9xf32>
    stablehlo.return %1 : tensor<9xf32>
  }) : (tensor<i1>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>

// expected-error @+1 {{'func.func': functions with sparse tensors must have a body: @far}}
func.func private @far(%a: tensor<9xf32, #SV>) -> tensor<9xf32>

// -----

#SINGLE = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : singleton) }>

// expected-error-re @+1 {{'func.func': a singleton level must be below one that is nonunique: level 1 of 'tensor<4x8xf32, {{.*}}>'}}
func.func @single(%a: tensor<4x8xf32, #SINGLE>) -> tensor<4x8xf32> {
  %0 = stablehlo.convert %a : (tensor<4x8xf32, #SINGLE>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>

// expected-error-re @+1 {{'func.func': elements of sparse tensors must be numbers: has 'tensor<4x!quant.uniform<i8:f32, 5.000000e-01>, {{.*}}>'}}
func.func @quantized(%a: tensor<4x!quant.uniform<i8:f32, 0.5>, #SV>) -> tensor<4xf32> {
  %0 = stablehlo.uniform_dequantize %a : (tensor<4x!quant.uniform<i8:f32, 0.5>, #SV>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
