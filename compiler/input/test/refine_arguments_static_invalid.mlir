// RUN: alula-opt --verify-diagnostics "--input-refine-arguments=types=tensor<?xf32>" %s

// expected-error@+1 {{'func.func': static dimensions must stay static: argument 0 is 'tensor<2xf32>', asked for 'tensor<?xf32>'}}
func.func @main(%x: tensor<2xf32>) {
  return
}
