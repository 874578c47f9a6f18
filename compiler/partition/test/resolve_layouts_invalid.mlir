// RUN: alula-opt --split-input-file --verify-diagnostics --partition-resolve-layouts %s

// expected-error @+1 {{'func.func': argument #1: the layout "{0,2}" of 'tensor<2x2xf32>' does not order the 2 dimensions}}
func.func @main(%x: tensor<f32> {mhlo.layout_mode = "{}"},
                %y: tensor<2x2xf32> {mhlo.layout_mode = "{0,2}"}) {
  return
}

// -----

// expected-error @+1 {{'func.func': result #0: the layout "{1,0:T(8,128)}" of 'tensor<2x2xf32>' has tiles, which are not implemented}}
func.func @main(%x: tensor<2x2xf32>)
    -> (tensor<2x2xf32> {mhlo.layout_mode = "{1,0:T(8,128)}"}) {
  return %x : tensor<2x2xf32>
}

// -----

// expected-error @+1 {{'func.func': argument #0: the layout "{0:E(4)}" of 'tensor<2xi8>' has elements of 4 bits}}
func.func @main(%x: tensor<2xi8> {mhlo.layout_mode = "{0:E(4)}"}) {
  return
}

// -----

// expected-error @+1 {{'func.func': argument #0: the layout "{0:D(C)}" of 'tensor<2xi8>' has 'D', which is not implemented}}
func.func @main(%x: tensor<2xi8> {mhlo.layout_mode = "{0:D(C)}"}) {
  return
}

// -----

// expected-error @+1 {{'func.func': argument #0: the layout "columns" of 'tensor<2xi8>' is not 'default', 'auto' or a list of dimensions in braces}}
func.func @main(%x: tensor<2xi8> {mhlo.layout_mode = "columns"}) {
  return
}
