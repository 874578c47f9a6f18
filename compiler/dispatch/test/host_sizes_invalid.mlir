// RUN: alula-opt %s -split-input-file -dispatch-form-kernels -verify-diagnostics

// How many members a group has, only the run knows.
func.func @gathered(%a: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'stablehlo.all_gather': no native code: sizes of a result do not follow from the operands: result 0 is 'tensor<?xf32>'}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @assertion(%a: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.custom_call': shape assertion must have integers, no results and an error_message: has 1 operands, 0 results}}
  stablehlo.custom_call @shape_assertion(%a) {error_message = "no", has_side_effect = true} : (tensor<f32>) -> ()
  return
}
