// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @feature_too_large(%x: tensor<2x3xf32>, %v: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.batch_norm_training': feature_index must be in range [0, 2): 2 is not}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %v, %v) <{epsilon = 0.001 : f32, feature_index = 2 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @feature_negative(%x: tensor<2x3xf32>, %v: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.batch_norm_training': feature_index must be in range [0, 2): -1 is not}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %v, %v) <{epsilon = 0.001 : f32, feature_index = -1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @size_differs(%x: tensor<2x3xf32>, %v: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.batch_norm_training': size of 1-dimensional operands must be the number of features: is 3, dim 0 of 'tensor<2x3xf32>' is 2}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %v, %v) <{epsilon = 0.001 : f32, feature_index = 0 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @vectors_differ(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.batch_norm_inference': 1-dimensional operands must have compatible shapes: are 'tensor<3xf32>', 'tensor<3xf32>', 'tensor<4xf32>', 'tensor<3xf32>'}}
  %0 = "stablehlo.batch_norm_inference"(%x, %v, %v, %w, %v) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @inference_size_differs(%x: tensor<2x3xf32>, %v: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.batch_norm_inference': size of 1-dimensional operands must be the number of features: is 3, dim 0 of 'tensor<2x3xf32>' is 2}}
  %0 = "stablehlo.batch_norm_inference"(%x, %v, %v, %v, %v) <{epsilon = 0.001 : f32, feature_index = 0 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @grad_shapes_differ(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %g: tensor<3x3xf32>) {
  // expected-error@+1 {{'stablehlo.batch_norm_grad': operands must have compatible shapes: are 'tensor<2x3xf32>', 'tensor<3x3xf32>'}}
  %0:3 = "stablehlo.batch_norm_grad"(%x, %v, %v, %v, %g) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @grad_wrong_result(%x: tensor<2x3xf32>, %v: tensor<3xf32>) {
  // expected-error@+1 {{result types must agree with the inferred ones: inferred 'tensor<2x3xf32>', 'tensor<3xf32>', 'tensor<3xf32>', got 'tensor<2x3xf32>', 'tensor<3xf32>', 'tensor<4xf32>'}}
  %0:3 = "stablehlo.batch_norm_grad"(%x, %v, %v, %v, %x) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<4xf32>)
  return
}

// -----

func.func @elements_differ(%x: tensor<2x3xf32>, %v: tensor<3xf64>) {
  // expected-error@+1 {{'stablehlo.batch_norm_training': element types must be compatible: operand 0 is 'tensor<2x3xf32>', operand 1 is 'tensor<3xf64>'}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %v, %v) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf64>, tensor<3xf64>) -> (tensor<2x3xf32>, tensor<3xf64>, tensor<3xf64>)
  return
}
