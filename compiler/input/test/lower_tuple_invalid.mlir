// RUN: alula-opt --split-input-file --verify-diagnostics --input-lower-tuple %s

func.func @main(%x: tensor<f32>) {
  %t = stablehlo.tuple %x : tuple<tensor<f32>>
  // expected-error@+1 {{'stablehlo.custom_call': tuples can't be taken apart here: has 'tuple<tensor<f32>>'}}
  stablehlo.custom_call @f(%t) : (tuple<tensor<f32>>) -> ()
  return
}

// -----

// expected-error@+1 {{'func.func': function must have one block: has 2}}
func.func @main(%x: tensor<f32>) {
  return
^bb1:
  return
}
