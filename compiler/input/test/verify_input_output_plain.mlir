// RUN: alula-opt --split-input-file --verify-diagnostics --input-verify-input-output=plain-types=true %s
// RUN: alula-opt --split-input-file --input-verify-input-output %s

// expected-error@+1 {{'func.func': quantized types must be lowered: has 'tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>'}}
func.func @main(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  return
}

// -----

func.func @fine(%x: tensor<4xi8>) {
  return
}
