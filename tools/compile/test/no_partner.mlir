// RUN: not alula-compile %s -o %t.alula 2>&1 | FileCheck %s

// CHECK: 'stablehlo.infeed': no native code: a running program talks to nobody
// CHECK: 'stablehlo.outfeed': no native code: a running program talks to nobody
func.func @main(%token: !stablehlo.token) -> !stablehlo.token {
  %0:2 = "stablehlo.infeed"(%token) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  %1 = "stablehlo.outfeed"(%0#0, %0#1) <{outfeed_config = ""}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return %1 : !stablehlo.token
}
