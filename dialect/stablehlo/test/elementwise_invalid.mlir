// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @shapes_differ(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'stablehlo.add': shapes must be compatible: operand 0 is 'tensor<2xf32>', operand 1 is 'tensor<3xf32>'}}
  %0 = "stablehlo.add"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @elements_differ(%a: tensor<2xf32>, %b: tensor<2xf64>) -> tensor<2xf32> {
  // expected-error@+1 {{'stablehlo.multiply': element types must be compatible: operand 0 is 'tensor<2xf32>', operand 1 is 'tensor<2xf64>'}}
  %0 = "stablehlo.multiply"(%a, %b) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @unsupported_element(%a: tensor<2xi3>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of}}
  %0 = "stablehlo.add"(%a, %a) : (tensor<2xi3>, tensor<2xi3>) -> tensor<2xi3>
  return
}

// -----

func.func @zero_point_out_of_storage(%a: tensor<2x!quant.uniform<i8:f32, 1.0:300>>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of}}
  %0 = stablehlo.add %a, %a : tensor<2x!quant.uniform<i8:f32, 1.0:300>>
  return
}

// -----

func.func @scale_out_of_expressed(%a: tensor<2x!quant.uniform<i4:f16, 1.0e5>>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of}}
  %0 = stablehlo.add %a, %a : tensor<2x!quant.uniform<i4:f16, 1.0e5>>
  return
}

// -----

func.func @add_per_axis_result(%a: tensor<2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{'stablehlo.add': result must be quantized per axis if and only if an operand is}}
  %0 = "stablehlo.add"(%a, %a) : (tensor<2x!quant.uniform<i8:f32, 1.0>>, tensor<2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

func.func @add_axes_differ(%a: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{'stablehlo.add': quantization dimensions must be equal}}
  %0 = "stablehlo.add"(%a, %a) : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

// -----

func.func @abs_of_complex(%a: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{'stablehlo.abs': result types must agree with the inferred ones: inferred 'tensor<2xf32>', got 'tensor<2xf64>'}}
  %0 = "stablehlo.abs"(%a) : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}

// -----

func.func @real_of_complex(%a: tensor<2xcomplex<f64>>) {
  // expected-error@+1 {{'stablehlo.real': result types must agree with the inferred ones: inferred 'tensor<2xf64>', got 'tensor<2xf32>'}}
  %0 = "stablehlo.real"(%a) : (tensor<2xcomplex<f64>>) -> tensor<2xf32>
  return
}

// -----

func.func @complex_of_parts(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.complex': result types must agree with the inferred ones: inferred 'tensor<2xcomplex<f32>>', got 'tensor<2xcomplex<f64>>'}}
  %0 = "stablehlo.complex"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f64>>
  return
}

// -----

func.func @convert_shape(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.convert': shapes must be compatible: operand 0 is 'tensor<2xf32>', result 0 is 'tensor<3xi32>'}}
  %0 = "stablehlo.convert"(%a) : (tensor<2xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @exceeds_bound(%a: tensor<?xf32, #stablehlo.bounds<3>>, %b: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.add': shapes must be compatible}}
  %0 = "stablehlo.add"(%a, %b) : (tensor<?xf32, #stablehlo.bounds<3>>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @total_order_of_complex(%a: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{'stablehlo.compare': compare_type TOTALORDER needs real numbers: operands are 'tensor<2xcomplex<f32>>'}}
  %0 = stablehlo.compare EQ, %a, %a, TOTALORDER : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  return
}

// -----

func.func @no_exponent(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_precision': exponent_bits must be positive: is 0}}
  %0 = stablehlo.reduce_precision %a, format = e0m3 : tensor<2xf32>
  return
}

// -----

func.func @negative_mantissa(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_precision': mantissa_bits must not be negative: is -1}}
  %0 = "stablehlo.reduce_precision"(%a) {exponent_bits = 3 : i32, mantissa_bits = -1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @clamp_min(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.clamp': min must be a scalar or have the operand's shape: min is 'tensor<3xf32>', operand is 'tensor<2xf32>'}}
  %0 = "stablehlo.clamp"(%b, %a, %a) : (tensor<3xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @clamp_max(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.clamp': max must be a scalar or have the operand's shape: max is 'tensor<3xf32>', operand is 'tensor<2xf32>'}}
  %0 = "stablehlo.clamp"(%a, %a, %b) : (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @select_branches(%p: tensor<i1>, %a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.select': on_true and on_false must have compatible types: on_true is 'tensor<2xf32>', on_false is 'tensor<3xf32>'}}
  %0 = "stablehlo.select"(%p, %a, %b) : (tensor<i1>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @select_pred(%p: tensor<3xi1>, %a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.select': pred must be a scalar or have the shape of on_true: pred is 'tensor<3xi1>', on_true is 'tensor<2xf32>'}}
  %0 = stablehlo.select %p, %a, %a : tensor<3xi1>, tensor<2xf32>
  return
}
