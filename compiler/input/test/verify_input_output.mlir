// RUN: alula-opt --split-input-file --verify-diagnostics --input-verify-input-output=keep=my.kept %s

func.func @fine(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.composite "my.kept" %x {decomposition = @f}
      : (tensor<4xf32>) -> tensor<4xf32>
  %1 = chlo.erf %0 : tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'chlo.sinh': chlo ops must be converted: has one}}
  %0 = chlo.sinh %x : tensor<4xf32> -> tensor<4xf32>
  // expected-error@+1 {{'stablehlo.composite': composites must be lowered: my.other is not}}
  %1 = stablehlo.composite "my.other" %x {decomposition = @f}
      : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'stablehlo.dot': deprecated ops must be lowered: has one}}
  %2 = stablehlo.dot %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  // expected-error@+1 {{'stablehlo.tuple': tuples must be taken apart: has 'tuple<tensor<4xf32>>'}}
  %3 = stablehlo.tuple %x : tuple<tensor<4xf32>>
  return %0 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func': shapes must be static: has 'tensor<?xf32>'}}
func.func @main(%x: tensor<?xf32>) {
  return
}

// -----

// expected-error@+1 {{'func.func': shapes must have a rank: has 'tensor<*xf32>'}}
func.func @main(%x: tensor<*xf32>) {
  return
}
