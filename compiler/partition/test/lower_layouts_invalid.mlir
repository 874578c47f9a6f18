// RUN: alula-opt --split-input-file --verify-diagnostics --partition-lower-layouts %s

// expected-error @+1 {{'func.func': 'tensor<?x2xf32, #stablehlo.bounds<4, ?>>' is asked for in the layout {0,1}: only arrays without bounds may have layouts}}
func.func @main(%x: tensor<?x2xf32, #stablehlo.bounds<4, ?>>
                    {mhlo.layout_mode = "{0,1}"}) {
  return
}

// -----

// expected-error @+1 {{'func.func': 'main' asks for layouts and is called}}
func.func @main(%x: tensor<2x2xf32> {mhlo.layout_mode = "{0,1}"}) {
  return
}
func.func @other(%x: tensor<2x2xf32>) {
  call @main(%x) : (tensor<2x2xf32>) -> ()
  return
}
