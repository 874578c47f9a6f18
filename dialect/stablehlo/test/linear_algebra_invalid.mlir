// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @fft_no_length(%x: tensor<9xcomplex<f32>>) {
  // expected-error@+1 {{'stablehlo.fft': fft_length must have 1 to 3 entries: has 0}}
  %0 = stablehlo.fft %x, type = FFT, length = [] : (tensor<9xcomplex<f32>>) -> tensor<9xcomplex<f32>>
  return
}

// -----

func.func @fft_four_lengths(%x: tensor<2x2x2x2xcomplex<f32>>) {
  // expected-error@+1 {{'stablehlo.fft': fft_length must have 1 to 3 entries: has 4}}
  %0 = stablehlo.fft %x, type = FFT, length = [2, 2, 2, 2] : (tensor<2x2x2x2xcomplex<f32>>) -> tensor<2x2x2x2xcomplex<f32>>
  return
}

// -----

func.func @fft_more_lengths_than_dims(%x: tensor<9xcomplex<f32>>) {
  // expected-error@+1 {{'stablehlo.fft': fft_length must have at most one entry for each dimension of the operand: has 2, operand is 'tensor<9xcomplex<f32>>'}}
  %0 = stablehlo.fft %x, type = FFT, length = [9, 9] : (tensor<9xcomplex<f32>>) -> tensor<9xcomplex<f32>>
  return
}

// -----

func.func @fft_negative_length(%x: tensor<9xcomplex<f32>>) {
  // expected-error@+1 {{'stablehlo.fft': fft_length must not be negative: is [-9]}}
  %0 = stablehlo.fft %x, type = FFT, length = [-9] : (tensor<9xcomplex<f32>>) -> tensor<9xcomplex<f32>>
  return
}

// -----

func.func @fft_of_real(%x: tensor<9xf32>) {
  // expected-error@+1 {{'stablehlo.fft': FFT must have a complex operand: is 'f32'}}
  %0 = stablehlo.fft %x, type = FFT, length = [9] : (tensor<9xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @irfft_of_real(%x: tensor<9xf32>) {
  // expected-error@+1 {{'stablehlo.fft': IRFFT must have a complex operand: is 'f32'}}
  %0 = stablehlo.fft %x, type = IRFFT, length = [16] : (tensor<9xf32>) -> tensor<16xf32>
  return
}

// -----

func.func @rfft_of_complex(%x: tensor<9xcomplex<f32>>) {
  // expected-error@+1 {{'stablehlo.fft': RFFT must have an operand of f32 or f64: is 'complex<f32>'}}
  %0 = stablehlo.fft %x, type = RFFT, length = [9] : (tensor<9xcomplex<f32>>) -> tensor<5xcomplex<f32>>
  return
}

// -----

func.func @rfft_length(%x: tensor<3x9xf32>) {
  // expected-error@+1 {{'stablehlo.fft': last dimensions of the operand must be [8]: operand is 'tensor<3x9xf32>'}}
  %0 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<3x9xf32>) -> tensor<3x5xcomplex<f32>>
  return
}

// -----

func.func @irfft_length(%x: tensor<3x8xcomplex<f32>>) {
  // expected-error@+1 {{'stablehlo.fft': last dimensions of the operand must be [9]: operand is 'tensor<3x8xcomplex<f32>>'}}
  %0 = stablehlo.fft %x, type = IRFFT, length = [16] : (tensor<3x8xcomplex<f32>>) -> tensor<3x16xf32>
  return
}

// -----

func.func @rfft_result(%x: tensor<3x9xf32>) {
  // expected-error@+1 {{result types must agree with the inferred ones: inferred 'tensor<3x5xcomplex<f32>>', got 'tensor<3x9xcomplex<f32>>'}}
  %0 = stablehlo.fft %x, type = RFFT, length = [9] : (tensor<3x9xf32>) -> tensor<3x9xcomplex<f32>>
  return
}

// -----

func.func @cholesky_vector(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.cholesky': rank of a must be at least 2: a is 'tensor<4xf32>'}}
  %0 = stablehlo.cholesky %x, lower = true : tensor<4xf32>
  return
}

// -----

func.func @cholesky_not_square(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'stablehlo.cholesky': last two dimensions of a must be equal: a is 'tensor<2x3x4xf32>'}}
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x3x4xf32>
  return
}

// -----

func.func @solve_vector(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.triangular_solve': a and b must have one rank of at least 2: a is 'tensor<4xf32>', b is 'tensor<4xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @solve_ranks(%a: tensor<2x4x4xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{'stablehlo.triangular_solve': a and b must have one rank of at least 2: a is 'tensor<2x4x4xf32>', b is 'tensor<4x3xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @solve_not_square(%a: tensor<4x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{'stablehlo.triangular_solve': last two dimensions of a must be equal: a is 'tensor<4x3xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @solve_left_size(%a: tensor<4x4xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+1 {{'stablehlo.triangular_solve': size of a must be that of dim 0 of b: a is 'tensor<4x4xf32>', b is 'tensor<3x4xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @solve_right_size(%a: tensor<4x4xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{'stablehlo.triangular_solve': size of a must be that of dim 1 of b: a is 'tensor<4x4xf32>', b is 'tensor<4x3xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @solve_batches(%a: tensor<5x4x4xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error@+1 {{'stablehlo.triangular_solve': batch dimensions must be equal: a is 'tensor<5x4x4xf32>', b is 'tensor<6x4x3xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<5x4x4xf32>, tensor<6x4x3xf32>) -> tensor<6x4x3xf32>
  return
}

// -----

func.func @solve_transpose(%a: tensor<4x4xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{'stablehlo.triangular_solve': transpose_a must not be TRANSPOSE_INVALID: it is}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
