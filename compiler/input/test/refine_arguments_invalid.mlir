// RUN: alula-opt --split-input-file --verify-diagnostics "--input-refine-arguments=types=tensor<2xf32>,tensor<f32>" %s

// expected-error@+1 {{'func.func': needs a type for each argument: 2 types, 1 arguments}}
func.func @main(%x: tensor<?xf32>) {
  return
}

// -----

// expected-error@+1 {{'func.func': element types must be equal: argument 0 is 'tensor<?xi32>', asked for 'tensor<2xf32>'}}
func.func @main(%x: tensor<?xi32>, %y: tensor<f32>) {
  return
}

// -----

// expected-error@+1 {{'func.func': ranks must be equal: argument 0 is 'tensor<?x?xf32>', asked for 'tensor<2xf32>'}}
func.func @main(%x: tensor<?x?xf32>, %y: tensor<f32>) {
  return
}

// -----

// expected-error@+1 {{'func.func': static dimensions must be equal: argument 0 is 'tensor<3xf32>', asked for 'tensor<2xf32>'}}
func.func @main(%x: tensor<3xf32>, %y: tensor<f32>) {
  return
}

// -----

// expected-error@+1 {{'func.func': only tensors can be refined: argument 0 is '!stablehlo.token', asked for 'tensor<2xf32>'}}
func.func @main(%x: !stablehlo.token, %y: tensor<f32>) {
  return
}

// -----

// expected-error@+1 {{function to refine must exist: no function is named main}}
module {
  func.func @f() { return }
  func.func @g() { return }
}
