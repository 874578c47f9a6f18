// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func private @f(tensor<f32>) -> tensor<f32>

func.func @name_0(%x: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.composite': name must be a namespaced op name: is "f"}}
  %0 = stablehlo.composite "f" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>

func.func @name_1(%x: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.composite': name must be a namespaced op name: is ""}}
  %0 = stablehlo.composite "" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>

func.func @name_2(%x: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.composite': name must be a namespaced op name: is ".f"}}
  %0 = stablehlo.composite ".f" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>

func.func @name_3(%x: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.composite': name must be a namespaced op name: is "a."}}
  %0 = stablehlo.composite "a." %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>

func.func @name_4(%x: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.composite': name must be a namespaced op name: is "a..b"}}
  %0 = stablehlo.composite "a..b" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>

func.func @name_5(%x: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.composite': name must be a namespaced op name: is "1a.f"}}
  %0 = stablehlo.composite "1a.f" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>

func.func @name_6(%x: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.composite': name must be a namespaced op name: is "a.f g"}}
  %0 = stablehlo.composite "a.f g" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>

func.func @name_7(%x: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.composite': name must be a namespaced op name: is "a$b.f"}}
  %0 = stablehlo.composite "a$b.f" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>

func.func @no_decomposition(%x: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.composite': decomposition must be a function: @g is not}}
  %0 = stablehlo.composite "a.f" %x {decomposition = @g} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

module @g {
}

func.func @decomposition_is_no_function(%x: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.composite': decomposition must be a function: @g is not}}
  %0 = stablehlo.composite "a.f" %x {decomposition = @g} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f() -> tensor<f32>

func.func @operand_count(%x: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.composite': number of operands must be that of the decomposition: 1 and 0}}
  %0 = stablehlo.composite "a.f" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f64>) -> tensor<f32>

func.func @operand_type(%x: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.composite': types of operands must be those of the decomposition: operand 0 is 'tensor<f32>', decomposition has 'tensor<f64>'}}
  %0 = stablehlo.composite "a.f" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>)

func.func @result_count(%x: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.composite': number of results must be that of the decomposition: 1 and 0}}
  %0 = stablehlo.composite "a.f" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f64>

func.func @result_type(%x: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.composite': types of results must be those of the decomposition: result 0 is 'tensor<f32>', decomposition has 'tensor<f64>'}}
  %0 = stablehlo.composite "a.f" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}
